package store

import (
	"math/bits"

	"github.com/bowline-kv/bowline/internal/ds/tree"
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

// Table holds the keys of one stripe of one database; see [NewTable]. Guarded
// by the stripe's lock.
type Table struct {
	pool *page.Pool
	seed uint64

	// The index.
	dir           directory
	segs          []segment
	unusedSegment uint32
	slots         *slotCounts // nil: a table of members
	count         int
	indexPages    int64

	// The records.
	slabs       []slab
	unusedSlab  uint32
	states      [classesMax]classState
	larges      []*[largeBlock]large
	unusedLarge uint32
	largeCount  int
	bodies      []*Body // by number; 0 is none
	freeBodies  []uint32
	bodyUsed    int64 // bytes of bodies
	used        int64 // bytes of slots in use, of the runs of large values, and of bodies
	pages       int64 // of all but bodies

	// Expiry, access, and background work.
	wheel      *wheel
	expiring   int // records in the wheel
	wakeOnly   int // of these, those whose key does not expire; see timed.go
	timed      int // of these, hashes with fields that expire
	keepAccess bool
	stamp      uint32
	sweep      sweep
	order      *tree.Tree // of a sorted set whose members these are; nil: none
	image      *Image     // of a collection whose members these are; nil: none
	dropped    []steps    // what waits to be given back in steps
}

// NewTable makes an empty table whose pages come from a pool. seed is that of
// the [HashOf] with which the hashes of its keys are made.
func NewTable(pool *page.Pool, seed uint64) *Table {
	t := &Table{pool: pool, seed: seed, slots: new(slotCounts)}
	t.reset()
	return t
}

func (t *Table) reset() {
	*t = Table{
		pool: t.pool, seed: t.seed, keepAccess: t.keepAccess, stamp: t.stamp, slots: t.slots, order: t.order,
		dir:  directory{entries: []uint32{0}},
		segs: []segment{{}},
	}
	if t.slots != nil {
		*t.slots = slotCounts{}
	}
}

// Len is the number of keys, expired ones that are still there included.
func (t *Table) Len() int { return t.count }

// Expiring is the number of keys that have an expiry time.
func (t *Table) Expiring() int { return t.expiring - t.wakeOnly }

// Timed is the number of hashes that have fields with an expiry time.
func (t *Table) Timed() int { return t.timed }

// Bytes is the memory that keys and values take: the slots of their size classes,
// the pages of large values, collections, and the index, without free slots.
func (t *Table) Bytes() int64 { return t.used + t.indexPages*page.Size }

// Footprint is the memory of all pages that the table holds, in bytes; of
// collections it counts what [Table.Bytes] does.
func (t *Table) Footprint() int64 { return t.pages*page.Size + t.bodyUsed }

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
	return (t.indexPages*page.Size + int64(t.count) - 1) / int64(t.count)
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
	t.countKey(k.Slot)
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
	t.uncountKey(k.Slot)
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
	ok = t.Find(&k, &e)
	return e, ok
}

// Find is Get without copies: it makes e, which is zero, the entry of a key.
func (t *Table) Find(k *Key, e *Entry) bool {
	f := t.find(k)
	if f.ref == 0 {
		return false
	}
	t.fill(e, f.ref)
	return true
}

// Has says whether there is a key, whether or not its time is over.
func (t *Table) Has(k Key) bool { return t.find(&k).ref != 0 }

// Delete removes a key; false when there is no such key. The name may be the
// table's own.
func (t *Table) Delete(k Key) bool {
	f := t.find(&k)
	if f.ref == 0 {
		return false
	}
	if t.image != nil {
		t.image.change(&k, f.ref)
	}
	before, s := t.used, k.Slot
	t.remove(&k, f)
	t.release(f.ref)
	t.charge(s, before)
	return true
}
