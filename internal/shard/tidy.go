package shard

import (
	"sync"

	"github.com/bowline-kv/bowline/internal/store"
)

// droppedTables are the contents of databases that were emptied, whose memory
// waits to be given back.
type droppedTables struct {
	mu   sync.Mutex
	list []*store.Dropped // guarded by mu
}

func (d *droppedTables) add(t *store.Dropped) {
	d.mu.Lock()
	d.list = append(d.list, t)
	d.mu.Unlock()
}

// drop empties a table that nobody has any more. A snapshot in progress may be reading
// collections that were moved into it.
func (sp *Space) drop(t *store.Table) {
	if s := sp.snapshot.Load(); s == nil || !s.hold(t) {
		sp.dropped.add(t.Release())
	}
}

// step gives back about budget runs of pages; more says that some are left.
func (d *droppedTables) step(budget int) (more bool) {
	d.mu.Lock()
	if len(d.list) == 0 {
		d.mu.Unlock()
		return false
	}
	t := d.list[len(d.list)-1]
	d.mu.Unlock()
	if t.Step(budget) {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.list {
		if d.list[i] == t {
			d.list = append(d.list[:i], d.list[i+1:]...)
			break
		}
	}
	return len(d.list) > 0
}

// largeBytes is about what the caches that belong to one core hold.
const largeBytes = 16 << 20

// Tidy does background work on the memory of the space: what was emptied is
// given back, mostly empty pages are moved together, and free ones return to the
// system. Under each stripe's lock it does about budget records of it (100 take
// some 10 us). more says that it should be called again soon. One goroutine at a
// time may call it, with a Tx that is not locked.
func (tx *Tx) Tidy(budget int) (more bool) {
	tx.space.large.Store(tx.space.pool.Stats().InUse > largeBytes)
	more = tx.space.dropped.step(16 * budget)
	tx.eachStripe(func(st *stripe) {
		for _, t := range st.tables {
			if t != nil && t.Step(budget) {
				more = true
			}
		}
	})
	return tx.space.pool.Trim() > 0 || more
}
