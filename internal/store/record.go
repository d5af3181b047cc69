package store

import "github.com/bowline-kv/bowline/internal/page"

// A record fills a slot:
//
//	| header 3 | key length 2 | time 8, prev 4, next 4 | access 3 | key | value | slack |
//	             long keys      records that expire      tables
//	             only                                    that keep it
//
//	header, 24 bits:  raw | access | expiry | type 3 | key length 6 | size 12
//	                  23    22       21       18..20   12..17         0..11
//
// size is the bytes from the header to the end of the value, and key length 63
// means that the length follows. A header is never zero in use, as there is no type 0.
//
// Size 0 marks a large record, whose key and value are in pages of their own:
//
//	| header 3 | time 8, prev 4, next 4 | access 3 | number of the large 4 | slack |
type header uint32

const (
	headerBytes = 3
	expiryBytes = 16
	accessBytes = 3
	largeBytes  = 4

	sizeMask     = 1<<12 - 1
	keyLenShift  = 12
	keyLenMask   = 63
	keyLenLong   = 63
	typeShift    = 18
	hasExpiry    = header(1 << 21)
	hasAccess    = header(1 << 22)
	isRaw        = header(1 << 23)
	headerFlags  = hasExpiry | hasAccess | isRaw | 7<<typeShift
	recordMax    = sizeMask
	prevOffset   = 8
	nextOffset   = 12
	accessMax    = 1<<24 - 1
	largeKeyBase = headerBytes
)

func headerOf(b []byte) header { return header(load32(b, 0) & 0xffffff) }

func (h header) typ() Type   { return Type(h >> typeShift & 7) }
func (h header) size() int   { return int(h & sizeMask) }
func (h header) large() bool { return h&sizeMask == 0 }

// expiryAt is the offset of the expiry time.
func (h header) expiryAt() int {
	if h>>keyLenShift&keyLenMask == keyLenLong {
		return headerBytes + 2
	}
	return headerBytes
}

// accessAt is the offset of the access bits.
func (h header) accessAt() int {
	if h&hasExpiry != 0 {
		return h.expiryAt() + expiryBytes
	}
	return h.expiryAt()
}

// bodyAt is the offset of the key, or of a large's number.
func (h header) bodyAt() int {
	if h&hasAccess != 0 {
		return h.accessAt() + accessBytes
	}
	return h.accessAt()
}

// keyLen is the length of the key of a record that is not large.
func (h header) keyLen(b []byte) int {
	if n := int(h >> keyLenShift & keyLenMask); n != keyLenLong {
		return n
	}
	return int(load16(b, headerBytes))
}

// recordSize is the size of a record that is not large; above recordMax it must be.
func recordSize(flags header, keyLen, valueLen int) int {
	h := flags
	if keyLen >= keyLenLong {
		h |= keyLenLong << keyLenShift
	}
	return h.bodyAt() + keyLen + valueLen
}

// keyOf is the key of the record in slot memory b.
func (t *Table) keyOf(b []byte, h header) []byte {
	if h.large() {
		l := t.largeOf(b, h)
		return l.addr.Bytes(int(l.keyLen))
	}
	at := h.bodyAt()
	return b[at : at+h.keyLen(b)]
}

// valueOf is the value of the record in slot memory b, without spare capacity.
func (t *Table) valueOf(b []byte, h header) []byte {
	if h.large() {
		return t.largeOf(b, h).value()
	}
	n := h.size()
	return b[h.bodyAt()+h.keyLen(b) : n : n]
}

// hasKey says whether the record at r is that of a key.
func (t *Table) hasKey(r ref, name []byte) bool {
	b := t.bytes(r)
	h := headerOf(b)
	if n := int(h >> keyLenShift & keyLenMask); n < keyLenLong && n != len(name) && !h.large() {
		return false
	}
	return string(t.keyOf(b, h)) == string(name)
}

// entry is the view of the record at r.
func (t *Table) entry(r ref) (e Entry) {
	t.fill(&e, r)
	return e
}

// fill makes e, which is zero, the view of the record at r.
func (t *Table) fill(e *Entry, r ref) {
	b := t.bytes(r)
	h := headerOf(b)
	e.Type, e.Raw, e.ref = h.typ(), h&isRaw != 0, r
	if h&(hasExpiry|hasAccess) != 0 {
		if h&hasExpiry != 0 {
			e.ExpireAt = loadTime(b, h.expiryAt())
		}
		if h&hasAccess != 0 {
			e.Access = load24(b, h.accessAt())
		}
	}
	e.Value = t.valueOf(b, h)
	if e.Type == hashTimed {
		e.Type, e.Timed = Hash, true
		e.ExpireAt, e.Value = loadTime(e.Value, 0), e.Value[timedBytes:]
	}
}

// content is what a new record is made of. The parts may be views of other
// records of the table.
type content struct {
	key, value, suffix []byte // the value is value followed by suffix
	flags              header // type and raw
	access             uint32
	expireAt           int64
	grows              bool   // a large one gets room to grow
	body               uint32 // the number of the body that the value names; 0: none
}

func (c *content) valueLen() int { return len(c.value) + len(c.suffix) }

// complete adds the flags that follow from the rest.
func (t *Table) complete(c *content) {
	if c.expireAt != 0 {
		c.flags |= hasExpiry
	}
	if t.keepAccess {
		c.flags |= hasAccess
	}
}

// create writes a new record and links its expiry.
func (t *Table) create(c *content) ref {
	size := recordSize(c.flags, len(c.key), c.valueLen())
	if size > recordMax {
		return t.createLarge(c)
	}
	r := t.allocSlot(classOf(size))
	b := t.bytes(r)
	h := writeRecord(b, c, size)
	t.finish(r, b, h, c)
	return r
}

// writeRecord writes all but the expiry and access bits. The key goes first, as
// it may be the one in b.
func writeRecord(b []byte, c *content, size int) header {
	h := c.flags | header(size)
	if len(c.key) >= keyLenLong {
		h |= keyLenLong << keyLenShift
	} else {
		h |= header(len(c.key)) << keyLenShift
	}
	at := h.bodyAt()
	at += copy(b[at:], c.key)
	at += copy(b[at:], c.value)
	copy(b[at:], c.suffix)
	store24(b, 0, uint32(h))
	if len(c.key) >= keyLenLong {
		store16(b, headerBytes, uint16(len(c.key)))
	}
	return h
}

// finish writes expiry and access bits of a record at a new place.
func (t *Table) finish(r ref, b []byte, h header, c *content) {
	if h&hasAccess != 0 {
		store24(b, h.accessAt(), c.access)
	}
	if h&hasExpiry != 0 {
		storeTime(b, h.expiryAt(), c.expireAt)
		t.linkExpiry(r, b, h)
		t.expiring++
		if h.typ() == hashTimed {
			t.timed++
		}
		if t.wakesOnly(b, h) {
			t.wakeOnly++
		}
	}
}

// describe makes c the content of the record at r, in views.
func (t *Table) describe(c *content, r ref) {
	e := t.entry(r)
	b := t.bytes(r)
	h := headerOf(b)
	*c = content{
		key: t.keyOf(b, h), value: e.Value, flags: h &^ (sizeMask | keyLenMask<<keyLenShift | hasExpiry | hasAccess),
		access: e.Access, expireAt: e.ExpireAt,
	}
	if h&hasAccess == 0 {
		c.access = t.stamp
	}
	if h.hasBody() {
		c.body = t.bodyNumber(b, h)
	}
}

// release frees the record at r and all that belongs to it.
func (t *Table) release(r ref) {
	b := t.bytes(r)
	h := headerOf(b)
	if h.hasBody() {
		t.freeBody(t.bodyNumber(b, h))
	}
	number := uint32(0)
	if h.large() {
		number = load32(b, h.bodyAt())
	}
	t.releaseSlot(r, b, h)
	if number != 0 {
		t.freeLarge(number)
	}
}

// releaseSlot frees the slot, but not a large value.
func (t *Table) releaseSlot(r ref, b []byte, h header) {
	if h&hasExpiry != 0 {
		t.unlinkExpiry(b, h)
		t.expiring--
		if h.typ() == hashTimed {
			t.timed--
		}
		if t.wakesOnly(b, h) {
			t.wakeOnly--
		}
	}
	t.freeSlot(r)
}

// sizeOf is the memory of the record at r.
func (t *Table) sizeOf(r ref) int64 {
	b := t.bytes(r)
	n := int64(len(b))
	h := headerOf(b)
	if h.large() {
		n += int64(t.largeOf(b, h).pages) * page.Size
	}
	if h.hasBody() {
		n += t.bodies[t.bodyNumber(b, h)].bytes
	}
	return n
}
