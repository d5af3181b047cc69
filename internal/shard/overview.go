package shard

import "github.com/bowline-kv/bowline/slot"

// Usage describes one database.
type Usage struct {
	Keys     int   // keys, expired ones that are still there included
	Expiring int   // keys with an expiry time
	Bytes    int64 // memory of keys and values
	// Footprint is the memory of all pages: of keys, values and the index, with what
	// is free in them.
	Footprint int64
}

// Overview is a count of a whole key space.
type Overview struct {
	Stats     Stats
	Databases []Usage // by number
}

// Bytes is the memory of all keys and values.
func (o *Overview) Bytes() int64 {
	n := int64(0)
	for _, u := range o.Databases {
		n += u.Bytes
	}
	return n
}

// eachStripe visits every stripe under its lock, one at a time: what is gathered
// is of no single moment, unless a held Tx has locked everything.
func (tx *Tx) eachStripe(f func(st *stripe)) {
	for _, sh := range tx.space.shards {
		for i := range sh.stripes {
			tx.visit(sh, i)
			f(&sh.stripes[i])
			tx.Unlock()
		}
	}
}

// Overview counts all stripes. The Tx must not be locked, or be held with
// everything locked.
func (tx *Tx) Overview() *Overview {
	o := &Overview{Databases: make([]Usage, tx.space.databases)}
	tx.eachStripe(func(st *stripe) {
		o.Stats.Hits += st.stats.Hits
		o.Stats.Misses += st.stats.Misses
		o.Stats.Expired += st.stats.Expired
		o.Stats.Fields += st.stats.Fields
		o.Stats.Evicted += st.stats.Evicted
		o.Stats.Changes += st.stats.Changes
		for db, t := range st.tables {
			if t != nil {
				u := &o.Databases[db]
				u.Keys += t.Len()
				u.Expiring += t.Expiring()
				u.Bytes += t.Bytes()
				u.Footprint += t.Footprint()
			}
		}
	})
	return o
}

// ResetStats sets the counters that CONFIG RESETSTAT resets to zero. For locks
// see [Tx.Overview].
func (tx *Tx) ResetStats() {
	tx.eachStripe(func(st *stripe) { st.stats = Stats{Changes: st.stats.Changes} })
}

// SlotLen is the number of keys that a slot holds in the selected database. For
// locks see [Tx.Overview].
func (tx *Tx) SlotLen(s slot.ID) int {
	tx.visit(tx.space.ShardOf(s), stripeOf(s))
	defer tx.Unlock()
	if t := tx.table(s); t != nil {
		return t.SlotLen(s)
	}
	return 0
}

// SlotBytes is the memory in bytes of the keys and values of a slot in the
// selected database. For locks see [Tx.Overview].
func (tx *Tx) SlotBytes(s slot.ID) int64 {
	tx.visit(tx.space.ShardOf(s), stripeOf(s))
	defer tx.Unlock()
	if t := tx.table(s); t != nil {
		return t.SlotBytes(s)
	}
	return 0
}
