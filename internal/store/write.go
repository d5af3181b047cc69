package store

import "github.com/bowline-kv/bowline/internal/page"

// SetRecord makes k a value of the given type, of a copy of the packed bytes,
// whatever it was before: for a string, its content. expireAt is a unix time in
// milliseconds, 0 or less: no expiry. value must not be a view into the same table. A record that is replaced
// keeps its access bits.
func (t *Table) SetRecord(k Key, typ Type, value []byte, expireAt int64) {
	c := content{key: k.Name, value: value, flags: header(typ&7) << typeShift, access: t.stamp, expireAt: max(0, expireAt)}
	t.complete(&c)
	t.put(&k, &c)
}

// Add makes k a value as SetRecord does, without expiry, unless there is such a key;
// it says whether it did.
func (t *Table) Add(k Key, typ Type, value []byte) bool {
	if t.find(&k).ref != 0 {
		return false
	}
	if t.image != nil {
		t.image.change(&k, 0)
	}
	c := content{key: k.Name, value: value, flags: header(typ&7) << typeShift, access: t.stamp}
	t.complete(&c)
	before := t.used
	t.insert(&k, t.create(&c))
	t.charge(k.Slot, before)
	return true
}

func (t *Table) put(k *Key, c *content) {
	before := t.used
	f := t.find(k)
	if t.image != nil {
		t.image.change(k, f.ref)
	}
	if f.ref != 0 {
		t.replace(f, c)
	} else {
		t.insert(k, t.create(c))
	}
	t.charge(k.Slot, before)
}

// replace gives the record of a cell new content, in place if its slot has the
// right class.
func (t *Table) replace(f found, c *content) {
	b := t.bytes(f.ref)
	h := headerOf(b)
	if h&hasAccess != 0 {
		c.access = load24(b, h.accessAt())
	}
	if h.special() || c.flags.special() {
		t.exchange(f, c)
		return
	}
	size := recordSize(c.flags, len(c.key), c.valueLen())
	same := (h^c.flags)&(hasExpiry|hasAccess) == 0
	switch {
	case !same || h.large() != (size > recordMax):
	case h.large():
		if t.overwriteLarge(t.largeOf(b, h), c.value) {
			store24(b, 0, uint32(h&^headerFlags|c.flags))
			t.moveExpiry(f.ref, b, h, c.expireAt)
			return
		}
	case classOf(size) == t.classOfRef(f.ref):
		writeRecord(b, c, size)
		t.moveExpiry(f.ref, b, h, c.expireAt)
		return
	}
	t.exchange(f, c)
}

// exchange writes a new record for a cell and frees the old one, but not a body
// that both have.
func (t *Table) exchange(f found, c *content) {
	r := t.create(c)
	t.setRef(f, r)
	b := t.bytes(f.ref)
	if h := headerOf(b); c.body != 0 && h.hasBody() && t.bodyNumber(b, h) == c.body {
		t.releaseSlot(f.ref, b, h)
		return
	}
	t.release(f.ref)
}

// Overwrite gives an entry, which the caller has just got, a new value of the same
// type without looking it up again, and keeps its expiry time; false when that
// needs another slot, or one of the values is not packed or has times. A string is
// no longer Raw then. value may be what [Table.Room] gave for the entry, with another
// length. The entry's view dies.
func (t *Table) Overwrite(e *Entry, value []byte) bool {
	b := t.bytes(e.ref)
	h := headerOf(b)
	if h.special() {
		return false
	}
	if h.large() {
		return t.overwriteEntry(b, h, value)
	}
	at := h.bodyAt() + h.keyLen(b)
	size := at + len(value)
	if size > recordMax || classOf(size) != t.classOfRef(e.ref) {
		return false
	}
	copy(b[at:], value)
	store24(b, 0, uint32(h&^(isRaw|sizeMask)|header(size)))
	return true
}

// overwriteEntry is Overwrite of a large value.
func (t *Table) overwriteEntry(b []byte, h header, value []byte) bool {
	l := t.largeOf(b, h)
	old := l.value()
	switch inPlace := len(old) > 0 && len(value) > 0 && &old[0] == &value[0]; {
	case len(value) <= recordMax/2:
		return false // it needs no pages of its own any more
	case inPlace:
		l.valLen = uint32(len(value))
	case !t.overwriteLarge(l, value):
		return false
	}
	store24(b, 0, uint32(h&^isRaw))
	return true
}

// Room gives the packed value of an entry, which the caller has just got, to be
// changed in place, with the room behind it as its capacity; [Table.Overwrite]
// must follow, and [Table.Put] where that says no. nil when the value is short, has
// times, or somebody reads it.
func (t *Table) Room(e *Entry) []byte {
	b := t.bytes(e.ref)
	h := headerOf(b)
	if !h.large() || h.special() {
		return nil
	}
	l := t.largeOf(b, h)
	if l.shared() {
		return nil
	}
	return l.addr.Bytes(int(l.pages) * page.Size)[l.keyLen : l.keyLen+l.valLen]
}

// Append adds suffix to the string at k and returns the new length in bytes.
// The key must exist and be a string: anything else is a bug of the caller.
// suffix must not be a view into the same table.
func (t *Table) Append(k Key, suffix []byte) int {
	f := t.find(&k)
	if f.ref == 0 {
		panic("BUG: append to a key that does not exist")
	}
	b := t.bytes(f.ref)
	h := headerOf(b)
	if h.typ() != String {
		panic("BUG: append to a key that is not a string")
	}
	store24(b, 0, uint32(h|isRaw))
	before := t.used
	if h.large() {
		l := t.largeOf(b, h)
		if t.appendLarge(l, suffix) {
			t.charge(k.Slot, before)
			return int(l.valLen)
		}
	} else if size := h.size() + len(suffix); size <= recordMax && classOf(size) == t.classOfRef(f.ref) {
		copy(b[h.size():], suffix)
		store24(b, 0, uint32(h|isRaw)+uint32(len(suffix)))
		return size - h.bodyAt() - h.keyLen(b)
	}
	var c content
	t.describe(&c, f.ref)
	t.complete(&c)
	c.suffix, c.grows = suffix, true
	n := c.valueLen()
	t.exchange(f, &c)
	t.charge(k.Slot, before)
	return n
}

// SetExpiry sets the expiry time (unix milliseconds, 0: none) of a key; false
// when there is no such key.
func (t *Table) SetExpiry(k Key, expireAt int64) bool {
	f := t.find(&k)
	if f.ref == 0 {
		return false
	}
	if t.image != nil {
		t.image.change(&k, f.ref)
	}
	expireAt = max(0, expireAt)
	b := t.bytes(f.ref)
	h := headerOf(b)
	if h.typ() == hashTimed {
		t.setTimedExpiry(f.ref, b, h, expireAt)
		return true
	}
	before := t.used
	defer func() { t.charge(k.Slot, before) }()
	if (h&hasExpiry != 0) == (expireAt != 0) {
		t.moveExpiry(f.ref, b, h, expireAt)
		return true
	}
	// The record gets longer or shorter.
	var c content
	t.describe(&c, f.ref)
	c.expireAt = expireAt
	t.complete(&c)
	if !h.large() {
		t.exchange(f, &c)
		return true
	}
	n := load32(b, h.bodyAt())
	r := t.createStub(&c, n)
	t.setRef(f, r)
	t.releaseSlot(f.ref, b, h)
	return true
}
