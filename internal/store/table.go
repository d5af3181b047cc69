package store

import (
	"math/bits"

	"github.com/bowline-kv/bowline/internal/page"
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

// Table holds the keys of one stripe of one database; see [NewTable]. Guarded
// by the stripe's lock.
type Table struct {
	pool *page.Pool
	seed uint64

	// The index.
	dir           directory
	segs          []segment
	unusedSegment uint32
	perSlot       [SlotsPerTable]uint32 // keys
	inUse         [SlotsPerTable / 64]uint64
	count         int

	// The records.
	slabs       []slab
	unusedSlab  uint32
	states      [classesMax]classState
	larges      []*[largeBlock]large
	unusedLarge uint32
	largeCount  int
	used        int64 // bytes of slots in use and of the runs of large values
	pages       int64 // of all

	// Expiry, access, and background work.
	wheel      *wheel
	expiring   int
	keepAccess bool
	stamp      uint32
	sweep      sweep
}

// NewTable makes an empty table whose pages come from a pool. seed is that of
// the [HashOf] with which the hashes of its keys are made.
func NewTable(pool *page.Pool, seed uint64) *Table {
	t := &Table{pool: pool, seed: seed}
	t.reset()
	return t
}

func (t *Table) reset() {
	*t = Table{
		pool: t.pool, seed: t.seed, keepAccess: t.keepAccess, stamp: t.stamp,
		dir:  directory{entries: []uint32{0}},
		segs: []segment{{}},
	}
}

// Len is the number of keys, expired ones that are still there included.
func (t *Table) Len() int { return t.count }

// Expiring is the number of keys that have an expiry time.
func (t *Table) Expiring() int { return t.expiring }

// SlotLen is the number of keys in one slot of this table's stripe.
func (t *Table) SlotLen(s slot.ID) int { return int(t.perSlot[place(s)]) }

// Bytes is the memory that the records take: the slots of their size classes and
// the pages of large values, without the index and free slots.
func (t *Table) Bytes() int64 { return t.used }

// Footprint is the memory of all pages that the table holds, in bytes.
func (t *Table) Footprint() int64 { return t.pages * page.Size }

// Size is the memory that a key takes, its share of the index included, in bytes;
// 0 when there is no such key.
func (t *Table) Size(k Key) int64 {
	f := t.find(&k)
	if f.ref == 0 {
		return 0
	}
	return t.sizeOf(f.ref) + t.indexShare()
}

// indexShare is the bytes of index a key.
func (t *Table) indexShare() int64 {
	var pages int64
	for i := range t.segs {
		pages += int64(t.segs[i].pages)
	}
	return (pages*page.Size + int64(t.count) - 1) / int64(t.count)
}

// found is where a key's cell is.
type found struct {
	line *line // nil: in the overflow list
	i    int   // the cell in the line or list
	seg  uint32
	ref  ref // 0: not found
}

// find looks a key up: its first home line, its second when something was ever
// put there in place of the first, and the overflow list when there is one.
func (t *Table) find(k *Key) found {
	p := k.path()
	n := t.segmentOf(p)
	s := &t.segs[n]
	if s.count == 0 {
		return found{seg: n}
	}
	tag, extra := tagOf(k.Hash), s.extraOf(p)
	h := home(tag, s.lines)
	l := s.line(h)
	if i, r := t.findIn(l, tag, extra, k.Name); r != 0 {
		return found{l, i, n, r}
	}
	if l.spilled() {
		l = s.line(secondHome(h, tag, s.lines))
		if i, r := t.findIn(l, tag, extra, k.Name); r != 0 {
			return found{l, i, n, r}
		}
	}
	for i, c := range s.over {
		if c.tag == tag && t.hasKey(c.ref, k.Name) {
			return found{nil, i, n, c.ref}
		}
	}
	return found{seg: n}
}

func (t *Table) findIn(l *line, tag uint16, extra uint8, name []byte) (int, ref) {
	for m := l.match(tag); m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) % lineCells
		if r := l.ref(i); r != 0 && l.extra(i) == extra && t.hasKey(r, name) {
			return i, r
		}
	}
	return 0, 0
}

// findRef finds the cell that holds a reference, given the path and hash of its key.
func (t *Table) findRef(p path, hash uint64, r ref) found {
	n := t.segmentOf(p)
	s := &t.segs[n]
	h := home(tagOf(hash), s.lines)
	for _, l := range [2]*line{s.line(h), s.line(secondHome(h, tagOf(hash), s.lines))} {
		for i := range lineCells {
			if l.ref(i) == r {
				return found{l, i, n, r}
			}
		}
	}
	for i, c := range s.over {
		if c.ref == r {
			return found{nil, i, n, r}
		}
	}
	return found{seg: n}
}

// setRef makes a cell name another slot.
func (t *Table) setRef(f found, r ref) {
	if f.line != nil {
		f.line.setRef(f.i, r)
	} else {
		t.segs[f.seg].over[f.i].ref = r
	}
}

// insert adds the cell of a key that is not in the index.
func (t *Table) insert(k *Key, r ref) {
	p := k.path()
	for {
		n := t.segmentOf(p)
		s := &t.segs[n]
		full := s.count >= uint32(s.pages)*loadMax
		if full && t.grow(n, p) {
			continue
		}
		c := cell{r, tagOf(k.Hash), s.extraOf(p)}
		if !s.put(c) {
			if !full && s.count > uint32(s.pages)*loadAbsurd && t.grow(n, p) {
				continue
			}
			s.over = append(s.over, c)
		}
		s.count++
		break
	}
	at := place(k.Slot)
	t.perSlot[at]++
	t.inUse[at/64] |= 1 << (at % 64)
	t.count++
}

// remove takes a cell out of the index and shrinks the index when that leaves
// much of it empty.
func (t *Table) remove(k *Key, f found) {
	s := &t.segs[f.seg]
	if f.line != nil {
		f.line.set(f.i, cell{})
	} else {
		s.over[f.i] = s.over[len(s.over)-1]
		s.over = s.over[:len(s.over)-1]
	}
	s.count--
	at := place(k.Slot)
	if t.perSlot[at]--; t.perSlot[at] == 0 {
		t.inUse[at/64] &^= 1 << (at % 64)
	}
	t.count--
	switch {
	case s.count == 0:
		t.dropLines(s)
		t.merge(k.path())
	case s.pages > 1 && s.count < uint32(s.pages)*loadMin:
		t.resize(f.seg, pagesFor(s.count))
	case s.count%64 == 0:
		t.merge(k.path())
	}
}

// Get finds a key, whether or not its time is over.
func (t *Table) Get(k Key) (e Entry, ok bool) {
	f := t.find(&k)
	if f.ref == 0 {
		return e, false
	}
	t.fill(&e, f.ref)
	return e, true
}

// Delete removes a key; false when there is no such key. The name may be the
// table's own.
func (t *Table) Delete(k Key) bool {
	f := t.find(&k)
	if f.ref == 0 {
		return false
	}
	t.remove(&k, f)
	t.release(f.ref)
	return true
}
