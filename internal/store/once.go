package store

import "math/bits"

// Place is how far a walk has come that meets each key once, whatever grows,
// splits, joins or moves between its steps. Its order is that of units, ranges of
// paths as long as the segments were when the walk came to them, and inside a unit
// that of tags: so the path and the tag of a key alone tell on which side it is.
// The zero value is the start.
type Place struct {
	first path // of the unit; what is before was passed
	depth uint8
	begun bool // the unit is known
	tag   uint32
	over  bool
}

// Passed says whether the walk has come past a key, there or not.
func (at *Place) Passed(k *Key) bool {
	p := k.path()
	switch {
	case at.over || p < at.first:
		return true
	case !at.begun || p > at.last():
		return false
	}
	return uint32(tagOf(k.Hash)) < at.tag
}

// Over says whether the walk has come to the end.
func (at *Place) Over() bool { return at.over }

// last is the last path of the unit.
func (at *Place) last() path { return at.first | (1<<(64-at.depth) - 1) }

// WalkOnce visits the keys behind a place, and moves it, until enough says so, which
// is asked between groups of some ten keys; done at the end. A key that is there
// during a whole walk is visited once. visit must not change the table.
func (t *Table) WalkOnce(at *Place, visit func(k Key, e Entry), enough func() bool) (done bool) {
	w := walk{t: t, visit: visit}
	for !at.over && !enough() {
		if !at.begun {
			at.depth = max(t.segs[t.segmentOf(at.first)].depth, uint8(64-bits.TrailingZeros64(uint64(at.first))))
			at.begun = true
		}
		to := t.groupEnd(at)
		t.group(&w, at, to)
		if at.tag = to; to < tags {
			continue
		}
		next := at.last() + 1
		*at = Place{first: next, over: next == 0}
	}
	return at.over
}

// tags is the number of tags.
const tags = 1 << 16

// eachSegment calls f for the segments that paths of the unit are in. While
// nothing splits there is one.
func (t *Table) eachSegment(at *Place, f func(s *segment)) {
	for p := at.first; ; {
		s := &t.segs[t.segmentOf(p)]
		f(s)
		p |= 1<<(64-s.depth) - 1
		if p >= at.last() {
			return
		}
		p++
	}
}

// groupEnd is the first tag behind at.tag at which a line ends in some segment of
// the unit.
func (t *Table) groupEnd(at *Place) uint32 {
	to := uint32(tags)
	t.eachSegment(at, func(s *segment) {
		if s.lines > 0 {
			h := home(uint16(at.tag), s.lines)
			to = min(to, ((h+1)<<16+uint32(s.lines)-1)/uint32(s.lines))
		}
	})
	return to
}

// group visits the keys of the unit whose tags are from at.tag to below to.
func (t *Table) group(w *walk, at *Place, to uint32) {
	visit := w.visit
	defer func() { w.visit = visit }()
	t.eachSegment(at, func(s *segment) {
		if s.lines == 0 {
			return
		}
		w.visit = func(k Key, e Entry) {
			if uint32(tagOf(k.Hash)) >= to {
				return
			}
			if s.depth < at.depth { // joined: others are in it, too
				if p := k.path(); p < at.first || p > at.last() {
					return
				}
			}
			visit(k, e)
		}
		h := home(uint16(at.tag), s.lines)
		w.at.tag = at.tag
		w.expect(s, h+linesAhead)
		w.line(s, h)
	})
}
