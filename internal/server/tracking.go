package server

import (
	"bytes"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/resp"
)

// tracking remembers which connection has read which keys, and which want to be
// told of all changes of keys with a prefix. Like Redis's it knows keys by name
// alone, whatever their database.
//
// A read is remembered under the lock of the key's stripe, and a change looks
// for who has read the key under that lock too: so either the reader sees the
// new value, or it is told. The locks of this table come inside those of the
// key space.
type tracking struct {
	clients  atomic.Int64 // connections that track, to pass over quickly when there are none
	keys     atomic.Int64
	items    atomic.Int64 // pairs of a key and a connection
	prefixes atomic.Int64

	seed  maphash.Seed
	parts [trackingParts]trackingPart

	mu       sync.RWMutex
	byPrefix map[string]map[*session.Session]struct{} // guarded by mu
}

// trackingParts spreads the keys over locks.
const trackingParts = 32

type trackingPart struct {
	mu      sync.Mutex
	readers map[string][]uint64 // connections that have read a key; guarded by mu
}

func newTracking() *tracking {
	return &tracking{seed: maphash.MakeSeed(), byPrefix: map[string]map[*session.Session]struct{}{}}
}

// on says whether any connection tracks.
func (t *tracking) on() bool { return t.clients.Load() > 0 }

func (t *tracking) part(key []byte) *trackingPart {
	return &t.parts[maphash.Bytes(t.seed, key)%trackingParts]
}

// remember notes that a connection has read a key; the key's stripe is locked.
// Above the limit (keys; 0: none) another key is forgotten: it and its readers
// are returned.
func (t *tracking) remember(id uint64, key []byte, limit int64) (forgotten []byte, readers []uint64) {
	p := t.part(key)
	p.mu.Lock()
	defer p.mu.Unlock()
	ids, known := p.readers[string(key)]
	if slices.Contains(ids, id) {
		return nil, nil
	}
	if !known && limit > 0 && t.keys.Load() >= limit {
		forgotten, readers = t.forgetAny(p)
	}
	if p.readers == nil {
		p.readers = map[string][]uint64{}
	}
	p.readers[string(key)] = append(ids, id)
	t.items.Add(1)
	if !known {
		t.keys.Add(1)
	}
	return forgotten, readers
}

// forgetAny takes some key out of a locked part.
func (t *tracking) forgetAny(p *trackingPart) ([]byte, []uint64) {
	for key, ids := range p.readers {
		t.drop(p, key, ids)
		return []byte(key), ids
	}
	return nil, nil
}

func (t *tracking) drop(p *trackingPart, key string, ids []uint64) {
	delete(p.readers, key)
	t.keys.Add(-1)
	t.items.Add(-int64(len(ids)))
}

// take forgets a key and returns who has read it.
func (t *tracking) take(key []byte) []uint64 {
	p := t.part(key)
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := p.readers[string(key)]
	if ids != nil {
		t.drop(p, string(key), ids)
	}
	return ids
}

// clear forgets all keys.
func (t *tracking) clear() {
	for i := range t.parts {
		p := &t.parts[i]
		p.mu.Lock()
		for key, ids := range p.readers {
			t.drop(p, key, ids)
		}
		p.readers = nil
		p.mu.Unlock()
	}
}

// set makes a connection track, or with nil no longer.
func (t *tracking) set(s *session.Session, next *session.Tracking) {
	old := s.Tracking()
	t.mu.Lock()
	if old != nil {
		for _, p := range old.Prefixes {
			delete(t.byPrefix[p], s)
			if len(t.byPrefix[p]) == 0 {
				delete(t.byPrefix, p)
			}
		}
	}
	if next != nil {
		for _, p := range next.Prefixes {
			if t.byPrefix[p] == nil {
				t.byPrefix[p] = map[*session.Session]struct{}{}
			}
			t.byPrefix[p][s] = struct{}{}
		}
	}
	t.prefixes.Store(int64(len(t.byPrefix)))
	t.mu.Unlock()
	s.SetTracking(next)
	switch {
	case old == nil && next != nil:
		t.clients.Add(1)
	case old != nil && next == nil:
		if t.clients.Add(-1) == 0 {
			t.clear()
		}
	}
}

// change is a key that was changed, for those who listen to its prefixes.
type change struct {
	key []byte
	by  *session.Session // whose command did it; nil: nobody's
}

// invalidations are what one worker has to tell at the end of a command or batch.
type invalidations struct {
	own     [][]byte // keys that the running client itself has read
	flushed bool     // everything was
	changes []change // for those who listen to prefixes
}

// changed is called for each changed key under the lock of its stripe, with the
// connection whose command did it, if any. What concerns that connection itself
// waits for the end of its command, and broadcasts for the end of its batch.
func (srv *Server) changed(key []byte, current *session.Session, byCommand bool, out *invalidations) {
	t := srv.tracking
	if t.prefixes.Load() > 0 {
		c := change{key: bytes.Clone(key)}
		if byCommand {
			c.by = current
		}
		out.changes = append(out.changes, c)
	}
	if t.keys.Load() > 0 {
		srv.invalidate(key, t.take(key), current, out)
	}
}

// invalidate tells the readers of a key.
func (srv *Server) invalidate(key []byte, readers []uint64, current *session.Session, out *invalidations) {
	for _, id := range readers {
		to := srv.registry.Find(id)
		if to == nil {
			continue
		}
		asked := to.Tracking()
		switch {
		case asked == nil, asked.Broadcast, asked.NoLoop && to == current:
		case to == current:
			out.own = append(out.own, bytes.Clone(key))
		default:
			srv.tell(to, asked, nil, [][]byte{key})
		}
	}
}

// tell sends an invalidation: the keys, or with none that everything is gone. To
// the connection whose command is running, current, it is written among the
// replies.
func (srv *Server) tell(to *session.Session, asked *session.Tracking, current *session.Session, keys [][]byte) {
	target := to
	if asked.Redirect != 0 {
		if target = srv.registry.Find(asked.Redirect); target == nil {
			to.BreakRedirect(asked)
			if to.ProtoSeen() < 3 {
				return
			}
			w := resp.Writer{Proto: 3}
			w.Push(2)
			w.BulkString("tracking-redir-broken")
			w.Int(int64(asked.Redirect))
			deliver(to, current, w.B)
			return
		}
	}
	w := resp.Writer{Proto: target.ProtoSeen()}
	switch {
	case w.Proto >= 3:
		w.Push(2)
		w.BulkString("invalidate")
	case asked.Redirect != 0 && target.Subscribed():
		w.Push(3)
		w.BulkString("message")
		w.BulkString("__redis__:invalidate")
	default:
		return // RESP2 has no place for it
	}
	if keys == nil {
		w.Null()
	} else {
		w.Array(len(keys))
	}
	for _, k := range keys {
		w.Bulk(k)
	}
	deliver(target, current, w.B)
}

func deliver(to, current *session.Session, message []byte) {
	if to == current {
		to.W.Raw(message)
		return
	}
	to.Deliver(message)
}

// tellFlushed tells every connection that tracks that everything is gone.
func (srv *Server) tellFlushed(current *session.Session) {
	for _, s := range srv.registry.All() {
		if asked := s.Tracking(); asked != nil {
			srv.tell(s, asked, current, nil)
		}
	}
}

// broadcast tells those who listen to prefixes: one message for each prefix and
// listener, with the keys in the order of the alphabet.
func (srv *Server) broadcast(changes []change, current *session.Session) {
	t := srv.tracking
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, prefix := range slices.Sorted(maps.Keys(t.byPrefix)) {
		latest := map[string]*session.Session{} // who changed a key last
		for _, c := range changes {
			if bytes.HasPrefix(c.key, []byte(prefix)) {
				latest[string(c.key)] = c.by
			}
		}
		names := slices.Sorted(maps.Keys(latest))
		for to := range t.byPrefix[prefix] {
			asked := to.Tracking()
			if asked == nil {
				continue
			}
			var keys [][]byte
			for _, name := range names {
				if !asked.NoLoop || latest[name] != to {
					keys = append(keys, []byte(name))
				}
			}
			if keys != nil {
				srv.tell(to, asked, current, keys)
			}
		}
	}
}

// rememberRead notes what the client's command has read: its keys, w.keys, whose
// stripes are locked.
func (w *Worker) rememberRead(s *session.Session, asked *session.Tracking) {
	caching := s.Mode&session.ModeCaching != 0
	if asked.Broadcast || asked.OptIn && !caching || asked.OptOut && caching {
		return
	}
	limit := w.srv.cfg.Int(config.TrackingTableMaxKeys)
	for i := range w.keys {
		forgotten, readers := w.srv.tracking.remember(s.ID, w.keys[i].Name, limit)
		if forgotten != nil {
			w.srv.invalidate(forgotten, readers, s, &w.invalid)
		}
	}
}

// tellOwn is called at the end of a command: the client that ran it hears of
// what it has changed itself behind its reply.
func (w *Worker) tellOwn(s *session.Session) {
	if w.invalid.flushed {
		w.invalid.flushed = false
		w.srv.tellFlushed(s)
	}
	if asked := s.Tracking(); asked != nil {
		for _, key := range w.invalid.own {
			w.srv.tell(s, asked, s, [][]byte{key})
		}
	}
	w.invalid.own = w.invalid.own[:0]
}

// tellOthers is called at the end of a batch.
func (w *Worker) tellOthers(s *session.Session) {
	w.srv.broadcast(w.invalid.changes, s)
	clear(w.invalid.changes)
	w.invalid.changes = w.invalid.changes[:0]
	if cap(w.invalid.changes) > changesKept {
		w.invalid.changes = nil
	}
}

// changesKept is how many changes a worker keeps room for between two batches.
const changesKept = 1024
