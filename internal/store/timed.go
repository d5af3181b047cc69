package store

import "math/bits"

// A hash with fields that expire has a type of its own in the header, always an
// expiry time there, and its value begins with another one:
//
//	header's time: when the record comes up in the wheel, at the latest
//	                when the key or its first field expires
//	value:         | key expires at 8, 0: never | packed hash, or number of a body |
//
// So one wheel serves keys and fields, and nothing but the readers in this file
// and [Table.fill] knows the difference.
const hashTimed Type = 7

const timedBytes = 8

// special is a record that can't be overwritten in place without more ado.
func (h header) special() bool {
	return h.typ() == hashTimed || h.hasBody()
}

// wakesOnly says of a record with an expiry time that its key does not expire.
func (t *Table) wakesOnly(b []byte, h header) bool {
	return h.typ() == hashTimed && loadTime(t.valueOf(b, h), 0) == 0
}

// setTimedExpiry is SetExpiry for a hash with fields that expire.
func (t *Table) setTimedExpiry(r ref, b []byte, h header, expireAt int64) {
	if t.wakesOnly(b, h) {
		t.wakeOnly--
	}
	storeTime(t.valueOf(b, h), 0, expireAt)
	if t.wakesOnly(b, h) {
		t.wakeOnly++
	}
	if expireAt != 0 && expireAt < t.expireAt(r) {
		t.moveExpiry(r, b, h, expireAt)
	}
}

// Wake sets when a hash with fields that expire is next given by [Table.Due],
// unless its key expires before: a unix time in milliseconds, above 0. Anything
// but such a hash is a bug of the caller.
func (t *Table) Wake(k Key, at int64) {
	f := t.find(&k)
	if f.ref == 0 {
		panic("BUG: a time to wake for a key that does not exist")
	}
	b := t.bytes(f.ref)
	h := headerOf(b)
	if h.typ() != hashTimed {
		panic("BUG: a time to wake for a key without fields that expire")
	}
	t.moveExpiry(f.ref, b, h, earlier(loadTime(t.valueOf(b, h), 0), at))
}

// WakeAt is when an entry of this table that is Timed is given by [Table.Due], in
// unix milliseconds; 0 for all others.
func (t *Table) WakeAt(e *Entry) int64 {
	if !e.Timed {
		return 0
	}
	return t.expireAt(e.ref)
}

// earlier is the first of two times, of which 0 means never.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// NextDue is a time, in unix milliseconds and above now, before which no record
// of the table is due; 0 when none expires. It is exact within 32 ms for what
// comes soon, and earlier than the record for what comes late.
func (t *Table) NextDue(now int64) int64 {
	w := t.wheel
	if w == nil || t.expiring == 0 {
		return 0
	}
	if w.heads[overdue] != 0 {
		return now + 1
	}
	for level := range wheelLevels {
		shift := level * wheelDigit
		digit := uint(w.tick>>shift) % wheelBuckets
		if later := w.occupied[level] >> digit << digit; later != 0 {
			start := w.tick>>(shift+wheelDigit)<<wheelDigit | int64(bits.TrailingZeros64(later))
			return max(start<<shift<<tickShift, now+1)
		}
	}
	return now + 1
}
