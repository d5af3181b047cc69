package store

import "math/bits"

// KeepAccess says whether new and rewritten records have 24 access bits, in
// which the caller keeps a clock or a counter for eviction. Records from before
// have none until they are written; theirs count as 0.
func (t *Table) KeepAccess(keep bool) { t.keepAccess = keep }

// Stamp sets the access bits that new records get, 0..2^24-1.
func (t *Table) Stamp(access uint32) { t.stamp = access & accessMax }

// Touch sets the access bits of an entry that the caller has just got, unless
// its record has none.
func (t *Table) Touch(e Entry, access uint32) {
	b := t.bytes(e.ref)
	if h := headerOf(b); h&hasAccess != 0 {
		store24(b, h.accessAt(), access&accessMax)
	}
}

// sampleTries bounds the search for one key by chance.
const sampleTries = 512

// Sample visits n keys chosen evenly and independently, so that a key may come
// twice; fewer when the table is empty. random is the source of the choice; the
// same number gives the same keys. visit must not change the table.
func (t *Table) Sample(random uint64, n int, visit func(k Key, e Entry)) {
	if t.count == 0 {
		return
	}
	for range n {
		var r ref
		r, random = t.pick(random)
		visit(t.keyAt(r), t.entry(r))
	}
}

// RandomKey gives a key chosen evenly; false when the table is empty.
func (t *Table) RandomKey(random uint64) (Key, bool) {
	if t.count == 0 {
		return Key{}, false
	}
	r, _ := t.pick(random)
	return t.keyAt(r), true
}

// pick chooses a cell of a table that is not empty: any place of any segment, as
// if each had the size of the largest, until it hits one in use. So all
// cells are equally likely; those in overflow lists, which hardly exist, are
// only reached from a place where the search is given up.
func (t *Table) pick(random uint64) (ref, uint64) {
	var lines uint32
	for i := range t.segs {
		lines = max(lines, uint32(t.segs[i].lines))
		if lines == segmentPages*linesPerPage {
			break
		}
	}
	var n, h uint32
	for range sampleTries {
		random = scramble(random)
		n = scale(random, uint32(len(t.segs)))
		h = scale(random<<32, lines)
		i := int(random % 1021 * lineCells / 1021)
		if s := &t.segs[n]; h < uint32(s.lines) {
			if r := s.line(h).ref(i); r != 0 {
				return r, random
			}
		}
	}
	return t.firstFrom(n, h), random
}

// firstFrom is the first cell in use from a line of a segment on, around the end.
func (t *Table) firstFrom(n, h uint32) ref {
	for range len(t.segs) + 1 {
		s := &t.segs[n]
		for ; h < uint32(s.lines); h++ {
			for i := range lineCells {
				if r := s.line(h).ref(i); r != 0 {
					return r
				}
			}
		}
		if len(s.over) > 0 {
			return s.over[0].ref
		}
		h, n = 0, (n+1)%uint32(len(t.segs))
	}
	return 0
}

// scale maps the upper half of a random number to 0..n-1.
func scale(random uint64, n uint32) uint32 {
	hi, _ := bits.Mul64(random, uint64(n))
	return uint32(hi)
}

// scramble makes the next random number of one.
func scramble(x uint64) uint64 {
	x += hashMul1
	hi, lo := bits.Mul64(x, hashMul0)
	return hi ^ lo
}
