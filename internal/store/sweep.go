package store

import "github.com/bowline-kv/bowline/internal/page"

// sweep is where the background work of a table continues.
type sweep struct {
	slab    uint32
	segment uint32
	large   uint32
	// body is the next one, and bodiesLeft the choice of chunks that all have left.
	body, bodiesLeft uint32
	// pass: a pass over all pages is on its way.
	pass bool
	// left is the choice of chunks that the last pass left; see page.Pool.Draining.
	left uint32
}

// Step does background work of the table: it moves the records of mostly empty
// slabs together, so that their pages return to the pool, and leaves the
// pages that the pool wants back. budget is about the number of records that it
// may move or look at, 100 of which take some 10 us; more says that work is left.
func (t *Table) Step(budget int) (more bool) {
	if t.stepBodies(&budget) {
		return true
	}
	if !t.sweep.pass {
		draining := t.pool.Draining()
		if (draining == 0 || draining == t.sweep.left) && !t.wasteful() {
			return false
		}
		t.sweep = sweep{pass: true, left: draining, body: t.sweep.body, bodiesLeft: t.sweep.bodiesLeft}
	}
	for budget > 0 {
		switch {
		case t.sweep.slab < uint32(len(t.slabs)):
			budget -= t.sweepSlab(t.sweep.slab)
			t.sweep.slab++
		case t.sweep.segment < uint32(len(t.segs)):
			budget -= t.sweepSegment(&t.segs[t.sweep.segment])
			t.sweep.segment++
		case t.sweep.large < uint32(len(t.larges)*largeBlock):
			budget -= t.sweepLarge(t.largeAt(t.sweep.large))
			t.sweep.large++
		default:
			t.sweep.pass = false
			return false
		}
	}
	return true
}

// wasteful says whether any class has more than a quarter of its slots free, and
// enough of them that a slab can be given back.
func (t *Table) wasteful() bool {
	for c := range classCount {
		if t.wastes(class(c)) {
			return true
		}
	}
	return false
}

func (t *Table) wastes(c class) bool {
	st := &t.states[c]
	slots := st.slabs * uint32(classes[c].slots)
	return slots-st.live >= max(slots/4, 2*uint32(classes[c].slots)-1)
}

func (t *Table) sweepSlab(n uint32) (cost int) {
	s := &t.slabs[n]
	if s.addr == 0 {
		return 1
	}
	info := classes[s.class]
	// Of the slabs of a class that wastes a quarter, one is at least as empty.
	if t.wastes(s.class) && s.live <= info.slots*3/4 {
		return t.evacuate(n)
	}
	if t.pool.Draining() != 0 && t.pool.Leaving(s.addr) {
		s.addr = t.movePages(s.addr, int(info.pages))
		return 10 * int(info.pages)
	}
	return 1
}

func (t *Table) movePages(from page.Addr, pages int) page.Addr {
	to := t.pool.Alloc(pages)
	copy(to.Bytes(pages*page.Size), from.Bytes(pages*page.Size))
	t.pool.Free(from, pages)
	return to
}

// evacuate moves all records of a slab to others of its class.
func (t *Table) evacuate(n uint32) (cost int) {
	s := &t.slabs[n]
	c, size := s.class, int(classes[s.class].size)
	t.unlist(n)
	s.leaving = true
	left := int(s.live)
	cost = left + int(s.bump)/8
	for i := 0; left > 0; i++ {
		// Making a slab may move the slice in which s was.
		b := slotAt(t.slabs[n].addr+page.Addr(i*size), size)
		if h := headerOf(b); h != 0 {
			left--
			t.moveRecord(refOf(n, i), b, h, c)
		}
	}
	return cost
}

// moveRecord moves a record to another slot of its class.
func (t *Table) moveRecord(from ref, b []byte, h header, c class) {
	k := t.keyAt(from)
	f := t.findRef(k.path(), k.Hash, from)
	to := t.allocSlot(c)
	copy(t.bytes(to), b)
	t.setRef(f, to)
	if t.order != nil {
		t.order.ReplaceRef(t.scoreAt(to), k.Name, uint32(from), uint32(to))
	}
	if h&hasExpiry != 0 {
		t.follow(to, b, h)
	}
	t.freeSlot(from)
}

func (t *Table) sweepSegment(s *segment) (cost int) {
	if s.pages == 0 || t.pool.Draining() == 0 || !t.pool.Leaving(s.addr) {
		return 1
	}
	s.addr = t.movePages(s.addr, int(s.pages))
	return 10 * int(s.pages)
}

func (t *Table) sweepLarge(l *large) (cost int) {
	if l.addr == 0 || l.hold != nil || t.pool.Draining() == 0 || !t.pool.Leaving(l.addr) {
		return 1
	}
	l.addr = t.movePages(l.addr, int(l.pages))
	return 10 * int(l.pages)
}
