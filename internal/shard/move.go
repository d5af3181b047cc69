package shard

import "github.com/bowline-kv/bowline/internal/store"

// FindIn is [Tx.Find] in another database: the locks of a key are those of its
// slot in all of them.
func (tx *Tx) FindIn(db int, name []byte) (store.Entry, bool) {
	defer tx.selected(tx.DB)
	tx.DB = db
	return tx.Find(name)
}

// NotifyIn is [Tx.Notify] for a key of another database.
func (tx *Tx) NotifyIn(db int, class NotifyClass, event string, key []byte) {
	tx.space.hooks.Notify(db, class, event, key)
}

func (tx *Tx) selected(db int) { tx.DB = db }

// CopyRecord copies the value at src, with its type and expiry times, to dst in
// database db, whatever was there; false when there is no src. The two must not
// be the same key. Finding src and dst before is the caller's work, who also
// emits: here no key expires.
func (tx *Tx) CopyRecord(src []byte, db int, dst []byte) bool {
	return tx.transfer(src, db, dst, false)
}

// MoveRecord is CopyRecord that leaves nothing at src. A large collection is not
// copied for it.
func (tx *Tx) MoveRecord(src []byte, db int, dst []byte) bool {
	if !tx.transfer(src, db, dst, true) {
		return false
	}
	k := tx.key(src)
	tx.table(k.Slot).Delete(*k) // unless that was done
	tx.touched(src)
	return true
}

func (tx *Tx) transfer(src []byte, db int, dst []byte, moves bool) bool {
	from := *tx.key(src)
	to := *tx.key(dst)
	source := tx.table(from.Slot)
	if source == nil {
		return false
	}
	e, ok := source.Get(from)
	if !ok {
		return false
	}
	defer tx.selected(tx.DB)
	if moves {
		tx.preserve(&from)
	}
	tx.DB = db
	tx.preserve(&to)
	target := tx.tableForWrite(to.Slot)
	n := store.Content{Type: e.Type, Value: e.Value, ExpireAt: e.ExpireAt, WakeAt: source.WakeAt(&e)}
	raw := e.Raw && e.Type == store.String
	switch {
	case e.Large() && moves:
		n.Body = source.Detach(from)
	case e.Large():
		n.Body = target.Clone(source.Body(&e))
	case target == source:
		// A table must not be given views of itself: changing it moves what is in it.
		tx.moved = append(tx.moved[:0], e.Value...)
		n.Value = tx.moved
	}
	// Deleted, not overwritten: who listens hears of a new key, as from Redis.
	target.Delete(to)
	tx.Put(dst, &n)
	if raw {
		target.Patch(to, 0, nil)
	}
	if cap(tx.moved) > effectsKept {
		tx.moved = nil
	}
	return true
}

// SwapHooks is what [Hooks] implement too if they must know which keys are
// concerned when two databases change places.
type SwapHooks interface {
	// Swapped is called after a swap under all locks. exists tells whether a key is
	// in a database; it may be called until Swapped returns.
	Swapped(a, b int, exists func(db int, key []byte) bool)
}

// SwapDB exchanges the contents of two databases. Everything must be locked.
func (tx *Tx) SwapDB(a, b int) {
	if !tx.all {
		panic("BUG: swap of databases without all locks")
	}
	if a == b {
		return
	}
	for _, sh := range tx.space.shards {
		for i := range sh.stripes {
			t := sh.stripes[i].tables
			t[a], t[b] = t[b], t[a]
			sh.stripes[i].capture.swap(a, b)
		}
	}
	tx.space.candidates.clear()
	tx.hooks.Touched(a, nil, CauseSwapped)
	tx.hooks.Touched(b, nil, CauseSwapped)
	if h, ok := tx.hooks.(SwapHooks); ok {
		h.Swapped(a, b, tx.existsIn)
	}
}

func (tx *Tx) existsIn(db int, name []byte) bool {
	k := tx.space.Key(name)
	t := tx.stripe(k.Slot).tables[db]
	if t == nil {
		return false
	}
	e, ok := t.Get(k)
	return ok && !e.Expired(tx.Now)
}

// randomTries bounds the search for a key whose time is not over where keys are
// not deleted on the way.
const randomTries = 100

// RandomKey gives a key of the selected database, chosen evenly; false when it is
// empty. Everything must be locked. The name is a view, valid until the Tx
// changes something.
func (tx *Tx) RandomKey() ([]byte, bool) {
	for range randomTries {
		t, ok := tx.randomTable()
		if !ok {
			return nil, false
		}
		k, _ := t.RandomKey(tx.Random())
		if e, _ := t.Get(k); !e.Expired(tx.Now) {
			return k.Name, true
		}
		if tx.Gate()&gateKeeps == 0 {
			tx.expire(t, k)
		}
	}
	// Nearly all of them are over. Any other one will do.
	var found []byte
	tx.Each(func(key []byte, _ store.Entry) { found = key })
	return found, found != nil
}

// randomTable chooses a table of the selected database by the number of its keys.
func (tx *Tx) randomTable() (*store.Table, bool) {
	n := tx.Len()
	if n == 0 {
		return nil, false
	}
	at := int(tx.Random() % uint64(n))
	for _, sh := range tx.space.shards {
		for i := range sh.stripes {
			if t := sh.stripes[i].tables[tx.DB]; t != nil {
				if at -= t.Len(); at < 0 {
					return t, true
				}
			}
		}
	}
	return nil, false
}
