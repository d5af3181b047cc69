package store

import "github.com/bowline-kv/bowline/slot"

// Cursor is the place at which a walk over one slot continues: hashes below it
// were visited. The zero value is the start. It has CursorBits bits, so that
// together with a shard and a slot it fits in the 53 bits that every client can carry.
type Cursor uint64

// CursorBits is the width of a Cursor.
const CursorBits = 33

const cursorShift = 64 - CursorBits

// Scan visits keys of one slot from a cursor on, at least want of them unless
// the slot ends, and returns the cursor to continue with; done when the slot is
// finished. A key that is there during a whole walk is visited at least once,
// whatever is inserted and deleted meanwhile. visit must not change the table.
func (t *Table) Scan(s slot.ID, from Cursor, want int, visit func(k Key, e Entry)) (next Cursor, done bool) {
	m := &t.slots[place(s)]
	if m.count == 0 {
		return 0, true
	}
	seen := 0
	for i := m.index(uint64(from) << cursorShift); i < len(m.buckets); i++ {
		for it := m.buckets[i]; it != nil; it = it.next {
			if Cursor(it.hash>>cursorShift) >= from {
				visit(Key{Name: it.key, Hash: it.hash, Slot: it.slot}, it.entry())
				seen++
			}
		}
		if i+1 == len(m.buckets) {
			break
		}
		if seen >= want {
			return Cursor(uint64(i+1) << (CursorBits - m.bits)), false
		}
	}
	return 0, true
}

// NextSlot gives the first slot of this table's stripe, in ascending order from
// s on (a slot of that stripe), that holds a key; false when there is none.
func (t *Table) NextSlot(s slot.ID) (slot.ID, bool) {
	for p := place(s); p < SlotsPerTable; p++ {
		if t.slots[p].count > 0 {
			return slot.ID(p*Stripes + StripeOf(s)), true
		}
	}
	return 0, false
}

// Each visits every key. visit must not change the table.
func (t *Table) Each(visit func(k Key, e Entry)) {
	for p := range t.slots {
		for _, it := range t.slots[p].buckets {
			for ; it != nil; it = it.next {
				visit(Key{Name: it.key, Hash: it.hash, Slot: it.slot}, it.entry())
			}
		}
	}
}
