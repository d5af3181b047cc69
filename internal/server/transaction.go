package server

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/slot"
)

func multi(_ *Worker, s *session.Session, _ [][]byte) {
	if s.Transaction != nil {
		s.W.Error(reply.NestedMulti)
		return
	}
	s.Begin()
	s.W.OK()
}

func discard(w *Worker, s *session.Session, _ [][]byte) {
	if s.Transaction == nil {
		s.W.Error(reply.DiscardWithoutMulti)
		return
	}
	w.endTransaction(s)
	s.W.OK()
}

func (w *Worker) endTransaction(s *session.Session) {
	s.End()
	w.srv.hooks.watches.clear(s)
}

func unwatch(w *Worker, s *session.Session, _ [][]byte) {
	w.srv.hooks.watches.clear(s)
	s.W.OK()
}

// watch runs with its keys locked, so that no change comes between looking at a
// key and listing it.
func watch(w *Worker, s *session.Session, args [][]byte) {
	for _, key := range args[1:] {
		_, existed := w.ctx.Find(key)
		w.srv.hooks.watches.add(s, s.DB, key, existed)
	}
	s.W.OK()
}

// queued handles a command between MULTI and EXEC; false when it is to run at
// once.
func (w *Worker) queued(s *session.Session, cmd *session.Command, spec *command.Spec) (done bool, how outcome) {
	switch spec.ID {
	case command.IDExec, command.IDDiscard, command.IDMulti, command.IDQuit, command.IDReset:
		return false, executed
	case command.IDWatch:
		s.W.Error(reply.WatchInsideMulti)
		return true, executed
	}
	if spec.Flags&command.FlagNoMulti != 0 {
		s.Transaction.Failed = true
		s.W.Error(reply.NotInMulti)
		return true, rejected
	}
	if spec.Flags&command.FlagDenyoom != 0 && !w.ctx.MakeRoom() {
		s.Transaction.Failed = true
		s.W.Error(reply.OutOfMemory)
		return true, rejected
	}
	if s.Transaction.Bytes+cmd.ArgBytes() > w.srv.effectsMax {
		s.Transaction.Failed = true
		s.W.Error(reply.TransactionTooLarge)
		return true, rejected
	}
	w.slots = w.slots[:0]
	if spec.Locks == command.LocksKeys && w.findKeys(spec, cmd.Args) {
		if !w.sameSlot(s) || !w.servedHere(s, spec) {
			s.Transaction.Failed = true
			return true, rejected
		}
	}
	s.Queue(cmd)
	s.W.Simple("QUEUED")
	return true, queuedUp
}

// servedHere asks, without waiting for EXEC, whether a command that is queued
// would be redirected; on false the reply was written.
func (w *Worker) servedHere(s *session.Session, spec *command.Spec) bool {
	w.ctx.LockSlots(w.slots)
	refusal := w.refusal(s, spec, s.Asking)
	w.ctx.Unlock()
	w.ctx.TakePositions()
	s.W.B = append(s.W.B, refusal...)
	return refusal == nil
}

// plan is what EXEC needs before it starts.
type plan struct {
	all    bool          // everything is locked, not only w.slots
	writes *command.Spec // a command that writes, or else any on keys; nil: none
}

func exec(w *Worker, s *session.Session, _ [][]byte) {
	t := s.Transaction
	switch {
	case t == nil:
		s.W.Error(reply.ExecWithoutMulti)
		return
	case t.Failed:
		w.endTransaction(s)
		s.W.Error(reply.ExecAbort)
		return
	}
	p, ok := w.planExec(s, t)
	if !ok {
		w.endTransaction(s)
		return
	}
	w.lockPlan(p)
	if p.writes != nil && p.writes.Flags&command.FlagWrite != 0 && w.ctx.Gate()&shard.GatePaused != 0 {
		w.ctx.UnlockHeld()
		if w.waits(s, command.Get(command.IDExec)) {
			w.execWaits = true
			return
		}
		exec(w, s, nil) // the pause is over
		return
	}
	w.inExec = true
	defer w.leaveExec(s)
	if p.writes != nil {
		if refusal := w.refusal(s, p.writes, s.Asking); refusal != nil {
			w.ctx.UnlockHeld()
			w.ctx.TakePositions()
			s.W.B = append(s.W.B, refusal...)
			return
		}
	}
	if w.watchedChanged(s) {
		w.ctx.UnlockHeld()
		s.W.NullArray()
		return
	}
	s.End() // commands inside run as if outside
	w.runAll(s, t.Commands)
	if len(w.ready) > 0 {
		w.serveReady()
	}
	w.ctx.UnlockHeld()
	if len(w.answers)+len(w.later) > 0 {
		w.serveOthers()
	}
}

// runAll runs the commands of a transaction and writes their replies, each as the
// client wants it by then: CLIENT REPLY may be among them. As in Redis the array
// can so have fewer elements than it says.
func (w *Worker) runAll(s *session.Session, commands []session.Command) {
	at := len(s.W.B)
	s.W.Array(len(commands))
	if mutes(s, nil) {
		s.Mute(at)
	}
	for i := range commands {
		at := len(s.W.B)
		if spec := w.runQueued(s, &commands[i]); mutes(s, spec) {
			s.Mute(at)
		}
	}
	w.muted = mutes(s, nil) // so that nothing is dropped twice
}

// leaveExec ends a transaction whose locks are given back.
func (w *Worker) leaveExec(s *session.Session) {
	w.inExec = false
	for _, f := range w.after {
		f()
	}
	w.after = nil
	w.endTransaction(s)
}

// planExec finds the union of the locks: those of the commands and of the
// watched keys. On false the error was written.
func (w *Worker) planExec(s *session.Session, t *session.Transaction) (p plan, ok bool) {
	w.slots = w.slots[:0]
	for i := range t.Commands {
		c := &t.Commands[i]
		spec := command.Find(c.Args)
		if looksAtAll[spec.ID] {
			p.all = true
		}
		if w.srv.routes[spec.ID].keys == nil {
			continue
		}
		if p.writes == nil || spec.Flags&command.FlagWrite != 0 {
			p.writes = spec
		}
		if spec.Locks != command.LocksKeys || !w.findKeys(spec, c.Args) {
			p.all = true
		}
	}
	clustered := w.srv.cluster.Load() != nil
	if len(w.slots) > 0 && !w.sameSlot(s) {
		return p, false
	}
	for _, k := range s.Watch.Keys {
		id := slot.OfString(k.Name)
		if clustered && len(w.slots) > 0 && id != w.slots[0] {
			// Keys of one slot only are served together; the watched ones too.
			s.W.Error(reply.CrossSlot(int(w.slots[0]), int(id)))
			return p, false
		}
		w.slots = append(w.slots, id)
	}
	return p, true
}

// looksAtAll are commands about the node that walk over the key space, stripe by
// stripe where they run alone.
var looksAtAll = map[command.ID]bool{
	command.IDDebug: true, command.IDMemoryStats: true, command.IDMemoryDoctor: true, command.IDMemoryMallocStats: true,
	command.IDInfo: true, command.IDConfigResetstat: true,
	command.IDClusterCountkeysinslot: true, command.IDClusterGetkeysinslot: true,
}

func (w *Worker) lockPlan(p plan) {
	if p.all {
		w.ctx.LockAll()
	} else if len(w.slots) > 0 {
		w.ctx.LockSlots(w.slots)
	}
	w.ctx.Hold()
}

// watchedChanged says, with the watched keys locked, whether one has changed
// since. A key whose time is over counts as changed by that.
func (w *Worker) watchedChanged(s *session.Session) bool {
	db := w.ctx.DB
	defer func() { w.ctx.DB = db }()
	for _, k := range s.Watch.Keys {
		w.ctx.DB = k.DB
		w.ctx.Find([]byte(k.Name)) // which expires it, and so marks the session
	}
	return s.Watch.Dirty.Load()
}

// runQueued runs one command of a transaction under the locks of all.
func (w *Worker) runQueued(s *session.Session, c *session.Command) *command.Spec {
	spec := command.Find(c.Args)
	from := markOf(s)
	at := from.bytes
	if !s.Rights().Everything() && !w.permittedInExec(s, spec, c.Args) {
		w.noteError(s.W.B[at:])
		return spec
	}
	// The effects of some commands are larger than their arguments.
	if size := w.ctx.EffectBytes(); size > w.srv.effectsMax/2 && spec.Flags&command.FlagWrite != 0 && size+c.ArgBytes() > w.srv.effectsMax {
		s.W.Error(reply.TransactionTooLarge)
		w.noteError(s.W.B[at:])
		return spec
	}
	began := int64(-1)
	if w.timedAlone(spec, len(c.Args)) {
		began = w.srv.now().Mono
	}
	r := &w.srv.routes[spec.ID]
	switch {
	case r.keys != nil:
		w.ctx.DB, w.ctx.Name = s.DB, spec.Name
		w.ctx.NoTouch = s.Mode&session.ModeNoTouch != 0 && spec.ID != command.IDTouch
		if asked := s.Tracking(); asked != nil && spec.Flags&command.FlagReadonly != 0 {
			w.keys = w.keys[:0]
			w.findKeys(spec, c.Args)
			w.rememberRead(s, asked)
		}
		r.keys(&w.ctx, c.Args)
	case r.session != nil:
		s.SetCommand(spec)
		r.session(s, w.now, c.Args)
	case r.server != nil:
		r.server(w, s, c.Args)
	}
	if w.mayBeLarge(s, from) {
		w.noteReply(s, spec, c.Args, from)
	}
	failed := w.noteError(s.W.B[at:])
	nanos := int64(-1)
	if began >= 0 {
		w.now = w.srv.now()
		nanos = max(0, w.now.Mono-began)
		w.noteTime(s, spec, c.Args, nanos)
	}
	w.countOne(spec, failed, nanos)
	if w.srv.monitors.count.Load() > 0 {
		w.show(s, spec, c.Args)
	}
	return spec
}
