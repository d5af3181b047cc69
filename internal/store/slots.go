package store

import (
	"math/bits"

	"github.com/bowline-kv/bowline/slot"
)

// slotCounts is what a table of keys knows of each slot of its stripe. A table of
// members has none.
type slotCounts struct {
	keys  [SlotsPerTable]uint32
	bytes [SlotsPerTable]int64
	inUse [SlotsPerTable / 64]uint64 // a bit for each slot that holds a key
}

// place is the index of a slot inside its stripe's table.
func place(s slot.ID) int { return int(s) / Stripes }

func (t *Table) countKey(s slot.ID) {
	if t.slots == nil {
		return
	}
	at := place(s)
	t.slots.keys[at]++
	t.slots.inUse[at/64] |= 1 << (at % 64)
}

func (t *Table) uncountKey(s slot.ID) {
	if t.slots == nil {
		return
	}
	at := place(s)
	if t.slots.keys[at]--; t.slots.keys[at] == 0 {
		t.slots.inUse[at/64] &^= 1 << (at % 64)
	}
}

// charge adds to the bytes of a slot what the table uses more than before.
func (t *Table) charge(s slot.ID, before int64) {
	if d := t.used - before; d != 0 && t.slots != nil {
		t.slots.bytes[place(s)] += d
	}
}

// SlotLen is the number of keys in one slot of this table's stripe.
func (t *Table) SlotLen(s slot.ID) int { return int(t.slots.keys[place(s)]) }

// SlotBytes is the memory of the records and values of one slot of this table's
// stripe, in bytes.
func (t *Table) SlotBytes(s slot.ID) int64 { return t.slots.bytes[place(s)] }

// NextSlot gives the first slot of this table's stripe, in ascending order from
// s on (a slot of that stripe), that holds a key; false when there is none.
func (t *Table) NextSlot(s slot.ID) (slot.ID, bool) {
	p := place(s)
	for w, mask := p/64, ^uint64(0)<<(p%64); w < len(t.slots.inUse); w, mask = w+1, ^uint64(0) {
		if m := t.slots.inUse[w] & mask; m != 0 {
			return slot.ID((w*64+bits.TrailingZeros64(m))*Stripes + StripeOf(s)), true
		}
	}
	return 0, false
}
