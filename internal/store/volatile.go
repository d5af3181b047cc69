package store

import "math/bits"

// SampleExpiring visits up to n keys that have an expiry time, from the start of
// a list of the timing wheel chosen by the random number: about evenly, as far
// as keys that expire at the same time are alike. The first visited is always
// one of those that expire soonest. visit must not change the table.
func (t *Table) SampleExpiring(random uint64, n int, visit func(k Key, e Entry)) {
	w := t.wheel
	if w == nil || t.expiring == 0 {
		return
	}
	if r := w.soonest(); r != 0 {
		visit(t.keyAt(r), t.entry(r))
	}
	// A few lists, each from its head, until there were enough.
	for left := n - 1; left > 0; left-- {
		random = scramble(random)
		r := w.heads[w.listAt(random)]
		for skip := random >> 58; r != 0 && skip > 0; skip-- { // up to 63 records in
			if next := t.nextExpiring(r); next != 0 {
				r = next
			}
		}
		if r != 0 {
			visit(t.keyAt(r), t.entry(r))
		}
	}
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
