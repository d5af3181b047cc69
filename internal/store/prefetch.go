package store

import (
	"math/bits"

	"github.com/bowline-kv/bowline/internal/page"
)

// Prepare asks for the index line with which a key's lookup begins, and Load for
// the record to which it leads. A pipeline calls them for a batch of keys, first
// one then the other, so that the cache misses of all overlap. They change and
// promise nothing.
func (t *Table) Prepare(k *Key) {
	s := &t.segs[t.segmentOf(k.path())]
	(s.addr + page.Addr(home(tagOf(k.Hash), s.lines))*lineBytes).Prefetch()
}

// MembersOf gives the members of the large collection at a key, for Prepare and
// Load; nil when there is none.
func (t *Table) MembersOf(k *Key) *Table {
	f := t.find(k)
	if f.ref == 0 {
		return nil
	}
	b := t.bytes(f.ref)
	h := headerOf(b)
	if !h.hasBody() {
		return nil
	}
	return t.bodies[t.bodyNumber(b, h)].Members
}

// Load asks for the first two cache lines of the record to which a key's tag
// leads: nearly always its own, if it has one. See [Table.Prepare].
func (t *Table) Load(k *Key) {
	s := &t.segs[t.segmentOf(k.path())]
	if s.lines == 0 {
		return
	}
	tag := tagOf(k.Hash)
	h := home(tag, s.lines)
	l := s.line(h)
	m := l.match(tag)
	if m == 0 {
		if !l.spilled() {
			return
		}
		l = s.line(secondHome(h, tag, s.lines))
		m = l.match(tag)
	}
	// Without a match the answer is the first cell's record, which does no harm.
	r := l.ref(bits.TrailingZeros32(m) % lineCells)
	at := t.addrOf(r)
	at.Prefetch()
	(at + lineBytes).Prefetch()
}
