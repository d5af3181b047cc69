package server

import (
	"errors"
	"strings"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
)

// unavailable gives the error for a command that can't run as the node is loading,
// or could not save its data; "": it can. Of EXEC the queued commands count.
func (w *Worker) unavailable(s *session.Session, spec *command.Spec) string {
	state := w.srv.saving.state.Load()
	loads, writes := spec.Flags&command.FlagLoading != 0, spec.Flags&command.FlagWrite != 0
	if spec.ID == command.IDExec && s.Transaction != nil {
		for i := range s.Transaction.Commands {
			queued := command.Find(s.Transaction.Commands[i].Args)
			loads = loads && queued.Flags&command.FlagLoading != 0
			writes = writes || queued.Flags&command.FlagWrite != 0
		}
	}
	switch {
	case state&stateUnsaved != 0 && (writes || spec.ID == command.IDPing) && w.srv.refusesUnsaved():
		return reply.SaveFailed
	case state&stateLoading != 0 && !loads:
		return reply.Loading
	}
	return ""
}

// refusesUnsaved says whether no writes are taken after a snapshot that failed.
func (srv *Server) refusesUnsaved() bool {
	return srv.cfg.Bool(config.StopWritesOnBgsaveError) && len(srv.cfg.SavePoints(config.Save)) > 0
}

// refuseUnavailable writes the error, which ends a transaction.
func (w *Worker) refuseUnavailable(s *session.Session, spec *command.Spec, text string) outcome {
	if spec.ID == command.IDExec && s.Transaction != nil {
		w.endTransaction(s)
		s.W.Error(reply.ExecAbortBecause(text))
		return rejected
	}
	s.W.Error(text)
	return w.refuse(s)
}

func lastSave(w *Worker, s *session.Session, _ [][]byte) {
	w.srv.saving.mu.Lock()
	at := w.srv.saving.lastWall
	w.srv.saving.mu.Unlock()
	s.W.Int(at)
}

// saveCommand answers when the snapshot is on the disk. Other clients are served
// meanwhile, unless they share this one's event loop.
func saveCommand(w *Worker, s *session.Session, _ [][]byte) {
	switch err := w.srv.saveNow(); {
	case err == nil:
		s.W.OK()
	case errors.Is(err, errBusy):
		s.W.Error(reply.SaveInProgress)
	default:
		s.W.Error(reply.Failed)
	}
}

func bgSave(w *Worker, s *session.Session, args [][]byte) {
	if len(args) > 2 || len(args) == 2 && !command.IsToken(args[1], "SCHEDULE") {
		s.W.Error(reply.Syntax)
		return
	}
	sv := &w.srv.saving
	if w.inExec { // which holds locks
		sv.mu.Lock()
		busy := sv.current != nil
		sv.wanted = sv.wanted || !busy
		sv.mu.Unlock()
		if busy {
			s.W.Error(reply.SaveInProgress)
		} else {
			s.W.Simple("Background saving scheduled")
		}
		return
	}
	switch err := w.srv.saveInBackground(); {
	case err == nil:
		s.W.Simple("Background saving started")
	case errors.Is(err, errBusy):
		s.W.Error(reply.SaveInProgress)
	default:
		s.W.Error(reply.Failed)
	}
}

// bgRewriteAOF begins a snapshot, behind which the log begins then. Without a log
// there is nothing to be made shorter.
func bgRewriteAOF(w *Worker, s *session.Session, _ [][]byte) {
	if !w.srv.logState().On {
		s.W.Simple("Background append only file rewriting started")
		return
	}
	sv := &w.srv.saving
	sv.mu.Lock()
	current := sv.current
	again := current != nil && current.rewrites
	sv.rewrites = sv.rewrites || !again
	sv.mu.Unlock()
	if again {
		s.W.Error(reply.RewriteInProgress)
		return
	}
	if current != nil || w.inExec { // which holds locks
		s.W.Simple("Background append only file rewriting scheduled")
		return
	}
	switch err := w.srv.saveInBackground(); {
	case err == nil:
		s.W.Simple("Background append only file rewriting started")
	case errors.Is(err, errBusy):
		s.W.Simple("Background append only file rewriting scheduled")
	default:
		s.W.Error(reply.Failed)
	}
}

// shutdown asks the node to stop. The client sees its connection end; only an
// error is answered.
func shutdown(w *Worker, s *session.Session, args [][]byte) {
	save, noSave, abort, force := false, false, false, false
	for _, arg := range args[1:] {
		switch {
		case command.IsToken(arg, "SAVE"):
			save = true
		case command.IsToken(arg, "NOSAVE"):
			noSave = true
		case command.IsToken(arg, "NOW"):
		case command.IsToken(arg, "FORCE"):
			force = true
		case command.IsToken(arg, "ABORT"):
			abort = true
		default:
			s.W.Error(reply.Syntax)
			return
		}
	}
	stop := w.srv.process.Shutdown
	switch {
	case save && noSave, abort && len(args) > 2:
		s.W.Error(reply.Syntax)
	case abort:
		s.W.Error(reply.NoShutdown)
	case stop == nil || w.srv.PrepareStop(LastSave{Save: save, NoSave: noSave, Force: force}) != nil:
		s.W.Error(reply.ShutdownFailed)
	default:
		s.Closing = true
		stop(s.Remote())
	}
}

// debugReload saves, forgets everything and loads what was saved.
func debugReload(w *Worker, s *session.Session, args [][]byte) {
	save, flush, merge := true, true, false
	for _, arg := range args {
		switch strings.ToUpper(string(arg)) {
		case "MERGE":
			merge = true
		case "NOFLUSH":
			flush = false
		case "NOSAVE":
			save = false
		default:
			s.W.Error(reply.DebugReloadOptions)
			return
		}
	}
	if w.inExec {
		s.W.Error(reply.NotInMulti)
		return
	}
	// From before the snapshot on, as what changed behind it would be lost.
	if !w.srv.keepOthersOut() {
		s.W.Error(reply.Loading)
		return
	}
	defer w.srv.letOthersIn()
	if save {
		switch err := w.srv.saveNow(); {
		case errors.Is(err, errBusy):
			s.W.Error(reply.SaveInProgress)
			return
		case err != nil:
			s.W.Error(reply.Failed)
			return
		}
	}
	w.srv.endSave()
	if flush {
		w.forget()
	}
	read := func(newLoader func() *shard.Loader) (bool, error) { return w.srv.process.Snapshots.Read(newLoader()) }
	if err := w.srv.load(merge || flush, read); err != nil {
		s.W.Error(reply.DebugReloadFailed)
		return
	}
	s.W.OK()
}

// debugLoadAOF forgets everything and recovers it as a start does.
func debugLoadAOF(w *Worker, s *session.Session, _ [][]byte) {
	if w.inExec {
		s.W.Error(reply.NotInMulti)
		return
	}
	if !w.srv.keepOthersOut() {
		s.W.Error(reply.Loading)
		return
	}
	defer w.srv.letOthersIn()
	forget := func() {
		w.srv.endSave()
		w.forget()
	}
	err := w.srv.load(false, func(newLoader func() *shard.Loader) (bool, error) {
		return false, w.srv.process.Snapshots.RecoverAgain(forget, newLoader)
	})
	switch {
	case err == nil:
		s.W.OK()
	case errors.Is(err, ErrNoLog):
		s.W.Error(reply.DebugNoLog)
	default:
		s.W.Error(reply.DebugLoadFailed)
	}
}

// keepOthersOut lets no other command change data, or begin to look at any, until
// letOthersIn; false: the node is loading already.
func (srv *Server) keepOthersOut() bool {
	if srv.saving.state.Or(stateLoading)&stateLoading != 0 {
		return false
	}
	srv.closeForLoading(true)
	return true
}

func (srv *Server) letOthersIn() {
	srv.closeForLoading(false)
	srv.setState(stateLoading, false)
}

func (srv *Server) closeForLoading(closed bool) {
	for _, sh := range srv.space.Shards() {
		sh.SetGate(shard.GateLoading, closed)
	}
}

// forget empties the key space, of which the log is told nothing.
func (w *Worker) forget() {
	w.ctx.LockAll()
	w.ctx.FlushAll()
	w.ctx.Unlock()
}
