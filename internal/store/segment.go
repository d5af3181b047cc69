package store

import "github.com/bowline-kv/bowline/internal/page"

// segment is a part of the index: the cells of all paths that share its first
// depth bits, in 1..segmentPages pages of lines.
//
// A cell has two home lines, both known from its tag:
//
//	first  = tag * lines / 2^16
//	second = first + 1 + the tag's low 3 bits, around the end
//
// A key goes to its first home, else to its second; when both are full, a
// resident of either moves to its other home; when even that fails the segment
// grows, or, if that can't be the cure, the cell goes to the overflow list.
// Growing needs the tags only, not the records.
type segment struct {
	addr  page.Addr // the lines; 0: none
	lines uint16
	pages uint8
	// depth is the number of path bits that the paths here have in common.
	depth uint8
	// Cells hold the path bits from bit base on as their extra bits; mask is
	// extraMask, or 0 when they are unknown and stored as 0.
	base, mask uint8
	count      uint32 // cells, those in over included
	next       uint32 // the next unused number
	over       []cell
}

const (
	linesPerPage = page.Size / lineBytes
	cellsPerPage = linesPerPage * lineCells
	// segmentPages is the size at which a segment splits, in pages. With 5 the
	// halves start with 3, and the load stays between 0.64 and 0.86.
	segmentPages = 5
	secondHomes  = 8
)

// Loads, in cells a page of 640.
const (
	loadMax    = cellsPerPage * 86 / 100 // grow above it
	loadBuilt  = cellsPerPage * 78 / 100 // at most this after a rebuild
	loadMin    = cellsPerPage * 40 / 100 // shrink below it
	loadAbsurd = cellsPerPage * 60 / 100 // growing can't help below it
	mergeMax   = 2 * loadBuilt           // two buddies with so few cells become one
)

// pagesFor is the size for a number of cells.
func pagesFor(count uint32) uint8 {
	return uint8(min((count+loadBuilt-1)/loadBuilt, segmentPages))
}

func home(tag uint16, lines uint16) uint32 { return uint32(tag) * uint32(lines) >> 16 }

func secondHome(first uint32, tag, lines uint16) uint32 {
	h := first + 1 + uint32(tag)%secondHomes
	if h >= uint32(lines) {
		h -= uint32(lines)
	}
	return h
}

func (s *segment) line(i uint32) *line { return lineAt(s.addr + page.Addr(i)*lineBytes) }

// extraOf is what a cell of this segment holds of its path.
func (s *segment) extraOf(p path) uint8 { return uint8(p<<s.base>>(64-extraBits)) & s.mask }

// put places a cell; false when there is no place for it.
func (s *segment) put(c cell) bool {
	if s.lines == 0 {
		return false
	}
	h1 := home(c.tag, s.lines)
	first := s.line(h1)
	if i := first.vacant(); i >= 0 {
		first.set(i, c)
		return true
	}
	h2 := secondHome(h1, c.tag, s.lines)
	second := s.line(h2)
	i := second.vacant()
	if i < 0 {
		if i = s.displace(h1); i >= 0 {
			first.set(i, c)
			return true
		}
		if i = s.displace(h2); i < 0 {
			return false
		}
	}
	first.spill()
	second.set(i, c)
	return true
}

// displace moves a cell of a line to its other home and gives the cell that
// became empty; -1 when no other home has room.
func (s *segment) displace(h uint32) int {
	l := s.line(h)
	for i := range lineCells {
		c := l.get(i)
		other := home(c.tag, s.lines)
		first := s.line(other)
		if other == h {
			other = secondHome(h, c.tag, s.lines)
		}
		to := s.line(other)
		if j := to.vacant(); j >= 0 {
			if to != first {
				first.spill()
			}
			to.set(j, c)
			l.set(i, cell{})
			return i
		}
	}
	return -1
}

// add places a cell, in the overflow list if need be.
func (s *segment) add(c cell) {
	if !s.put(c) {
		s.over = append(s.over, c)
	}
	s.count++
}

// each calls visit for every cell.
func (s *segment) each(visit func(c cell)) {
	for h := range uint32(s.lines) {
		l := s.line(h)
		for i := range lineCells {
			if l.ref(i) != 0 {
				visit(l.get(i))
			}
		}
	}
	for _, c := range s.over {
		visit(c)
	}
}

// equip gives an empty segment its lines.
func (t *Table) equip(s *segment, pages uint8) {
	s.pages, s.lines = pages, uint16(pages)*linesPerPage
	if pages > 0 {
		s.addr = t.pool.Alloc(int(pages))
		clear(s.addr.Bytes(int(pages) * page.Size))
		t.pages += int64(pages)
		t.indexPages += int64(pages)
	}
}

// dropLines gives the pages of a segment back.
func (t *Table) dropLines(s *segment) {
	if s.pages > 0 {
		t.pool.Free(s.addr, int(s.pages))
		t.pages -= int64(s.pages)
		t.indexPages -= int64(s.pages)
	}
	s.addr, s.pages, s.lines = 0, 0, 0
}

// resize builds a segment anew with another number of pages.
func (t *Table) resize(n uint32, pages uint8) {
	s := &t.segs[n]
	old := *s
	s.count, s.over = 0, nil
	t.equip(s, pages)
	for h := range uint32(old.lines) {
		l := old.line(h)
		for i := range lineCells {
			if l.ref(i) != 0 {
				s.add(l.get(i))
			}
		}
	}
	for _, c := range old.over {
		s.add(c)
	}
	t.dropLines(&old)
}

// expect asks for the records of a line, so that reading them does not mean
// waiting for one after the other.
func (t *Table) expect(l *line) {
	for i := range lineCells {
		if r := l.ref(i); r != 0 {
			t.addrOf(r).Prefetch()
		}
	}
}

// refresh reads the records for the path bits from the segment's depth on.
func (t *Table) refresh(s *segment) {
	s.base, s.mask = s.depth, extraMask
	for h := range uint32(s.lines) {
		l := s.line(h)
		if h+1 < uint32(s.lines) {
			t.expect(s.line(h + 1))
		}
		for i := range lineCells {
			if r := l.ref(i); r != 0 {
				l.setExtra(i, s.extraOf(t.pathAt(r)))
			}
		}
	}
	for i := range s.over {
		s.over[i].extra = s.extraOf(t.pathAt(s.over[i].ref))
	}
}
