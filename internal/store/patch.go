package store

// Patch overwrites bytes of the string at k from an offset on, in its place
// unless a reader has pinned it, and makes it Raw. The key must exist, be a
// string and reach that far: anything else is a bug of the caller. part must not
// be a view into the same table; an empty one only makes the string Raw.
func (t *Table) Patch(k Key, at int, part []byte) {
	f := t.find(&k)
	if f.ref == 0 {
		panic("BUG: patch of a key that does not exist")
	}
	b := t.bytes(f.ref)
	h := headerOf(b)
	if h.typ() != String {
		panic("BUG: patch of a key that is not a string")
	}
	if len(part) > 0 && h.large() && t.largeOf(b, h).shared() {
		// The readers keep the old pages.
		var c content
		t.describe(&c, f.ref)
		t.complete(&c)
		before := t.used
		t.exchange(f, &c)
		t.charge(k.Slot, before)
		f = t.find(&k)
		b = t.bytes(f.ref)
		h = headerOf(b)
	}
	store24(b, 0, uint32(h|isRaw))
	v := t.valueOf(b, h)
	if at < 0 || at+len(part) > len(v) {
		panic("BUG: patch beyond the end of a string")
	}
	copy(v[at:], part)
}
