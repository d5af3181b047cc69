package shard

import (
	"github.com/bowline-kv/bowline/internal/ds/chain"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/slot"
)

// key computes a key's slot and hash, unless the caller did already. Handlers
// take their keys in the order of the arguments, and the very slices of these.
//
// It is valid until the next call. It is not a copy: reading many bytes at once that
// were written in pieces a moment ago makes the processor wait.
func (tx *Tx) key(name []byte) *store.Key {
	if n := len(tx.hints); n > 0 && len(name) > 0 {
		if sameSlice(tx.hints[tx.at].Name, name) {
			return &tx.hints[tx.at]
		}
		if next := (tx.at + 1) % n; sameSlice(tx.hints[next].Name, name) {
			tx.at = next
			return &tx.hints[next]
		}
	}
	tx.other = tx.space.Key(name)
	return &tx.other
}

// sameSlice says whether two slices, the second not empty, are the same bytes in
// memory.
func sameSlice(a, b []byte) bool { return len(a) == len(b) && &a[0] == &b[0] }

func (tx *Tx) stripe(s slot.ID) *stripe { return &tx.shardOf(s).stripes[stripeOf(s)] }

// table gives the table of a slot in the selected database, nil when nothing
// was ever written there.
func (tx *Tx) table(s slot.ID) *store.Table { return tx.stripe(s).tables[tx.DB] }

func (tx *Tx) tableForWrite(s slot.ID) *store.Table {
	st := tx.stripe(s)
	if st.tables[tx.DB] == nil {
		t := store.NewTable(tx.space.pool, tx.space.seed)
		t.KeepAccess(true)
		st.tables[tx.DB] = t
	}
	return st.tables[tx.DB]
}

// Lookup finds a key for a read and counts the hit or miss. A key whose time is
// over is not found; on the writer it is deleted on the way.
func (tx *Tx) Lookup(name []byte) (e store.Entry, ok bool) {
	k := tx.key(name)
	if ok = tx.find(k, &e); ok {
		tx.use(k, &e)
	}
	tx.count(k, ok)
	return e, ok
}

// Inspect is Lookup for commands that tell about a key and do not use it: they
// leave alone what eviction goes by.
func (tx *Tx) Inspect(name []byte) (e store.Entry, ok bool) {
	k := tx.key(name)
	ok = tx.find(k, &e)
	tx.count(k, ok)
	return e, ok
}

// use notes that a key was used.
func (tx *Tx) use(k *store.Key, e *store.Entry) {
	if tx.NoTouch {
		return
	}
	m := tx.space.memory.Load()
	random := uint64(0)
	if m.Policy.often() {
		random = tx.Random()
	}
	if access := m.used(e.Access, tx.Now, random); access != e.Access {
		tx.table(k.Slot).Touch(*e, access)
	}
}

// count counts a hit or miss.
func (tx *Tx) count(k *store.Key, hit bool) {
	stats := &tx.stripe(k.Slot).stats
	if hit {
		stats.Hits++
	} else {
		stats.Misses++
		tx.Notify(NotifyKeyMiss, "keymiss", k.Name)
	}
}

// Find is Lookup without the counting, for commands that are about to write.
func (tx *Tx) Find(name []byte) (e store.Entry, ok bool) {
	k := tx.key(name)
	if ok = tx.find(k, &e); ok {
		tx.use(k, &e)
		if e.Large() { // its body is changed in place
			tx.preserve(k)
		}
	}
	return e, ok
}

// find makes e, which is zero, the entry of a key; false when there is none, or its
// time is over.
func (tx *Tx) find(k *store.Key, e *store.Entry) bool {
	t := tx.table(k.Slot)
	if t == nil || !t.Find(k, e) {
		return false
	}
	if e.ExpireAt == 0 || e.ExpireAt > tx.Now {
		return true
	}
	// Only the writer of a group expires keys; a replica waits for the deletion.
	if tx.Gate()&gateKeeps == 0 {
		tx.expire(t, *k)
	}
	*e = store.Entry{}
	return false
}

// expire deletes a key whose time is over and says so to everyone concerned.
// The name may be the table's own, so that the deletion comes last.
func (tx *Tx) expire(t *store.Table, k store.Key) {
	tx.preserve(&k)
	tx.EmitDel(k.Name)
	tx.stripe(k.Slot).stats.Expired++
	tx.hooks.Touched(tx.DB, k.Name, CauseExpired)
	tx.Notify(NotifyExpired, "expired", k.Name)
	t.Delete(k)
}

// SetString makes a key a string; see [Tx.SetRecord].
func (tx *Tx) SetString(name, value []byte, expireAt int64) {
	tx.SetRecord(name, store.String, value, expireAt)
}

// SetRecord gives a key a value; see [store.Table.SetRecord]. value must not be
// a view into the same table.
func (tx *Tx) SetRecord(name []byte, typ store.Type, value []byte, expireAt int64) {
	k := tx.key(name)
	tx.preserve(k)
	t := tx.tableForWrite(k.Slot)
	t.Stamp(tx.space.memory.Load().fresh(tx.Now))
	before := t.Len()
	t.SetRecord(*k, typ, value, expireAt)
	if t.Len() != before {
		tx.Notify(NotifyNew, "new", name)
	}
	tx.touched(name)
}

// SetFound gives a key, which the caller has just found to be a string, a new
// value and keeps its expiry time. value must not be a view into the same table.
func (tx *Tx) SetFound(name []byte, e *store.Entry, value []byte) {
	k := tx.key(name)
	tx.preserve(k)
	if t := tx.table(k.Slot); !t.Overwrite(e, value) {
		t.SetRecord(*k, store.String, value, e.ExpireAt)
	}
	tx.touched(name)
}

// Put gives a key a value of any type; see [store.Table.Put], whose rules for
// views hold here.
func (tx *Tx) Put(name []byte, n *store.Content) {
	k := tx.key(name)
	tx.preserve(k)
	t := tx.tableForWrite(k.Slot)
	t.Stamp(tx.space.memory.Load().fresh(tx.Now))
	before := t.Len()
	t.Put(*k, n)
	if t.Len() != before {
		tx.Notify(NotifyNew, "new", name)
	}
	tx.touched(name)
}

// Replace is Put for a key that the caller has just found, which keeps its type and
// expiry time; false, with nothing done, when that is not possible in place: see
// [store.Table.Overwrite]. packed must not be a view into the same table.
func (tx *Tx) Replace(name []byte, e *store.Entry, packed []byte) bool {
	k := tx.key(name)
	tx.preserve(k)
	if !tx.table(k.Slot).Overwrite(e, packed) {
		return false
	}
	tx.touched(name)
	return true
}

// Room gives the packed value of a collection that was just found, to be changed
// in place; see [store.Table.Room]. [Tx.Replace] must follow, or Delete.
func (tx *Tx) Room(name []byte, e *store.Entry) []byte {
	k := tx.key(name)
	tx.preserve(k)
	return tx.table(k.Slot).Room(e)
}

// NewList, NewSorted and NewBody make the empty body of a collection for a key;
// see [Tx.Put].
func (tx *Tx) NewList(name []byte, limit chain.Limit) *store.Body {
	return tx.tableForWrite(tx.key(name).Slot).NewList(limit)
}

// NewSorted: see [Tx.NewList].
func (tx *Tx) NewSorted(name []byte) *store.Body {
	return tx.tableForWrite(tx.key(name).Slot).NewSorted()
}

// NewBody: see [Tx.NewList].
func (tx *Tx) NewBody(name []byte) *store.Body { return tx.tableForWrite(tx.key(name).Slot).NewBody() }

// Body gives the body of an entry that is Large, which was found under a key. It
// is valid under the lock, as long as the key has it.
func (tx *Tx) Body(name []byte, e *store.Entry) *store.Body {
	return tx.table(tx.key(name).Slot).Body(e)
}

// Changed says that the body of a key was changed in place.
func (tx *Tx) Changed(name []byte, b *store.Body) {
	k := tx.key(name)
	tx.table(k.Slot).Account(k.Slot, b)
	tx.touched(name)
}

// WakeAt is [store.Table.WakeAt] of an entry that was found under a key.
func (tx *Tx) WakeAt(name []byte, e *store.Entry) int64 {
	return tx.table(tx.key(name).Slot).WakeAt(e)
}

// ChangedFields is Changed for a hash with fields that expire, the first of them at
// wakeAt.
func (tx *Tx) ChangedFields(name []byte, b *store.Body, wakeAt int64) {
	k := tx.key(name)
	tx.table(k.Slot).Wake(*k, wakeAt)
	tx.Changed(name, b)
}

// Pin keeps a large value that a lookup has just found beyond the lock; false
// when it is short and must be copied.
func (tx *Tx) Pin(name []byte, e store.Entry) (store.Pinned, bool) {
	return tx.table(tx.key(name).Slot).Pin(e)
}

// Append adds to an existing string and returns its new length.
func (tx *Tx) Append(name, suffix []byte) int {
	k := tx.key(name)
	tx.preserve(k)
	n := tx.table(k.Slot).Append(*k, suffix)
	tx.touched(name)
	return n
}

// SetExpiry changes when an existing key expires (unix milliseconds, 0: never);
// false when there is no such key.
func (tx *Tx) SetExpiry(name []byte, expireAt int64) bool {
	k := tx.key(name)
	tx.preserve(k)
	t := tx.table(k.Slot)
	if t == nil || !t.SetExpiry(*k, expireAt) {
		return false
	}
	tx.touched(name)
	return true
}

// Delete removes a key; false when there is none.
func (tx *Tx) Delete(name []byte) bool {
	k := tx.key(name)
	tx.preserve(k)
	t := tx.table(k.Slot)
	if t == nil || !t.Delete(*k) {
		return false
	}
	tx.touched(name)
	return true
}

func (tx *Tx) touched(name []byte) { tx.hooks.Touched(tx.DB, name, CauseCommand) }

// FlushDB empties the selected database. Everything must be locked, or one shard
// by [Tx.LockShard].
func (tx *Tx) FlushDB() { tx.flush(tx.DB) }

// FlushAll empties every database. For locks see FlushDB.
func (tx *Tx) FlushAll() {
	for db := range tx.space.databases {
		tx.flush(db)
	}
}

func (tx *Tx) flush(db int) {
	if !tx.all && tx.mask != ^uint64(0) {
		panic("BUG: flush without all locks")
	}
	for _, sh := range tx.space.shards {
		if !tx.all && sh != tx.shard {
			continue
		}
		for i := range sh.stripes {
			if t := sh.stripes[i].tables[db]; t != nil {
				if !sh.stripes[i].capture.release(db) {
					tx.space.drop(t)
				}
				sh.stripes[i].tables[db] = nil
			}
		}
	}
	tx.hooks.Touched(db, nil, CauseFlushed)
}

// Each visits every key of the selected database whose time is not over.
// Everything must be locked.
func (tx *Tx) Each(visit func(key []byte, e store.Entry)) {
	for _, sh := range tx.space.shards {
		for i := range sh.stripes {
			if t := sh.stripes[i].tables[tx.DB]; t != nil {
				t.Each(func(k store.Key, e store.Entry) {
					if !e.Expired(tx.Now) {
						visit(k.Name, e)
					}
				})
			}
		}
	}
}

// Len is the number of keys of the selected database. Everything must be locked.
func (tx *Tx) Len() int {
	n := 0
	for _, sh := range tx.space.shards {
		for i := range sh.stripes {
			if t := sh.stripes[i].tables[tx.DB]; t != nil {
				n += t.Len()
			}
		}
	}
	return n
}
