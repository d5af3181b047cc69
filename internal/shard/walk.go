package shard

import (
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/slot"
)

// A scan cursor names where a walk over a whole database continues. Shard after
// shard is visited, and inside one slot after slot in the order of the stripes,
// so that a call takes few locks:
//
//	bits 20..52  store.Cursor inside the slot
//	bits 14..19  shard
//	bits  0..13  visiting number: stripe*256 + the slot's place in its stripe
//
// 0 is both the start and the end. 53 bits are what every client can carry.
const (
	visitBits = 14
	shardBits = 6
)

// ShardsMax is the largest number of shards of a node.
const ShardsMax = 1 << shardBits

func visitNumber(s slot.ID) uint64 {
	return uint64(stripeOf(s))*store.SlotsPerTable + uint64(s)/Stripes
}

func visitedSlot(n uint64) slot.ID {
	return slot.ID(n%store.SlotsPerTable*Stripes + n/store.SlotsPerTable)
}

// scan is a walk in progress.
type scan struct {
	tx    *Tx
	visit func(key []byte, e store.Entry)
	at    uint64       // visiting number
	inner store.Cursor // in that slot
	left  int          // keys still wanted; <= 0: enough
}

// Scan visits keys of the selected database from a cursor on, about want of
// them, and returns the next cursor, 0 at the end. A key that is there during a
// whole walk is visited at least once; one that comes or goes meanwhile may be
// visited or not. Keys whose time is over are passed over. visit gets views
// that are valid during its call, which runs under a stripe's lock. The Tx must
// not be locked.
func (tx *Tx) Scan(cursor uint64, want int, visit func(key []byte, e store.Entry)) uint64 {
	const shardShift = visitBits
	index := int(cursor >> shardShift % ShardsMax)
	w := scan{
		tx: tx, visit: visit, left: want,
		at:    cursor % slot.Count,
		inner: store.Cursor(cursor >> (visitBits + shardBits) & (1<<store.CursorBits - 1)),
	}
	for ; index < len(tx.space.shards); index++ {
		for w.at < slot.Count {
			w.stripe(tx.space.shards[index])
			if w.left <= 0 && w.at < slot.Count {
				return uint64(w.inner)<<(visitBits+shardBits) | uint64(index)<<shardShift | w.at
			}
		}
		w.at, w.inner = 0, 0
	}
	return 0
}

// visit locks one stripe, unless a held Tx has locked it already.
func (tx *Tx) visit(sh *Shard, stripe int) {
	if !tx.held {
		tx.lock(sh, 1<<stripe)
	} else if !tx.all {
		panic("BUG: walk in a held Tx that has not locked everything")
	}
}

// stripe continues inside the stripe that w.at is in, at most to its end.
func (w *scan) stripe(sh *Shard) {
	w.tx.visit(sh, stripeOf(visitedSlot(w.at)))
	defer w.tx.Unlock()
	end := (w.at/store.SlotsPerTable + 1) * store.SlotsPerTable
	t := sh.stripes[stripeOf(visitedSlot(w.at))].tables[w.tx.DB]
	for t != nil && w.at < end {
		s, next, done := t.ScanTable(visitedSlot(w.at), w.inner, w.left, func(k store.Key, e store.Entry) {
			w.left--
			if !e.Expired(w.tx.Now) {
				w.visit(k.Name, e)
			}
		})
		if done {
			break
		}
		if w.at, w.inner = visitNumber(s), next; w.left <= 0 {
			return
		}
	}
	w.at, w.inner = end, 0
}

// VisitSlot visits up to limit keys of a slot in the selected database, under
// the slot's lock. The Tx must not be locked.
func (tx *Tx) VisitSlot(s slot.ID, limit int, visit func(key []byte)) {
	tx.visit(tx.space.ShardOf(s), stripeOf(s))
	defer tx.Unlock()
	t := tx.table(s)
	if t == nil {
		return
	}
	var at store.Cursor
	for done := false; !done && limit > 0; {
		at, done = t.Scan(s, at, limit, func(k store.Key, _ store.Entry) {
			if limit > 0 {
				limit--
				visit(k.Name)
			}
		})
	}
}
