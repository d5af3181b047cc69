package server

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
)

// Commands of a batch share two readings of the clock, which alone cost as much
// as a short command. Those that may take long by their nature, whose cost is
// not constant or logarithmic by the command table, are timed by themselves. A
// run of short ones that together takes as long as an entry of the slow log makes
// the worker time every command of its next batches, so that what goes on being
// slow is found; so does a threshold below [fineMicros].
const (
	// fineMicros is the threshold, in microseconds, below which every command is
	// timed by itself.
	fineMicros = 1000
	// waryBatches is for how many batches every command is timed after a slow one.
	waryBatches = 1000
)

func slowlogGet(w *Worker, s *session.Session, args [][]byte) {
	count := int64(10)
	if len(args) > 3 {
		s.W.Error(reply.UnknownSubcommandOrArgs("SLOWLOG", args[1]))
		return
	}
	if len(args) == 3 {
		var ok bool
		if count, ok = logCount(s, args[2]); !ok {
			return
		}
	}
	w.srv.slow.write(s, count)
}

func slowlogLen(w *Worker, s *session.Session, _ [][]byte) { s.W.Int(int64(w.srv.slow.len())) }

func slowlogReset(w *Worker, s *session.Session, _ [][]byte) {
	w.srv.slow.reset()
	s.W.OK()
}

func slowlogHelp(_ *Worker, s *session.Session, _ [][]byte) {
	writeHelp(s, "SLOWLOG", []string{
		"GET [<count>]", "Return the newest entries (10; -1: all): id, unix time, microseconds, arguments, address and name of the client.",
		"LEN", "Return the number of entries.",
		"RESET", "Forget all entries.",
	})
}

// lap is a run of commands of a batch that are timed together.
type lap struct {
	from  int   // the first of them in the batch
	began int64 // Instant.Mono
	fine  bool  // every command of the batch is timed by itself
}

// beginLaps starts to time a batch.
func (w *Worker) beginLaps(b *session.Batch) {
	slower := w.srv.cfg.Int(config.SlowlogLogSlowerThan)
	fine := slower >= 0 && slower < fineMicros || w.wary > 0
	if w.wary > 0 {
		w.wary--
	}
	w.lap = lap{began: b.Now.Mono, fine: fine}
	w.largeRequest, w.largeReply = largeFrom(w.srv.cfg.Int(config.CommandlogRequestLarger)), largeFrom(w.srv.cfg.Int(config.CommandlogReplyLarger))
}

// timedAlone says whether the own time of a command of so many arguments is taken.
func (w *Worker) timedAlone(spec *command.Spec, arguments int) bool {
	if spec == nil {
		return false
	}
	r := &w.srv.routes[spec.ID]
	return w.lap.fine || !r.short && !(r.perArgument && arguments <= fewArguments)
}

// fewArguments is up to how many arguments a command is short that does a little
// for each of them.
const fewArguments = 32

// worksByArgument are commands that do a little for each of their arguments, and
// nothing else.
var worksByArgument = []command.ID{
	command.IDDel, command.IDExists, command.IDHdel, command.IDHmget, command.IDHmset, command.IDHset, command.IDLpush, command.IDLpushx,
	command.IDMget, command.IDMset, command.IDMsetnx, command.IDRpush, command.IDRpushx, command.IDSadd, command.IDSmismember, command.IDSrem,
	command.IDTouch, command.IDUnlink, command.IDZadd, command.IDZmscore, command.IDZrem,
}

// endLap reads the clock, and counts the time since the lap began for its
// commands, those before the one with index to.
func (w *Worker) endLap(s *session.Session, b *session.Batch, to int) {
	from := w.lap.from
	now := w.srv.now()
	nanos := max(0, now.Mono-w.lap.began)
	w.count(from, to, nanos)
	w.now, w.ctx.Now, w.ctx.NowMicros = now, now.Millis(), now.Wall
	w.lap.from, w.lap.began = to, now.Mono
	if nanos < fineMicros*1000 && !w.lap.fine && (to-from > 1 || !w.timedAlone(b.Commands[from].Spec, len(b.Commands[from].Args))) {
		return // too short for the slow log and the latency monitor
	}
	if to-from > 1 {
		if w.isSlow(nanos) {
			w.wary = waryBatches
		}
		return
	}
	if w.outcomes[from] == executed {
		w.noteTime(s, w.specs[from], b.Commands[from].Args, nanos)
	}
}

// isSlow says whether a duration is one for the slow log or the latency monitor.
func (w *Worker) isSlow(nanos int64) bool {
	slower, spike := w.srv.cfg.Int(config.SlowlogLogSlowerThan), w.srv.cfg.Int(config.LatencyMonitorThreshold)
	return slower >= 0 && nanos/1000 >= slower || spike > 0 && nanos/1e6 >= spike
}

// noteTime sees to what follows from the time that a command took.
func (w *Worker) noteTime(s *session.Session, spec *command.Spec, args [][]byte, nanos int64) {
	if !w.isSlow(nanos) {
		return
	}
	if slower := w.srv.cfg.Int(config.SlowlogLogSlowerThan); slower >= 0 && nanos/1000 >= slower && spec.Flags&command.FlagSkipSlowlog == 0 {
		w.srv.slow.add(w.srv.cfg.Int(config.SlowlogMaxLen), w.now, nanos/1000, s, shownArguments(spec, args))
	}
	event := "command"
	if spec.Flags&command.FlagFast != 0 {
		event = "fast-command"
	}
	w.srv.NoteLatency(event, nanos)
}

var redacted = []byte("(redacted)")

// shownArguments replaces what is secret.
func shownArguments(spec *command.Spec, args [][]byte) [][]byte {
	switch spec.ID {
	case command.IDAuth, command.IDHello, command.IDConfigSet, command.IDAclSetuser, command.IDAclGetuser, command.IDAclDeluser:
	default:
		return args
	}
	shown := make([][]byte, len(args))
	for i := range args {
		if shown[i] = args[i]; secretArgument(spec, args, i) {
			shown[i] = redacted
		}
	}
	return shown
}
