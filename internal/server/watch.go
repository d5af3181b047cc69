package server

import (
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/session"
)

// watches knows who watches which key. A change of a key marks its watchers
// under the key's stripe lock, so that EXEC, which holds that lock too, either
// sees the mark or comes before the change.
type watches struct {
	keys atomic.Int64 // watched keys, to pass over quickly when there are none

	mu    sync.Mutex
	byKey map[watchKey]map[*session.Session]bool // whether the key existed; guarded by mu
}

type watchKey struct {
	db   int
	name string
}

// add makes a session watch a key; the key's stripe is locked.
func (w *watches) add(s *session.Session, db int, name []byte, existed bool) {
	for _, k := range s.Watch.Keys {
		if k.DB == db && k.Name == string(name) {
			return
		}
	}
	key := watchKey{db, string(name)}
	s.Watch.Keys = append(s.Watch.Keys, session.WatchedKey{DB: db, Name: key.name, Existed: existed})
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byKey == nil {
		w.byKey = map[watchKey]map[*session.Session]bool{}
	}
	if w.byKey[key] == nil {
		w.byKey[key] = map[*session.Session]bool{}
	}
	w.byKey[key][s] = existed
	w.keys.Add(1)
	s.SetWatched(len(s.Watch.Keys))
}

// clear makes a session watch nothing.
func (w *watches) clear(s *session.Session) {
	if len(s.Watch.Keys) > 0 {
		w.mu.Lock()
		for _, k := range s.Watch.Keys {
			key := watchKey{k.DB, k.Name}
			delete(w.byKey[key], s)
			if len(w.byKey[key]) == 0 {
				delete(w.byKey, key)
			}
			w.keys.Add(-1)
		}
		w.mu.Unlock()
		s.Watch.Keys = nil
		s.SetWatched(0)
	}
	s.Watch.Dirty.Store(false)
}

// distinct is the number of keys that somebody watches.
func (w *watches) distinct() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.byKey)
}

// clients is the number of sessions that watch something.
func (w *watches) clients() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[*session.Session]bool{}
	for _, sessions := range w.byKey {
		for s := range sessions {
			all[s] = true
		}
	}
	return len(all)
}

// touched marks the watchers of a key, or with a nil key those of every key of
// the database that existed: emptying a database does not change the others.
func (w *watches) touched(db int, name []byte) {
	if w.keys.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if name != nil {
		for s := range w.byKey[watchKey{db, string(name)}] {
			s.Watch.Dirty.Store(true)
		}
		return
	}
	for key, sessions := range w.byKey {
		if key.db != db {
			continue
		}
		for s, existed := range sessions {
			if existed {
				s.Watch.Dirty.Store(true)
			}
		}
	}
}
