package server

import "github.com/bowline-kv/bowline/internal/session"

// Swapped implements [shard.SwapHooks]. Watchers of a key that existed were
// marked by Touched; a key that did not may be there now.
func (h *hooks) Swapped(a, b int, exists func(db int, key []byte) bool) {
	h.watches.swapped(a, b, exists)
}

func (w *watches) swapped(a, b int, exists func(db int, key []byte) bool) {
	if w.keys.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, sessions := range w.byKey {
		if key.db != a && key.db != b {
			continue
		}
		name := []byte(key.name)
		if exists(a, name) || exists(b, name) {
			markDirty(sessions)
		}
	}
}

func markDirty(sessions map[*session.Session]bool) {
	for s := range sessions {
		s.Watch.Dirty.Store(true)
	}
}
