package shard

import (
	"github.com/bowline-kv/bowline/internal/page"
	"github.com/bowline-kv/bowline/internal/store"
)

// Size is the memory in bytes that a key takes, its share of the index included;
// false when there is no such key. The key must be locked.
func (tx *Tx) Size(name []byte) (bytes int64, ok bool) {
	k := tx.key(name)
	var e store.Entry
	if !tx.find(k, &e) {
		return 0, false
	}
	return tx.table(k.Slot).Size(*k), true
}

// Dropped is how many emptied tables wait for their memory to be given back.
func (sp *Space) Dropped() int {
	sp.dropped.mu.Lock()
	defer sp.dropped.mu.Unlock()
	return len(sp.dropped.list)
}

// PoolStats counts the pages that keys, values and their index live in.
func (sp *Space) PoolStats() page.Stats { return sp.pool.Stats() }
