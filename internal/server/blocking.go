package server

import (
	"container/list"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// waiting knows which commands wait for which keys, in the order of their
// arrival. A command is added, and served, under the locks of its keys, so that
// no push comes between looking at a key and waiting for it.
type waiting struct {
	count atomic.Int64 // commands that wait, to pass over quickly when there are none

	mu     sync.Mutex
	queues map[queueKey]*list.List // of *waiter; guarded by mu, like all below
	of     map[*session.Session]*waiter
}

// queueKey is a key that may become what somebody waits for.
type queueKey struct {
	db   int
	name string
	typ  store.Type
}

// waitedTypes are the types that commands wait for.
var waitedTypes = [...]store.Type{store.List, store.ZSet, store.Stream}

// waiter is one command that waits.
type waiter struct {
	s       *session.Session
	account *session.Account // whose rights are asked again when it is served
	spec    *command.Spec
	handler engine.Handler
	args    [][]byte // copies
	db      int
	proto   int
	noTouch bool
	replica bool // a replica may serve it: it reads, after READONLY
	wait    engine.Wait
	slots   []slot.ID // of all its keys, those that it would write to included

	// Guarded by waiting.mu.
	places  []place
	serving bool // a worker calls its handler
	missed  bool // meanwhile another worker had something for it
	gone    bool // meanwhile its session ended
}

// place is a waiter's place in one queue.
type place struct {
	key queueKey
	at  *list.Element
}

// add makes a command wait. Its keys are locked.
func (ws *waiting) add(wt *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.queues == nil {
		ws.queues, ws.of = map[queueKey]*list.List{}, map[*session.Session]*waiter{}
	}
	for _, name := range wt.wait.Keys {
		k := queueKey{wt.db, string(name), wt.wait.Type}
		if slices.ContainsFunc(wt.places, func(p place) bool { return p.key == k }) {
			continue
		}
		q := ws.queues[k]
		if q == nil {
			q = list.New()
			ws.queues[k] = q
		}
		wt.places = append(wt.places, place{k, q.PushBack(wt)})
	}
	ws.of[wt.s] = wt
	ws.count.Add(1)
}

// remove takes a waiter off all lists; mu is held.
func (ws *waiting) remove(wt *waiter) {
	for _, p := range wt.places {
		q := ws.queues[p.key]
		if q.Remove(p.at); q.Len() == 0 {
			delete(ws.queues, p.key)
		}
	}
	delete(ws.of, wt.s)
	ws.count.Add(-1)
}

// awaited adds a changed key to a list if somebody waits for it.
func (ws *waiting) awaited(ready []queueKey, db int, name []byte) []queueKey {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, typ := range waitedTypes {
		if ws.queues[queueKey{db, string(name), typ}] == nil {
			continue
		}
		if k := (queueKey{db, string(name), typ}); !slices.Contains(ready, k) {
			ready = append(ready, k)
		}
	}
	return ready
}

// awaitedIn is awaited for the keys of two databases that changed places.
func (ws *waiting) awaitedIn(ready []queueKey, a, b int, exists func(db int, key []byte) bool) []queueKey {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for k := range ws.queues {
		if (k.db == a || k.db == b) && exists(k.db, []byte(k.name)) {
			ready = append(ready, k)
		}
	}
	return ready
}

// claim gives the first command that waits for a key, which nobody else then
// serves or gives up; nil when there is none.
func (ws *waiting) claim(k queueKey) *waiter {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	q := ws.queues[k]
	if q == nil {
		return nil
	}
	for e := q.Front(); e != nil; e = e.Next() {
		wt := e.Value.(*waiter)
		if !wt.serving {
			wt.serving = true
			return wt
		}
		wt.missed = true
	}
	return nil
}

// unclaim lets a waiter wait on; missed says that something came for it while it
// was claimed.
func (ws *waiting) unclaim(wt *waiter) (missed bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if wt.gone {
		ws.remove(wt)
		return false
	}
	missed = wt.missed
	wt.serving, wt.missed = false, false
	return missed
}

// served takes a claimed waiter off the lists.
func (ws *waiting) served(wt *waiter) {
	ws.mu.Lock()
	ws.remove(wt)
	ws.mu.Unlock()
}

// giveUp takes the command of a session off the lists; nil when it does not
// wait, or is being served.
func (ws *waiting) giveUp(s *session.Session) *waiter {
	if ws.count.Load() == 0 {
		return nil
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	wt := ws.of[s]
	if wt == nil || wt.serving {
		return nil
	}
	ws.remove(wt)
	return wt
}

// forget drops the command of a session that has ended.
func (ws *waiting) forget(s *session.Session) {
	if ws.count.Load() == 0 {
		return
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	switch wt := ws.of[s]; {
	case wt == nil:
	case wt.serving:
		wt.gone = true
	default:
		ws.remove(wt)
	}
}

// all lists the commands that wait.
func (ws *waiting) all() []*waiter {
	if ws.count.Load() == 0 {
		return nil
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return slices.Collect(maps.Values(ws.of))
}

// keysWaitedFor is how many keys somebody waits for.
func (ws *waiting) keysWaitedFor() int {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return len(ws.queues)
}

// withTimeout is how many commands wait for a limited time.
func (ws *waiting) withTimeout() int {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	n := 0
	for _, wt := range ws.of {
		if wt.wait.Millis > 0 {
			n++
		}
	}
	return n
}

// block makes the command that has just run wait; its keys are locked.
func (w *Worker) block(s *session.Session, spec *command.Spec, handler engine.Handler, args [][]byte, wait engine.Wait) {
	wt := &waiter{
		s: s, account: s.Account(), spec: spec, handler: handler, db: s.DB, proto: s.W.Proto, noTouch: w.ctx.NoTouch,
		replica: s.ReadOnly && spec.Flags&command.FlagReadonly != 0, wait: wait, slots: slices.Clone(w.slots), args: make([][]byte, len(args)),
	}
	for i, a := range args {
		wt.args[i] = slices.Clone(a)
	}
	wt.wait.Keys = make([][]byte, len(wait.Keys))
	for i, k := range wait.Keys {
		wt.wait.Keys[i] = slices.Clone(k)
	}
	until := int64(0)
	if wait.Millis > 0 {
		until = w.srv.now().Mono + min(wait.Millis, pauseMax)*1e6
	}
	s.Block(until)
	w.srv.waiting.add(wt)
	w.srv.turnAway(wt) // a new map may have come since the command was let in
}

// GiveUp implements [session.Executor].
func (w *Worker) GiveUp(s *session.Session) bool {
	wt := w.srv.waiting.giveUp(s)
	if wt == nil {
		return false
	}
	wt.wait.GiveUp(&s.W)
	return true
}

// clientUnblock is CLIENT UNBLOCK id [TIMEOUT|ERROR]. Connections that CLIENT
// PAUSE holds back do not count.
func clientUnblock(w *Worker, s *session.Session, args [][]byte) {
	id, ok := resp.ParseInt(args[2])
	failing := len(args) == 4 && command.IsToken(args[3], "ERROR")
	switch {
	case len(args) > 4:
		s.W.Error(reply.UnknownSubcommandOrArgs("CLIENT", args[1]))
		return
	case len(args) == 4 && !failing && !command.IsToken(args[3], "TIMEOUT"):
		s.W.Error(reply.UnblockReason)
		return
	case !ok:
		s.W.Error(reply.NotInteger)
		return
	}
	other := w.srv.registry.Find(uint64(id))
	if id <= 0 || other == nil {
		s.W.Int(0)
		return
	}
	wt := w.srv.waiting.giveUp(other)
	if wt == nil {
		s.W.Int(0)
		return
	}
	out := resp.Writer{Proto: wt.proto}
	if failing {
		out.Error(reply.Unblocked)
	} else {
		wt.wait.GiveUp(&out)
	}
	other.Answer(out, nil)
	s.W.Int(1)
}

// served is a reply to a command that waited, on its way.
type served struct {
	s     *session.Session
	reply resp.Writer
}

// serveReady serves those who wait for the keys that the running command, or
// transaction, has changed: under its locks, so that nobody comes between. Whoever
// needs other locks is left for serveLater.
func (w *Worker) serveReady() {
	for i := 0; i < len(w.ready); i++ { // serving may change more keys
		if !w.serveQueue(w.ready[i]) {
			w.later = append(w.later, w.ready[i])
		}
	}
	w.ready = w.ready[:0]
}

// serveQueue serves those who wait for a key, in order; false when one of them
// needs other locks.
func (w *Worker) serveQueue(k queueKey) bool {
	for {
		wt := w.srv.waiting.claim(k)
		if wt == nil {
			return true
		}
		if !w.ctx.Covers(wt.slots) {
			w.unclaim(wt)
			return false
		}
		if !w.serve(wt) {
			return true // and nothing for those behind it
		}
	}
}

func (w *Worker) unclaim(wt *waiter) {
	if w.srv.waiting.unclaim(wt) {
		for _, p := range wt.places {
			w.later = append(w.later, p.key)
		}
	}
	w.srv.turnAway(wt) // while it was claimed nobody else could
}

// serve calls the handler of a claimed waiter, whose keys are locked; false when
// it goes on waiting.
func (w *Worker) serve(wt *waiter) bool {
	c := &w.ctx
	out := resp.Writer{Proto: wt.proto}
	if out.B = w.srv.strayed(wt); out.B != nil || !w.permittedToWaiter(wt, &out) {
		w.srv.waiting.served(wt)
		w.answers = append(w.answers, served{wt.s, out})
		return true
	}
	writer, db, name, noTouch := c.W, c.DB, c.Name, c.NoTouch
	c.W, c.DB, c.Name, c.NoTouch, c.Serving = &out, wt.db, wt.spec.Name, wt.noTouch, true
	wt.handler(c, wt.args)
	c.W, c.DB, c.Name, c.NoTouch, c.Serving = writer, db, name, noTouch, false
	if _, blocked := c.TakeBlocked(); blocked {
		w.unclaim(wt)
		return false
	}
	w.srv.waiting.served(wt)
	w.answers = append(w.answers, served{wt.s, out})
	return true
}

// answer gives the replies of those that were served, after the locks were given
// back, to their sessions.
func (w *Worker) answer() {
	for _, a := range w.answers {
		a.s.Answer(a.reply, slices.Clone(w.ctx.PeekPositions()))
	}
	clear(w.answers)
	w.answers = w.answers[:0]
}

// serveOthers finishes what serveReady began, when the locks were given back.
func (w *Worker) serveOthers() {
	w.answer()
	for len(w.later) > 0 {
		k := w.later[0]
		w.later = w.later[1:]
		for w.serveFirst(k) {
		}
	}
	w.later = nil
}

// serveFirst locks the keys of the first command that waits for a key and looks
// again; false when there is none, or nothing for it.
func (w *Worker) serveFirst(k queueKey) bool {
	wt := w.srv.waiting.claim(k)
	if wt == nil {
		return false
	}
	w.ctx.DB = wt.db
	w.ctx.LockSlots(wt.slots)
	if w.ctx.Gate()&^shard.GateDisk != 0 { // what was pushed may still be taken
		w.unclaim(wt)
		w.ctx.Unlock()
		return false
	}
	ok := w.serve(wt)
	w.serveReady()
	w.ctx.Unlock()
	w.answer()
	return ok
}
