package store

import (
	"github.com/bowline-kv/bowline/slot"
)

// SlotsPerTable is how many slots one stripe, and so one table, covers.
const SlotsPerTable = slot.Count / Stripes

// Stripes is the number of stripes of a shard. A slot's stripe is its low bits,
// so that the contiguous ranges of a cluster spread evenly.
const Stripes = 64

// StripeOf gives the stripe of a slot, 0..Stripes-1.
func StripeOf(s slot.ID) int { return int(s) % Stripes }

// place is the index of a slot inside its stripe's table.
func place(s slot.ID) int { return int(s) / Stripes }

// Table holds the keys of one stripe of one database. The zero value is empty
// and ready. Guarded by the stripe's lock.
type Table struct {
	slots [SlotsPerTable]bucketMap
	due   expiryHeap
	count int
	bytes int64
}

// item is one record.
type item struct {
	key      []byte
	value    []byte
	next     *item // in the bucket's chain
	hash     uint64
	expireAt int64
	heapPos  int // index in the expiry heap; meaningful when expireAt != 0
	slot     slot.ID
	typ      Type
	raw      bool
}

// itemOverhead is the memory that a record takes besides key and value.
const itemOverhead = 96

func (it *item) size() int64 { return int64(len(it.key)+cap(it.value)) + itemOverhead }

func (it *item) entry() Entry {
	return Entry{Value: it.value, ExpireAt: it.expireAt, Type: it.typ, Raw: it.raw}
}

// Len is the number of keys, expired ones that are still there included.
func (t *Table) Len() int { return t.count }

// Expiring is the number of keys that have an expiry time.
func (t *Table) Expiring() int { return len(t.due) }

// SlotLen is the number of keys in one slot of this table's stripe.
func (t *Table) SlotLen(s slot.ID) int { return t.slots[place(s)].count }

// Bytes is the memory that the keys and values take.
func (t *Table) Bytes() int64 { return t.bytes }

// Get finds a key, whether or not its time is over.
func (t *Table) Get(k Key) (Entry, bool) {
	if it := t.slots[place(k.Slot)].find(k); it != nil {
		return it.entry(), true
	}
	return Entry{}, false
}

// SetRecord makes k a value of the given type, of a copy of the packed bytes,
// whatever it was before: for a string, its content. expireAt is a unix time in
// milliseconds, 0: no expiry.
func (t *Table) SetRecord(k Key, typ Type, value []byte, expireAt int64) {
	it := t.slots[place(k.Slot)].find(k)
	if it == nil {
		it = &item{key: append([]byte(nil), k.Name...), hash: k.Hash, slot: k.Slot}
		t.slots[place(k.Slot)].insert(it)
		t.count++
	} else {
		t.bytes -= it.size()
	}
	// A short value is written over the old one; a much larger old array is not kept.
	if cap(it.value) < len(value) || cap(it.value) > 2*len(value)+64 {
		it.value = make([]byte, len(value))
	}
	it.value = it.value[:len(value)]
	copy(it.value, value)
	it.typ, it.raw = typ, false
	t.setExpiry(it, expireAt)
	t.bytes += it.size()
}

// Append adds suffix to the string at k and returns the new length in bytes.
// The key must exist and be a string: anything else is a bug of the caller.
func (t *Table) Append(k Key, suffix []byte) int {
	it := t.slots[place(k.Slot)].find(k)
	if it == nil || it.typ != String {
		panic("BUG: append to a key that is not a string")
	}
	t.bytes -= it.size()
	it.value = append(it.value, suffix...)
	it.raw = true
	t.bytes += it.size()
	return len(it.value)
}

// SetExpiry sets the expiry time (unix milliseconds, 0: none) of a key; false
// when there is no such key.
func (t *Table) SetExpiry(k Key, expireAt int64) bool {
	it := t.slots[place(k.Slot)].find(k)
	if it == nil {
		return false
	}
	t.setExpiry(it, expireAt)
	return true
}

func (t *Table) setExpiry(it *item, expireAt int64) {
	switch {
	case it.expireAt == expireAt:
	case it.expireAt == 0:
		it.expireAt = expireAt
		t.due.push(it)
	case expireAt == 0:
		t.due.remove(it)
		it.expireAt = 0
	default:
		it.expireAt = expireAt
		t.due.fix(it)
	}
}

// Delete removes a key; false when there is no such key.
func (t *Table) Delete(k Key) bool {
	it := t.slots[place(k.Slot)].remove(k)
	if it == nil {
		return false
	}
	if it.expireAt != 0 {
		t.due.remove(it)
	}
	t.count--
	t.bytes -= it.size()
	return true
}

// Clear removes every key.
func (t *Table) Clear() { *t = Table{} }

// Due gives a key whose time is over at now (unix milliseconds), the longest
// overdue first. The name is valid until the key is deleted.
func (t *Table) Due(now int64) (Key, bool) {
	if len(t.due) == 0 || t.due[0].expireAt > now {
		return Key{}, false
	}
	it := t.due[0]
	return Key{Name: it.key, Hash: it.hash, Slot: it.slot}, true
}
