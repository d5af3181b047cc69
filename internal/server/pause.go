package server

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

// The values of pause.mode.
const (
	pauseNone int32 = iota
	pauseWrites
	pauseAll
)

// pause is CLIENT PAUSE. Commands look at mode without a lock; the writes among
// them look at the gate of their shard too, under the lock of their stripe, so
// that none is on its way any more when CLIENT PAUSE has answered.
type pause struct {
	mode  atomic.Int32
	until atomic.Int64 // Instant.Mono

	mu sync.Mutex // held while the pause changes
}

// begin pauses, or makes a pause that there is longer and stricter.
func (srv *Server) beginPause(mode int32, now, until int64) {
	p := &srv.pause
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.mode.Load(); old != pauseNone && p.until.Load() > now {
		mode, until = max(mode, old), max(until, p.until.Load())
	}
	p.until.Store(until)
	p.mode.Store(mode)
	for _, sh := range srv.space.Shards() {
		sh.SetGate(shard.GatePaused, true)
	}
}

// endPause ends the pause; with due, only if its time is over at now.
func (srv *Server) endPause(now int64, due bool) {
	p := &srv.pause
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode.Load() == pauseNone || due && now < p.until.Load() {
		return
	}
	p.mode.Store(pauseNone)
	for _, sh := range srv.space.Shards() {
		sh.SetGate(shard.GatePaused, false)
	}
	srv.registry.WakeSuspended()
}

// mayReplicate are commands that are no writes, but have effects on other nodes.
var mayReplicate = map[command.ID]bool{
	command.IDPublish: true, command.IDSpublish: true, command.IDPfcount: true,
	command.IDEval: true, command.IDEvalsha: true, command.IDFcall: true,
}

// waits says whether a command has to wait for the end of the pause, and if so
// suspends the session. It looks at mode again, so the caller need not have.
func (w *Worker) waits(s *session.Session, spec *command.Spec) bool {
	p := &w.srv.pause
	mode := p.mode.Load()
	if mode == pauseNone || s.Mode&session.ModeMonitor != 0 || spec.ID == command.IDBowlineRelay {
		return false
	}
	if mode == pauseWrites && !writes(s, spec) {
		return false
	}
	if w.now.Mono >= p.until.Load() {
		w.srv.endPause(w.now.Mono, true)
		return false
	}
	s.Suspend(p.until.Load())
	if p.mode.Load() == pauseNone { // it ended meanwhile, and may have woken us before we slept
		w.srv.registry.WakeSuspended()
	}
	return true
}

// writes says whether a command, or for EXEC one in its transaction, may change
// keys or has effects on other nodes.
func writes(s *session.Session, spec *command.Spec) bool {
	if spec.ID != command.IDExec || s.Transaction == nil {
		return spec.Flags&command.FlagWrite != 0 || mayReplicate[spec.ID]
	}
	for i := range s.Transaction.Commands {
		c := command.Find(s.Transaction.Commands[i].Args)
		if c.Flags&command.FlagWrite != 0 || mayReplicate[c.ID] {
			return true
		}
	}
	return false
}

// clientPause is CLIENT PAUSE milliseconds [WRITE|ALL]. In a transaction the
// pause begins at its end.
func clientPause(w *Worker, s *session.Session, args [][]byte) {
	mode := pauseAll
	switch {
	case len(args) > 4:
		s.W.Error(reply.UnknownSubcommandOrArgs("CLIENT", args[1]))
		return
	case len(args) == 4 && command.IsToken(args[3], "WRITE"):
		mode = pauseWrites
	case len(args) == 4 && !command.IsToken(args[3], "ALL"):
		s.W.Error(reply.PauseMode)
		return
	}
	millis, ok := resp.ParseInt(args[2])
	switch {
	case !ok:
		s.W.Error(reply.TimeoutNumber)
		return
	case millis < 0:
		s.W.Error(reply.TimeoutNegative)
		return
	case millis > math.MaxInt64-w.now.Millis():
		s.W.Error(reply.TimeoutRange)
		return
	}
	millis = min(millis, pauseMax)
	now := w.srv.now().Mono
	w.afterLocks(func() { w.srv.beginPause(mode, now, now+millis*1e6) })
	s.W.OK()
}

// pauseMax is the longest pause in milliseconds, some 31 years: a moment that
// still fits in nanoseconds.
const pauseMax = 1e12

func clientUnpause(w *Worker, s *session.Session, _ [][]byte) {
	w.afterLocks(func() { w.srv.endPause(0, false) })
	s.W.OK()
}

// afterLocks does something that takes locks of the key space: at once, or at
// the end of the transaction that holds some now.
func (w *Worker) afterLocks(f func()) {
	if w.inExec {
		w.after = append(w.after, f)
		return
	}
	f()
}
