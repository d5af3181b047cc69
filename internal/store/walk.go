package store

import (
	"math"

	"github.com/bowline-kv/bowline/slot"
)

// Cursor is where a walk continues inside a slot: the index is walked in the
// order of paths, and inside a segment in the order of tags.
//
//	bits 20..32  the first tag not visited, in units of 8
//	bits 15..19  the segment's depth
//	bits  0..14  the segment's path bits behind the place of the slot
//
// Whatever grows, splits or moves meanwhile, tags and paths stay. When segments
// were joined, which the depth shows, the joined one is walked from its first
// tag. The zero value is the start. It has CursorBits bits, so that together
// with a shard and a slot it fits in the 53 bits that every client can carry.
type Cursor uint64

// CursorBits is the width of a Cursor.
const CursorBits = 33

const (
	cursorPathBits  = 15
	cursorDepthBits = 5
	cursorTagUnit   = 8
	// cursorDepth is the depth from which a cursor can't tell segments apart:
	// they are walked without a stop.
	cursorDepth = placeBits + cursorPathBits
)

// position is a place in a walk.
type position struct {
	path  path
	depth uint8
	tag   uint32 // 0..2^16
}

func (c Cursor) position(p int) position {
	at := position{
		path:  path(uint64(p)<<placeShift | uint64(c)<<(64-cursorPathBits)>>placeBits),
		depth: uint8(c >> cursorPathBits % (1 << cursorDepthBits)),
		tag:   uint32(c>>(cursorPathBits+cursorDepthBits)) % (1 << 13) * cursorTagUnit,
	}
	return at
}

func (at position) cursor() (p int, c Cursor) {
	c = Cursor(at.tag/cursorTagUnit)<<(cursorPathBits+cursorDepthBits) | Cursor(at.depth)<<cursorPathBits |
		Cursor(at.path<<placeBits>>(64-cursorPathBits))
	return int(at.path >> placeShift), c
}

// Scan visits keys of one slot from a cursor on, at least want of them unless
// the slot ends, and returns the cursor to continue with; done when the slot is
// finished. A key that is there during a whole walk is visited at least once,
// whatever is inserted and deleted meanwhile. visit must not change the table.
//
// While the slot is small it shares a segment with others, all of which are
// looked at, up to some thousand: to walk a whole table, use ScanTable.
func (t *Table) Scan(s slot.ID, from Cursor, want int, visit func(k Key, e Entry)) (next Cursor, done bool) {
	if t.SlotLen(s) == 0 {
		return 0, true
	}
	w := walk{t: t, want: want, visit: visit, at: from.position(place(s)), slot: s, one: true}
	if w.run(); w.done() {
		return 0, true
	}
	_, next = w.at.cursor()
	return next, false
}

// ScanTable is Scan for all slots of the table, from a slot and a cursor in it
// on; it also returns the slot in which to continue.
func (t *Table) ScanTable(s slot.ID, from Cursor, want int, visit func(k Key, e Entry)) (slot.ID, Cursor, bool) {
	w := walk{t: t, want: want, visit: visit, at: from.position(place(s)), slot: s}
	if w.run(); w.done() {
		return 0, 0, true
	}
	p, next := w.at.cursor()
	return slot.ID(p*Stripes + StripeOf(s)), next, false
}

// walk is a walk in progress.
type walk struct {
	t     *Table
	at    position
	want  int
	visit func(k Key, e Entry)
	slot  slot.ID // the slot to visit, if one
	one   bool
	over  bool // past the last path
}

func (w *walk) done() bool {
	return w.over || w.one && int(w.at.path>>placeShift) != place(w.slot)
}

func (w *walk) run() {
	for !w.done() {
		s := &w.t.segs[w.t.segmentOf(w.at.path)]
		if !w.segment(s) {
			return
		}
		// On to the first path behind this segment.
		size := path(1) << (64 - s.depth) // 0 at depth 0: the whole
		next := w.at.path&^(size-1) + size
		w.over = next == 0
		w.at = position{path: next}
		if w.want <= 0 && next&(1<<(64-cursorDepth)-1) == 0 {
			return
		}
	}
}

// segment visits the rest of a segment; false when it stopped before its end.
func (w *walk) segment(s *segment) bool {
	if s.depth < w.at.depth || s.depth > cursorDepth {
		w.at.tag = 0
	}
	if s.lines == 0 {
		return true
	}
	for h := home(uint16(w.at.tag), s.lines); h < uint32(s.lines); h++ {
		w.expect(s, h+linesAhead)
		w.line(s, h)
		if w.want > 0 || s.depth > cursorDepth || h+1 == uint32(s.lines) {
			continue
		}
		// The first tag whose home is the next line, rounded down. With that, a
		// part of this line may come again, but only once.
		tag := ((h+1)<<16 + uint32(s.lines) - 1) / uint32(s.lines) &^ (cursorTagUnit - 1)
		if tag > w.at.tag {
			w.at.tag, w.at.depth = tag, s.depth
			return false
		}
	}
	return true
}

// linesAhead is how far ahead of the walk records are asked for.
const linesAhead = 2

// expect asks for the records of a line that the walk will come to.
func (w *walk) expect(s *segment, h uint32) {
	if h >= uint32(s.lines) {
		return
	}
	l := s.line(h)
	for i := range lineCells {
		if r := l.ref(i); r != 0 && !(w.one && w.elsewhere(s, l.get(i))) {
			w.t.addrOf(r).Prefetch()
		}
	}
}

// line visits the cells whose first home a line is, wherever they are.
func (w *walk) line(s *segment, h uint32) {
	w.cells(s, s.line(h), h)
	if s.line(h).spilled() {
		for i := range uint16(secondHomes) {
			w.cells(s, s.line(secondHome(h, i, s.lines)), h)
		}
	}
	for _, c := range s.over {
		if home(c.tag, s.lines) == h {
			w.cell(s, c)
		}
	}
}

func (w *walk) cells(s *segment, l *line, h uint32) {
	for i := range lineCells {
		if r := l.ref(i); r != 0 && home(l.tag(i), s.lines) == h {
			w.cell(s, l.get(i))
		}
	}
}

func (w *walk) cell(s *segment, c cell) {
	if uint32(c.tag) < w.at.tag || w.one && w.elsewhere(s, c) {
		return
	}
	k := w.t.keyAt(c.ref)
	if w.one && k.Slot != w.slot {
		return
	}
	w.want--
	w.visit(k, w.t.entry(c.ref))
}

// elsewhere tells by the extra bits, without a look at the record, most cells
// that are of another slot.
func (w *walk) elsewhere(s *segment, c cell) bool {
	if s.mask == 0 || s.base >= placeBits {
		return false
	}
	known := min(placeBits-s.base, extraBits) // of the extra bits, those of the place
	mine := uint8(path(place(w.slot))<<placeShift<<s.base>>(64-extraBits)) ^ c.extra
	return mine>>(extraBits-known) != 0
}

// Each visits every key. visit must not change the table.
func (t *Table) Each(visit func(k Key, e Entry)) {
	w := walk{t: t, want: math.MaxInt, visit: visit}
	w.run()
}
