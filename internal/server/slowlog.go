package server

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/resp"
)

// slowLog keeps the newest commands that took long.
//
// Commands of a batch share two readings of the clock, which alone cost as much
// as a short command. Those that may take long by their nature, whose cost is
// not constant or logarithmic by the command table, are timed by themselves. A
// run of short ones that together takes as long as an entry of the log makes
// the worker time every command of its next batches, so that what goes on being
// slow is found; so does a threshold below [fineMicros].
type slowLog struct {
	mu      sync.Mutex
	entries []slowEntry // the newest last; guarded by mu
	next    int64       // id; guarded by mu
}

type slowEntry struct {
	id      int64
	seconds int64 // unix time
	micros  int64
	args    [][]byte
	client  string
	name    string
}

const (
	// fineMicros is the threshold, in microseconds, below which every command is
	// timed by itself.
	fineMicros = 1000
	// waryBatches is for how many batches every command is timed after a slow one.
	waryBatches = 1000

	slowArgsMax = 32  // arguments of an entry
	slowArgMax  = 128 // bytes of an argument
)

// add notes a command; what it keeps of the arguments is copied.
func (l *slowLog) add(limit int64, now session.Instant, micros int64, s *session.Session, args [][]byte) {
	e := slowEntry{seconds: now.Wall / 1e6, micros: micros, client: s.Remote(), name: s.Name()}
	for i, arg := range args {
		if i == slowArgsMax-1 && len(args) > slowArgsMax {
			e.args = append(e.args, fmt.Appendf(nil, "... (%d more arguments)", len(args)-i))
			break
		}
		if len(arg) > slowArgMax {
			e.args = append(e.args, fmt.Appendf(bytes.Clone(arg[:slowArgMax]), "... (%d more bytes)", len(arg)-slowArgMax))
		} else {
			e.args = append(e.args, bytes.Clone(arg))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e.id = l.next
	l.next++
	l.entries = append(l.entries, e)
	if over := int64(len(l.entries)) - limit; over > 0 {
		l.entries = append(l.entries[:0], l.entries[over:]...)
	}
}

func slowlogGet(w *Worker, s *session.Session, args [][]byte) {
	count := int64(10)
	if len(args) > 3 {
		s.W.Error(reply.UnknownSubcommandOrArgs("SLOWLOG", args[1]))
		return
	}
	if len(args) == 3 {
		n, ok := resp.ParseInt(args[2])
		if !ok || n < -1 {
			s.W.Error(reply.SlowlogCount)
			return
		}
		count = n
	}
	l := &w.srv.slow
	l.mu.Lock()
	defer l.mu.Unlock()
	if count < 0 || count > int64(len(l.entries)) {
		count = int64(len(l.entries))
	}
	s.W.Array(int(count))
	for i := range int(count) {
		e := &l.entries[len(l.entries)-1-i]
		s.W.Array(6)
		s.W.Int(e.id)
		s.W.Int(e.seconds)
		s.W.Int(e.micros)
		s.W.Array(len(e.args))
		for _, a := range e.args {
			s.W.Bulk(a)
		}
		s.W.BulkString(e.client)
		s.W.BulkString(e.name)
	}
}

func slowlogLen(w *Worker, s *session.Session, _ [][]byte) { s.W.Int(int64(w.srv.slow.len())) }

func (l *slowLog) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

func slowlogReset(w *Worker, s *session.Session, _ [][]byte) {
	l := &w.srv.slow
	l.mu.Lock()
	l.entries = nil
	l.mu.Unlock()
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
