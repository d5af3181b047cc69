package shard

import "github.com/bowline-kv/bowline/internal/store"

// Peek is [Tx.Inspect] that does not report a missing key to those who listen.
func (tx *Tx) Peek(name []byte) (e store.Entry, ok bool) {
	k := tx.key(name)
	ok = tx.find(k, &e)
	if stats := &tx.stripe(k.Slot).stats; ok {
		stats.Hits++
	} else {
		stats.Misses++
	}
	return e, ok
}

// Memory gives the settings of memory in force.
func (sp *Space) Memory() Memory { return *sp.memory.Load() }

// CountsUses says whether the policy keeps how often keys are used, and not when.
func (m *Memory) CountsUses() bool { return m.Policy.often() }

// SharesNumbers says whether Redis with these settings lets keys share the values
// of small numbers: a policy that looks at single uses forbids it.
func (m *Memory) SharesNumbers() bool {
	return m.Limit == 0 || m.Policy != AllKeysLRU && m.Policy != VolatileLRU && !m.Policy.often()
}

// IdleSeconds is for how long the key of an entry was not used. It means nothing
// when [Memory.CountsUses].
func (m *Memory) IdleSeconds(e store.Entry, now int64) int64 { return idleSeconds(e.Access, now) }

// Uses is the logarithmic count of the uses of an entry's key, 0..255, with what
// it lost by now (unix milliseconds). It means nothing unless [Memory.CountsUses].
func (m *Memory) Uses(e store.Entry, now int64) int64 { return int64(m.counter(e.Access, now)) }

// Again gives a fresh view of a key that the same command has found before: the
// views that it got die when it changes anything, and the lookup of another key
// may delete that. It counts nothing and expires nothing.
func (tx *Tx) Again(name []byte) (store.Entry, bool) {
	k := tx.key(name)
	t := tx.table(k.Slot)
	if t == nil {
		return store.Entry{}, false
	}
	e, ok := t.Get(*k)
	return e, ok && !e.Expired(tx.Now)
}
