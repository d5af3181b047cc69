package store

import "math/bits"

// SampleExpiring visits up to n keys that have an expiry time: first one of those
// that expire soonest, then some chosen evenly or, when few keys expire, about
// evenly: from lists of the timing wheel. visit must not change the table.
func (t *Table) SampleExpiring(random uint64, n int, visit func(k Key, e Entry)) {
	if t.expiring == 0 {
		return
	}
	r := t.wheel.soonest()
	for ; n > 0; n-- {
		visit(t.keyAt(r), t.entry(r))
		r, random = t.pickExpiring(random)
	}
}

// rarely is the share of expiring keys, one in so many, below which looking at
// random keys is no way to find one.
const rarely = 16

func (t *Table) pickExpiring(random uint64) (ref, uint64) {
	if t.count/t.expiring < rarely {
		for range 4 * rarely {
			var r ref
			if r, random = t.pick(random); headerOf(t.bytes(r))&hasExpiry != 0 {
				return r, random
			}
		}
	}
	random = scramble(random)
	r := t.wheel.heads[t.wheel.listAt(random)]
	for range random >> 58 { // up to 63 records in
		next := t.nextExpiring(r)
		if next == 0 {
			break
		}
		r = next
	}
	return r, random
}

// soonest is a record of the first list in time; 0: there is none.
func (w *wheel) soonest() ref {
	if r := w.heads[overdue]; r != 0 {
		return r
	}
	for level, occupied := range w.occupied {
		if occupied != 0 {
			return w.heads[level*wheelBuckets+bits.TrailingZeros64(occupied)]
		}
	}
	return 0
}

// listAt chooses one of the lists that are not empty, or the overdue one.
func (w *wheel) listAt(random uint64) int {
	total := 0
	for _, occupied := range w.occupied {
		total += bits.OnesCount64(occupied)
	}
	if total == 0 {
		return overdue
	}
	at := int(scale(random, uint32(total)))
	for level, occupied := range w.occupied {
		for ; occupied != 0; occupied &= occupied - 1 {
			if at--; at < 0 {
				return level*wheelBuckets + bits.TrailingZeros64(occupied)
			}
		}
	}
	return overdue
}

// nextExpiring is the record behind another one in its list.
func (t *Table) nextExpiring(r ref) ref {
	b := t.bytes(r)
	return ref(load32(b, headerOf(b).expiryAt()+nextOffset))
}
