package server

import (
	"bytes"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// Worker runs the batches of one goroutine at a time: it implements
// [session.Executor].
type Worker struct {
	srv   *Server
	ctx   engine.Ctx
	now   session.Instant
	refs  []command.KeyRef
	slots []slot.ID   // of the command's keys
	keys  []store.Key // the command's keys
	stats workerStats

	warmKeys []store.Key // of the batch, see warm
	warmNext int
	members  [][]byte // of the commands with warmKeys; nil: none

	current *session.Session // whose batch runs; nil: none
	inExec  bool             // a transaction runs, and holds locks
	muted   bool             // EXEC has dropped what its client does not want
	after   []func()         // what to do at its end
	// execWaits: EXEC found its keys paused, and is to be run later.
	execWaits bool
	invalid   invalidations
	ready     []queueKey // changed keys that somebody waits for
	later     []queueKey // those whose waiters need other locks
	answers   []served
	lap       lap

	// For records that are applied.
	decoder       shard.EffectDecoder
	effects       []applied
	effectReplies resp.Writer

	wary int // for so many batches every command is timed by itself

	largeRequest, largeReply int // bytes from which a command enters a log

	// What became of the commands of the batch.
	specs    [session.BatchMax]*command.Spec
	outcomes [session.BatchMax]outcome
	failed   [session.BatchMax]bool
}

// NewExecutor makes a worker, for a driver.
func (srv *Server) NewExecutor() session.Executor {
	w := srv.newWorker()
	srv.mu.Lock()
	srv.workers = append(srv.workers, w)
	srv.mu.Unlock()
	return w
}

// newWorker makes a worker whose statistics count nowhere.
func (srv *Server) newWorker() *Worker {
	w := &Worker{srv: srv}
	w.ctx.Tx = srv.space.NewTxFor(&workerHooks{w})
	w.ctx.Config = srv.cfg
	w.ctx.ReadsAnyKey = w.readsAnyKey
	w.ctx.Clustered = func() bool { return srv.cluster.Load() != nil }
	return w
}

// Execute implements [session.Executor].
func (w *Worker) Execute(s *session.Session, b *session.Batch) int {
	w.now, w.current = b.Now, s
	w.ctx.W = &s.W
	w.ctx.Now, w.ctx.NowMicros = b.Now.Millis(), b.Now.Wall
	w.warmKeys = w.warmKeys[:0]
	if len(b.Commands) > 1 && w.srv.space.Large() {
		w.warm(s, b.Commands)
	}
	ran := 0
	w.beginLaps(b)
	for i := range b.Commands {
		alone := len(b.Commands) > 1 && w.timedAlone(b.Commands[i].Spec, len(b.Commands[i].Args))
		if alone && i > w.lap.from {
			w.endLap(s, b, i)
		}
		from := markOf(s)
		at := from.bytes
		w.specs[i], w.outcomes[i] = w.run(s, &b.Commands[i])
		if w.outcomes[i] == postponed {
			break
		}
		w.failed[i] = w.noteError(s.W.B[at:])
		if s.Mode != 0 {
			w.followModes(s, w.specs[i], at)
		}
		if w.outcomes[i] == executed {
			if size := b.Size(i); size >= w.largeRequest {
				w.noteRequest(s, w.specs[i], b.Commands[i].Args, size)
			}
			if w.mayBeLarge(s, from) {
				w.noteReply(s, w.specs[i], b.Commands[i].Args, from)
			}
		}
		if w.invalid.flushed || len(w.invalid.own) > 0 {
			w.tellOwn(s)
		}
		w.hold(s, at)
		ran++
		if alone {
			w.endLap(s, b, ran)
		}
		if s.Closing || len(s.W.B) >= session.OutputHigh || s.Blocked() {
			break
		}
	}
	w.current = nil
	if len(w.invalid.changes) > 0 {
		w.tellOthers(s)
	}
	if ran == 0 {
		return 0
	}
	if spec := w.specs[ran-1]; spec != nil {
		s.SetCommand(spec)
	}
	if ran > w.lap.from {
		w.endLap(s, b, ran)
	}
	b.Now = w.now
	return ran
}

// hold keeps the reply that begins at W.B[start] back until what the command
// wrote, and what it saw of others, is durable.
func (w *Worker) hold(s *session.Session, start int) {
	for _, p := range w.ctx.TakePositions() {
		if !w.srv.space.Durable(p) {
			s.Hold(start, p, 0)
		}
	}
}

// outcome says how far a command came.
type outcome uint8

const (
	executed  outcome = iota
	rejected          // it was refused before its handler ran
	unknown           // there is no such command
	queuedUp          // it waits for EXEC
	postponed         // it was not run, and is to be run later
)

// mutes says whether the client wants no reply to a command. Confirmations of
// subscriptions are messages, which come nevertheless.
func mutes(s *session.Session, spec *command.Spec) bool {
	return s.Mode&(session.ModeMuted|session.ModeSkip) != 0 && (spec == nil || !confirms[spec.ID])
}

// confirms are the commands that messages answer.
var confirms = map[command.ID]bool{
	command.IDSubscribe: true, command.IDPsubscribe: true, command.IDSsubscribe: true,
	command.IDUnsubscribe: true, command.IDPunsubscribe: true, command.IDSunsubscribe: true,
}

// followModes does what the client's switches ask for after a command whose
// reply begins at W.B[start].
func (w *Worker) followModes(s *session.Session, spec *command.Spec, start int) {
	if !w.muted && mutes(s, spec) {
		s.Mute(start)
	}
	w.muted = false
	next := s.Mode & session.ModeSkipNext
	s.Mode &^= session.ModeSkip | session.ModeSkipNext
	if next != 0 {
		s.Mode |= session.ModeSkip
	}
	if s.Mode&session.ModeCaching != 0 && s.Transaction == nil && (spec == nil || spec.Parent == nil || spec.Parent.ID != command.IDClient) {
		s.Mode &^= session.ModeCaching
	}
}

// run executes one command and appends one reply.
func (w *Worker) run(s *session.Session, cmd *session.Command) (*command.Spec, outcome) {
	spec, args := cmd.Spec, cmd.Args
	if spec == nil {
		s.W.Error(reply.UnknownCommand(args))
		w.refuse(s)
		return nil, unknown
	}
	if spec.Subcommands != nil && len(args) > 1 {
		container := spec
		if spec = container.Subcommand(args[1]); spec == nil {
			s.W.Error(unknownSubcommand(container, args[1]))
			w.refuse(s)
			return container, unknown
		}
	}
	switch {
	case !spec.CheckArity(len(args)):
		if spec.ID == command.IDExec { // refusing EXEC ends the transaction
			w.endTransaction(s)
			s.W.Error(reply.ExecAbortBecause(reply.WrongArgs(spec.Name)))
			return spec, rejected
		}
		s.W.Error(reply.WrongArgs(spec.Name))
		return spec, w.refuse(s)
	case !s.Authenticated && spec.Flags&command.FlagNoAuth == 0 && !s.LoginDefault():
		s.W.Error(reply.NoAuth)
		return spec, w.refuse(s)
	}
	if !s.Rights().Everything() && !w.permitted(s, spec, args) {
		return spec, w.refuse(s)
	}
	if s.W.Proto == 2 && s.Subscribed() && !whenSubscribed[spec.ID] {
		s.W.Error(reply.OnlyWhenSubscribed(spec.Name))
		return spec, w.refuse(s)
	}
	if w.srv.saving.state.Load() != 0 {
		if text := w.unavailable(s, spec); text != "" {
			return spec, w.refuseUnavailable(s, spec, text)
		}
	}
	if w.srv.pause.mode.Load() != pauseNone && w.waits(s, spec) {
		return spec, postponed
	}
	if s.Mode&session.ModeMonitor != 0 && w.srv.routes[spec.ID].keys != nil {
		s.W.Error(reply.ReplicaTouchesNothing)
		return spec, w.refuse(s)
	}
	if s.Transaction != nil {
		if done, how := w.queued(s, cmd, spec); done {
			return spec, how
		}
	}
	how := w.execute(s, spec, args)
	if how == executed && w.srv.monitors.count.Load() > 0 {
		w.show(s, spec, args)
	}
	return spec, how
}

// execute runs a command that nothing speaks against but, perhaps, its keys.
func (w *Worker) execute(s *session.Session, spec *command.Spec, args [][]byte) outcome {
	asking := s.Asking
	s.Asking = false
	r := &w.srv.routes[spec.ID]
	switch {
	case r.keys != nil || spec.ID == command.IDWatch:
		return w.runOnKeys(s, spec, r.keys, args, asking)
	case r.session != nil:
		if spec.ID == command.IDReset {
			w.srv.forget(s)
		}
		s.SetCommand(spec)
		r.session(s, w.now, args)
	case r.server != nil:
		r.server(w, s, args)
		if w.execWaits {
			w.execWaits = false
			s.Asking = asking
			return postponed
		}
	default:
		s.W.Error(reply.UnknownCommand(args))
	}
	return executed
}

// whenSubscribed are the commands that a RESP2 client may send while it listens
// to channels: replies to others could not be told from messages.
var whenSubscribed = map[command.ID]bool{
	command.IDSubscribe: true, command.IDPsubscribe: true, command.IDSsubscribe: true,
	command.IDUnsubscribe: true, command.IDPunsubscribe: true, command.IDSunsubscribe: true,
	command.IDPing: true, command.IDQuit: true, command.IDReset: true,
}

// refuse makes a transaction fail for a command that can't be queued.
func (w *Worker) refuse(s *session.Session) outcome {
	if s.Transaction != nil {
		s.Transaction.Failed = true
	}
	return rejected
}

// unknownSubcommand also says what to do instead of changing a topology that
// this node only reads.
func unknownSubcommand(container *command.Spec, sub []byte) string {
	if spec := container.SubcommandAny(sub); spec != nil && container.ID == command.IDCluster {
		return reply.TopologyIsGiven(spec.Name)
	}
	return reply.UnknownSubcommand(string(bytes.ToUpper([]byte(container.Name))), sub)
}

// runOnKeys takes the locks that the command needs, asks whether it may run
// here, and calls its handler; nil stands for WATCH, which is about the session
// as much as about its keys.
func (w *Worker) runOnKeys(s *session.Session, spec *command.Spec, handler engine.Handler, args [][]byte, asking bool) outcome {
	w.ctx.DB, w.ctx.Name = s.DB, spec.Name
	w.ctx.NoTouch = s.Mode&session.ModeNoTouch != 0 && spec.ID != command.IDTouch
	w.slots, w.keys = w.slots[:0], w.keys[:0] // not those of the command before
	if spec.Flags&command.FlagDenyoom != 0 && !w.ctx.MakeRoom() {
		s.W.Error(reply.OutOfMemory)
		return rejected
	}
	switch {
	case spec.Locks == command.LocksNone:
		handler(&w.ctx, args)
		return executed
	case spec.Locks == command.LocksAll || !w.findKeys(spec, args):
		// A command whose keys can't be told answers with its own error.
		w.ctx.LockAll()
	default:
		if len(w.keys) > 1 && !w.sameSlot(s) {
			return rejected
		}
		w.ctx.LockKeys(w.keys)
	}
	if refusal := w.refusal(s, spec, asking); refusal != nil {
		w.ctx.Unlock()
		w.ctx.TakePositions() // a refusal tells nothing of the data, and waits for nothing
		s.W.B = append(s.W.B, refusal...)
		return rejected
	}
	if spec.Flags&command.FlagWrite != 0 && w.ctx.Gate()&shard.GatePaused != 0 {
		w.ctx.Unlock()
		if w.waits(s, spec) {
			s.Asking = asking
			return postponed
		}
		return w.runOnKeys(s, spec, handler, args, asking) // the pause is over
	}
	if asked := s.Tracking(); asked != nil && spec.Flags&command.FlagReadonly != 0 {
		w.rememberRead(s, asked)
	}
	if handler != nil {
		w.call(s, spec, handler, args)
	} else {
		watch(w, s, args)
	}
	w.ctx.Unlock()
	if len(w.answers)+len(w.later) > 0 {
		w.serveOthers()
	}
	return executed
}

// call runs a handler under its locks, makes the command wait if it asks for
// that, and serves those who waited for what it has changed.
func (w *Worker) call(s *session.Session, spec *command.Spec, handler engine.Handler, args [][]byte) {
	w.ctx.MayBlock = spec.Flags&command.FlagBlocking != 0
	handler(&w.ctx, args)
	if w.ctx.MayBlock {
		w.ctx.MayBlock = false
		if wait, blocked := w.ctx.TakeBlocked(); blocked {
			w.block(s, spec, handler, args, wait)
		}
	}
	if len(w.ready) > 0 {
		w.serveReady()
	}
}

// findKeys fills w.keys and w.slots; false when there are no keys to be found.
func (w *Worker) findKeys(spec *command.Spec, args [][]byte) bool {
	if k := w.warmed(args); k != nil {
		w.keys = append(w.keys[:0], *k)
		w.slots = append(w.slots, k.Slot)
		return true
	}
	refs, err := spec.Keys(args, w.refs[:0])
	if err != nil || len(refs) == 0 {
		return false
	}
	w.refs, w.keys = refs, w.keys[:0]
	for _, r := range refs {
		k := w.ctx.Key(args[r.Index])
		w.keys = append(w.keys, k)
		w.slots = append(w.slots, k.Slot)
	}
	return true
}

// warm looks at the commands of a batch that have one key, their first argument,
// and asks for the memory that they will touch, all at once.
func (w *Worker) warm(s *session.Session, commands []session.Command) {
	w.warmKeys, w.warmNext = w.warmKeys[:0], 0
	w.members = w.members[:0]
	some := false
	for i := range commands {
		c := &commands[i]
		if c.Spec == nil || c.Spec.FirstKey != 1 || c.Spec.LastKey != 1 || len(c.Args) < 2 {
			continue
		}
		r := &w.srv.routes[c.Spec.ID]
		if r.keys == nil {
			continue
		}
		w.warmKeys = append(w.warmKeys, w.ctx.Key(c.Args[1]))
		var member []byte
		if r.member > 0 && len(c.Args) > int(r.member) {
			member, some = c.Args[r.member], true
		}
		w.members = append(w.members, member)
	}
	w.ctx.DB = s.DB
	w.ctx.Warm(w.warmKeys)
	if some {
		w.ctx.WarmMembers(w.warmKeys, w.members)
	}
}

// memberArguments says which argument of a command is the first member or field
// that it looks for; of ZADD with options it is another one, which does no harm.
var memberArguments = map[command.ID]uint8{
	command.IDHdel: 2, command.IDHexists: 2, command.IDHget: 2, command.IDHincrby: 2, command.IDHmget: 2, command.IDHset: 2, command.IDHsetnx: 2,
	command.IDHstrlen: 2, command.IDSadd: 2, command.IDSismember: 2, command.IDSmismember: 2, command.IDSrem: 2, command.IDZadd: 3,
	command.IDZincrby: 3, command.IDZrank: 2, command.IDZrem: 2, command.IDZrevrank: 2, command.IDZscore: 2,
}

// warmed gives the key that warm computed for the command with these arguments;
// nil: none. Commands come in the order in which warm saw them.
func (w *Worker) warmed(args [][]byte) *store.Key {
	if len(args) < 2 || len(args[1]) == 0 {
		return nil
	}
	for i := w.warmNext; i < len(w.warmKeys); i++ {
		if k := &w.warmKeys[i]; len(k.Name) == len(args[1]) && &k.Name[0] == &args[1][0] {
			w.warmNext = i + 1
			return k
		}
	}
	return nil
}
