package store

import "github.com/bowline-kv/bowline/internal/page"

// ref names a slot: the number of its slab in the table (23 bits) and of the
// slot in the slab (8 bits). 0: none. The top bit is free for other uses.
// Slabs are numbered by table, so that a slab can move to other pages without
// a change to any reference.
type ref uint32

const (
	refSlotBits = 8
	slabsMax    = 1 << 23
)

func refOf(slab uint32, slot int) ref { return ref(slab<<refSlotBits | uint32(slot)) }

func (r ref) slab() uint32 { return uint32(r) >> refSlotBits }
func (r ref) slot() int    { return int(r & (1<<refSlotBits - 1)) }

// slab is the bookkeeping of one slab, on the Go heap (24 bytes a page):
//
//	addr -> | slot 0 | slot 1 | slot 2 | ... | slot bump | never used ...|
//
// A free slot's first three bytes, where a record has its header, are zero;
// its fourth is the number of the next free slot.
type slab struct {
	addr       page.Addr // 0: the number is not in use
	next, prev uint32    // slabs of the class with a free slot; next also links unused numbers
	live       uint16    // slots in use
	bump       uint16    // slots from here on were never used
	free       uint16    // first free slot below bump; noSlot: none
	class      class
	// leaving: being evacuated, in no list.
	leaving bool
}

const noSlot = 1<<16 - 1

// classState is what a table knows of a class.
type classState struct {
	partial uint32 // first slab that has a free slot; 0: none
	slabs   uint32
	live    uint32 // slots in use
}

// bytes is the memory of a slot, all of its class.
func (t *Table) bytes(r ref) []byte {
	s := &t.slabs[r.slab()]
	size := int(classes[s.class%classesMax].size)
	return slotAt(s.addr+page.Addr(r.slot()*size), size)
}

// addrOf is the address of a slot.
func (t *Table) addrOf(r ref) page.Addr {
	s := &t.slabs[r.slab()]
	return s.addr + page.Addr(r.slot()*int(classes[s.class%classesMax].size))
}

func (t *Table) classOfRef(r ref) class { return t.slabs[r.slab()].class }

// allocSlot takes a slot of a class. Its bytes are what was left in it.
func (t *Table) allocSlot(c class) ref {
	n := t.states[c].partial
	if n == 0 {
		n = t.newSlab(c)
	}
	s := &t.slabs[n]
	slot := int(s.bump)
	if s.free != noSlot {
		slot = int(s.free)
		b := slotAt(s.addr+page.Addr(slot*int(classes[c].size)), 4)
		if s.free = uint16(b[3]); slot == int(s.free) {
			s.free = noSlot
		}
	} else {
		s.bump++
	}
	s.live++
	t.states[c].live++
	t.used += int64(classes[c].size)
	if s.live == classes[c].slots {
		t.unlist(n)
	}
	return refOf(n, slot)
}

// freeSlot gives a slot back, and its slab to the pool when it was the last one.
func (t *Table) freeSlot(r ref) {
	n := r.slab()
	s := &t.slabs[n]
	c := s.class
	b := slotAt(s.addr+page.Addr(r.slot()*int(classes[c].size)), 4)
	// The last of the list names itself.
	next := uint32(r.slot())
	if s.free != noSlot {
		next = uint32(s.free)
	}
	store32(b, 0, next<<24)
	s.free = uint16(r.slot())
	full := s.live == classes[c].slots
	s.live--
	t.states[c].live--
	t.used -= int64(classes[c].size)
	switch {
	case s.live == 0:
		if !full && !s.leaving {
			t.unlist(n)
		}
		t.dropSlab(n)
	case full && !s.leaving:
		t.list(n)
	}
}

func (t *Table) newSlab(c class) uint32 {
	n := t.unusedSlab
	if n != 0 {
		t.unusedSlab = t.slabs[n].next
	} else {
		if len(t.slabs) == 0 {
			t.slabs = append(t.slabs, slab{}) // number 0 is no slab
		}
		n = uint32(len(t.slabs))
		if n == slabsMax {
			panic("BUG: a stripe has more than 32 GiB of small records")
		}
		t.slabs = append(t.slabs, slab{})
	}
	pages := int(classes[c].pages)
	t.slabs[n] = slab{addr: t.pool.Alloc(pages), free: noSlot, class: c}
	t.pages += int64(pages)
	t.states[c].slabs++
	t.list(n)
	return n
}

func (t *Table) dropSlab(n uint32) {
	s := &t.slabs[n]
	pages := int(classes[s.class].pages)
	t.pool.Free(s.addr, pages)
	t.pages -= int64(pages)
	t.states[s.class].slabs--
	*s = slab{next: t.unusedSlab}
	t.unusedSlab = n
}

// list puts a slab in front of those that have a free slot.
func (t *Table) list(n uint32) {
	s, head := &t.slabs[n], &t.states[t.slabs[n].class].partial
	s.next, s.prev = *head, 0
	if *head != 0 {
		t.slabs[*head].prev = n
	}
	*head = n
}

func (t *Table) unlist(n uint32) {
	s := &t.slabs[n]
	if s.prev != 0 {
		t.slabs[s.prev].next = s.next
	} else {
		t.states[s.class].partial = s.next
	}
	if s.next != 0 {
		t.slabs[s.next].prev = s.prev
	}
	s.next, s.prev = 0, 0
}
