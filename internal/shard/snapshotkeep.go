package shard

import (
	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
)

// capture is what a snapshot in progress has still to get of one stripe. Guarded
// by the stripe's lock.
type capture struct {
	snapshot *Snapshot
	parts    []*part // by database, as tables are; nil: nothing is missing
}

// next gives a part to go on with; nil: none.
func (c *capture) next() *part {
	for _, p := range c.parts {
		if p != nil {
			return p
		}
	}
	return nil
}

// forget drops a part that is done, and says whether it was the last one.
func (c *capture) forget(done *part) (empty bool) {
	empty = true
	for i, p := range c.parts {
		if p == done {
			c.parts[i] = nil
		}
		empty = empty && c.parts[i] == nil
	}
	return empty
}

// part is one table, at the cut of a database, on its way into a snapshot.
type part struct {
	db    int // at the cut
	table *store.Table
	at    store.Place
	// ahead are the keys behind the place that are done: they were handed over or
	// opened, or have come after the cut. nil: none.
	ahead *store.Table
}

// preserve hands a key over to a snapshot in progress, if it is still missing there:
// before any change of the key. The key's stripe is locked.
func (tx *Tx) preserve(k *store.Key) {
	if c := tx.stripe(k.Slot).capture; c != nil {
		c.preserve(tx.DB, k)
	}
}

func (c *capture) preserve(db int, k *store.Key) {
	p := c.parts[db]
	if p == nil || p.at.Passed(k) {
		return
	}
	if p.ahead == nil {
		p.ahead = store.NewTable(c.snapshot.space.pool, c.snapshot.space.seed)
	}
	if !p.ahead.Add(*k, store.String, nil) {
		return
	}
	s := c.snapshot
	e, ok := p.table.Get(*k)
	if !ok || s.open(p, k, &e) {
		return
	}
	s.mu.Lock()
	before := s.kept.size
	s.encode(p, &s.kept, k, &e)
	s.noteHanded(s.kept.size - before)
	s.mu.Unlock()
}

// noteHanded counts what a command handed over.
func (s *Snapshot) noteHanded(bytes int) {
	s.handed.Add(int64(bytes))
	s.waiting.Add(int64(bytes))
}

// stepGroups bounds a step where most keys were handed over before: it is some
// thousand keys.
const stepGroups = 100

// walk adds the next keys to out, until one is opened.
func (p *part) walk(s *Snapshot, out *pieces) {
	end, groups, opens := out.size+s.stepBytes, 0, false
	p.table.WalkOnce(&p.at, func(k store.Key, e store.Entry) {
		switch {
		case p.ahead != nil && p.ahead.Has(k):
		case s.open(p, &k, &e):
			opens = true
		default:
			s.encode(p, out, &k, &e)
		}
	}, func() bool {
		groups++
		return out.size >= end || out.keys >= stepKeys || opens || groups > stepGroups
	})
}

// drop gives back what was only for the walk.
func (p *part) drop() {
	if p != nil && p.ahead != nil {
		p.ahead.Clear()
		p.ahead = nil
	}
}

// encode adds a key and its value to out. A long string is not copied.
func (s *Snapshot) encode(p *part, out *pieces, k *store.Key, e *store.Entry) {
	if e.Type == store.String && len(e.Value) >= store.PinnedMin {
		if v, ok := p.table.Pin(*e); ok {
			n := s.key(k, e)
			out.add(p.db, 1, func(dst []byte) []byte { return rdb.AppendKey(dst, &n, rdb.TypeString) })
			out.pin(p.db, v)
			return
		}
	}
	var body *store.Body
	if e.Large() {
		body = p.table.Body(e)
	}
	out.add(p.db, 1, func(dst []byte) []byte {
		n := s.key(k, e)
		dst = rdb.AppendKeyTimes(dst, &n)
		// The type stands before the key, and is known with the value.
		at := len(dst)
		dst = rdb.AppendString(append(dst, 0), k.Name, false)
		t, dst := value.AppendRDB(dst, e, body, s.o.Compress)
		dst[at] = byte(t)
		return dst
	})
}

// key is what is written of a key besides its value.
func (s *Snapshot) key(k *store.Key, e *store.Entry) rdb.Key {
	n := rdb.Key{Name: k.Name, ExpireAt: e.ExpireAt, IdleSeconds: -1, Freq: -1}
	switch m := &s.memory; {
	case m.Policy.often():
		n.Freq = int(m.counter(e.Access, s.o.Now))
	case m.Policy == AllKeysLRU || m.Policy == VolatileLRU:
		n.IdleSeconds = idleSeconds(e.Access, s.o.Now)
	}
	return n
}

// swap follows a swap of databases. Everything is locked.
func (c *capture) swap(a, b int) {
	if c != nil {
		c.parts[a], c.parts[b] = c.parts[b], c.parts[a]
	}
}

// release gives the table of a database that is emptied to the snapshot; false
// when that has no need of it. Everything is locked.
func (c *capture) release(db int) bool {
	if c == nil || c.parts[db] == nil {
		return false
	}
	p := c.parts[db]
	c.parts[db] = nil
	c.snapshot.mu.Lock()
	c.snapshot.released = append(c.snapshot.released, p)
	c.snapshot.mu.Unlock()
	return true
}
