package store

import "math/bits"

// wheel orders the records that expire, in buckets by time. A bucket is a
// doubly linked list through the records, so that all that a key pays for its
// expiry are the 16 bytes in its record.
//
//	level 0: 64 buckets of 1 tick (32 ms)       the tick's digits to base 64:
//	level 1: 64 buckets of 64 ticks (2 s)       a record is at the level of the
//	level 2: 64 buckets of 4096 ticks (131 s)   highest digit in which its time
//	...                                         differs from tick, in the bucket
//	level 9                                     of that digit
//
// As tick advances to the start of a bucket of a higher level, its records go
// to lower levels. A record whose time is set later stays where it is, and moves
// when its bucket comes up: keys that are refreshed all the time cost nothing.
type wheel struct {
	// tick is the start of the current bucket of level 0. Invariant: no record
	// is in a bucket whose ticks are all before it.
	tick     int64
	heads    [wheelLevels*wheelBuckets + 1]ref
	occupied [wheelLevels]uint64 // a bit for each bucket that is not empty
	// scanned is the time at which the current bucket was looked through.
	scanned int64
}

const (
	tickShift    = 5 // 32 ms
	wheelDigit   = 6
	wheelBuckets = 1 << wheelDigit
	wheelLevels  = 10
	// overdue is the list of those that were found overdue in a bucket that has
	// not passed yet.
	overdue = wheelLevels * wheelBuckets
	// isBucket marks a previous link that is the number of the list.
	isBucket = 1 << 31

	// dueSteps is how many records one call of Due may move, about 50 us of work.
	dueSteps = 512
)

// bucketFor is the bucket in which a record that expires at a time belongs now.
func (w *wheel) bucketFor(at int64) int {
	tick := at >> tickShift
	if tick <= w.tick {
		if at <= w.scanned {
			return overdue
		}
		tick = w.tick
	}
	level := 0
	if diff := uint64(tick ^ w.tick); diff != 0 {
		level = (bits.Len64(diff) - 1) / wheelDigit
	}
	return level*wheelBuckets + int(tick>>(level*wheelDigit))%wheelBuckets
}

// linkExpiry puts a record that has an expiry time into its bucket.
func (t *Table) linkExpiry(r ref, b []byte, h header) {
	if t.wheel == nil {
		t.wheel = new(wheel)
	}
	w := t.wheel
	at := h.expiryAt()
	bucket := w.bucketFor(loadTime(b, at))
	head := w.heads[bucket]
	store32(b, at+prevOffset, isBucket|uint32(bucket))
	store32(b, at+nextOffset, uint32(head))
	if head != 0 {
		t.setPrev(head, uint32(r))
	}
	w.heads[bucket] = r
	if bucket < overdue {
		w.occupied[bucket/wheelBuckets] |= 1 << (bucket % wheelBuckets)
	}
}

// unlinkExpiry takes a record out of its bucket.
func (t *Table) unlinkExpiry(b []byte, h header) {
	at := h.expiryAt()
	prev, next := load32(b, at+prevOffset), ref(load32(b, at+nextOffset))
	if next != 0 {
		t.setPrev(next, prev)
	}
	t.setNext(prev, next)
}

func (t *Table) setPrev(r ref, prev uint32) {
	b := t.bytes(r)
	store32(b, headerOf(b).expiryAt()+prevOffset, prev)
}

// setNext sets what follows a record or, when prev is a bucket, its first.
func (t *Table) setNext(prev uint32, next ref) {
	if prev&isBucket == 0 {
		b := t.bytes(ref(prev))
		store32(b, headerOf(b).expiryAt()+nextOffset, uint32(next))
		return
	}
	bucket := int(prev &^ isBucket)
	t.wheel.heads[bucket] = next
	if next == 0 && bucket < overdue {
		t.wheel.occupied[bucket/wheelBuckets] &^= 1 << (bucket % wheelBuckets)
	}
}

// moveExpiry changes the time of a record that keeps having one, if it has one.
func (t *Table) moveExpiry(r ref, b []byte, h header, expireAt int64) {
	if h&hasExpiry == 0 {
		return
	}
	at := h.expiryAt()
	old := loadTime(b, at)
	storeTime(b, at, expireAt)
	if expireAt < old {
		t.unlinkExpiry(b, h)
		t.linkExpiry(r, b, h)
	}
}

// relink moves a record to the bucket where it belongs now.
func (t *Table) relink(r ref) {
	b := t.bytes(r)
	h := headerOf(b)
	t.unlinkExpiry(b, h)
	t.linkExpiry(r, b, h)
}

// follow tells the neighbors of a record that it has moved to r, where b is.
func (t *Table) follow(r ref, b []byte, h header) {
	at := h.expiryAt()
	t.setNext(load32(b, at+prevOffset), r)
	if next := ref(load32(b, at+nextOffset)); next != 0 {
		t.setPrev(next, uint32(r))
	}
}

// Due gives a key whose time is over at now (unix milliseconds), the longest
// overdue ones first, within 32 ms. The name is valid until the table changes,
// but may be given to [Table.Delete]. The work of a call is bounded, so that
// false may mean that it did not get to the end: see [Table.Behind].
func (t *Table) Due(now int64) (Key, bool) {
	w := t.wheel
	if w == nil {
		return Key{}, false
	}
	for range dueSteps {
		if r := w.heads[overdue]; r != 0 {
			if t.expireAt(r) <= now {
				return t.keyAt(r), true
			}
			w.scanned = min(w.scanned, now) // the clock was set back, or the time later
			t.relink(r)
			continue
		}
		if t.cascade() {
			continue
		}
		r := w.heads[w.tick%wheelBuckets]
		switch {
		case w.tick > now>>tickShift:
			return Key{}, false
		case w.tick == now>>tickShift:
			if w.scanned == now {
				return Key{}, false
			}
			t.scanBucket(now)
		case r == 0:
			w.advance(now >> tickShift)
		case t.expireAt(r) <= now:
			return t.keyAt(r), true
		default:
			t.relink(r)
		}
	}
	return Key{}, false
}

// Behind says whether Due has more to do before its answer for a time is final.
func (t *Table) Behind(now int64) bool {
	w := t.wheel
	return w != nil && (w.heads[overdue] != 0 || w.scanned != now && w.tick <= now>>tickShift)
}

// scanBucket moves what is overdue in the current bucket to the list of overdue
// ones, which happens once for each millisecond that is asked for.
func (t *Table) scanBucket(now int64) {
	w := t.wheel
	w.scanned = now
	for r := w.heads[w.tick%wheelBuckets]; r != 0; {
		b := t.bytes(r)
		h := headerOf(b)
		next := ref(load32(b, h.expiryAt()+nextOffset))
		if at := loadTime(b, h.expiryAt()); at <= now || at>>tickShift > w.tick {
			t.unlinkExpiry(b, h)
			t.linkExpiry(r, b, h)
		}
		r = next
	}
}

// cascade moves one record to a lower level from a bucket that tick has reached;
// false when there is none.
func (t *Table) cascade() bool {
	w := t.wheel
	for level := wheelLevels - 1; level > 0; level-- {
		digit := int(w.tick>>(level*wheelDigit)) % wheelBuckets
		if w.occupied[level]&(1<<digit) != 0 {
			t.relink(w.heads[level*wheelBuckets+digit])
			return true
		}
	}
	return false
}

// advance sets tick to the next bucket that is not empty, at most to a limit.
func (w *wheel) advance(limit int64) {
	for level := range wheelLevels {
		shift := level * wheelDigit
		digit := uint(w.tick>>shift) % wheelBuckets
		if later := w.occupied[level] >> digit >> 1 << 1 << digit; later != 0 {
			start := w.tick>>(shift+wheelDigit)<<wheelDigit | int64(bits.TrailingZeros64(later))
			w.tick = min(start<<shift, limit)
			return
		}
	}
	w.tick = limit
}

func (t *Table) expireAt(r ref) int64 {
	b := t.bytes(r)
	return loadTime(b, headerOf(b).expiryAt())
}

// keyAt reads the key of the record at r; its name is a view.
func (t *Table) keyAt(r ref) Key {
	b := t.bytes(r)
	return t.Key(t.keyOf(b, headerOf(b)))
}
