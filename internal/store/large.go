package store

import (
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/page"
)

// large is a key and a value in a run of pages of their own:
//
//	addr -> | key | value | room to grow |
type large struct {
	addr   page.Addr
	pages  uint32
	keyLen uint32
	valLen uint32
	next   uint32 // the next unused number
	// hold is set once the value was pinned.
	hold *hold
}

const largeBlock = 64

// hold counts who needs a run: the table, and each Pinned.
type hold struct {
	pool  *page.Pool
	run   page.Run
	users atomic.Int32
}

func (h *hold) release() {
	if h.users.Add(-1) == 0 {
		h.pool.Free(h.run.Addr, h.run.Pages)
	}
}

func (l *large) value() []byte {
	b := l.addr.Bytes(int(l.keyLen + l.valLen))
	return b[l.keyLen:len(b):len(b)]
}

func (l *large) room() int { return int(l.pages)*page.Size - int(l.keyLen) }

// shared says whether a reader outside the lock may be looking at the value.
func (l *large) shared() bool { return l.hold != nil && l.hold.users.Load() > 1 }

// PinnedMin is the length from which a value should be pinned rather than copied
// under the lock.
const PinnedMin = 64 << 10

// Pinned is a value that outlives the lock under which it was taken. Its bytes
// do not change, whatever happens to the key.
type Pinned struct {
	// Bytes is the value; the holder must not change it, nor use it after Release.
	Bytes []byte
	hold  *hold
}

// Release gives the value up. It must be called exactly once, from any goroutine.
func (p Pinned) Release() { p.hold.release() }

// Pin keeps the value of an entry of this table, which the caller has just got,
// beyond the lock; false when the value is short and must be copied.
func (t *Table) Pin(e Entry) (Pinned, bool) {
	b := t.bytes(e.ref)
	h := headerOf(b)
	if !h.large() || len(e.Value) < PinnedMin {
		return Pinned{}, false
	}
	l := t.largeOf(b, h)
	if l.hold == nil {
		l.hold = &hold{pool: t.pool, run: page.Run{Addr: l.addr, Pages: int(l.pages)}}
		l.hold.users.Store(1)
	}
	l.hold.users.Add(1)
	return Pinned{Bytes: e.Value, hold: l.hold}, true
}

func (t *Table) largeAt(n uint32) *large { return &t.larges[n/largeBlock][n%largeBlock] }

func (t *Table) largeOf(b []byte, h header) *large { return t.largeAt(load32(b, h.bodyAt())) }

// createLarge writes a record with pages of its own.
func (t *Table) createLarge(c *content) ref {
	n := t.newLarge()
	l := t.largeAt(n)
	size := len(c.key) + c.valueLen()
	l.keyLen, l.valLen = uint32(len(c.key)), uint32(c.valueLen())
	if c.grows {
		// Geometric slack: appending n bytes one by one copies O(n) bytes.
		l.pages = uint32(page.PagesFor(size + size/4))
		l.addr = t.pool.AllocGrowing(int(l.pages))
	} else {
		l.pages = uint32(page.PagesFor(size))
		l.addr = t.pool.Alloc(int(l.pages))
	}
	t.pages += int64(l.pages)
	t.used += int64(l.pages) * page.Size
	b := l.addr.Bytes(size)
	at := copy(b, c.key)
	at += copy(b[at:], c.value)
	copy(b[at:], c.suffix)
	return t.createStub(c, n)
}

// createStub writes the slot that names a large.
func (t *Table) createStub(c *content, n uint32) ref {
	h := c.flags &^ (sizeMask | keyLenMask<<keyLenShift)
	r := t.allocSlot(classOf(h.bodyAt() + largeBytes))
	b := t.bytes(r)
	store24(b, 0, uint32(h))
	store32(b, h.bodyAt(), n)
	t.finish(r, b, h, c)
	return r
}

func (t *Table) newLarge() uint32 {
	if t.unusedLarge == 0 {
		first := uint32(len(t.larges) * largeBlock)
		t.larges = append(t.larges, new([largeBlock]large))
		for n := first + largeBlock - 1; n > first; n-- {
			t.largeAt(n).next = t.unusedLarge
			t.unusedLarge = n
		}
		if first > 0 { // number 0 is none
			t.largeAt(first).next = t.unusedLarge
			t.unusedLarge = first
		}
	}
	n := t.unusedLarge
	t.unusedLarge = t.largeAt(n).next
	t.largeCount++
	return n
}

// freeLarge gives the pages back, or leaves that to the last reader.
func (t *Table) freeLarge(n uint32) {
	l := t.largeAt(n)
	t.freeLargeRun(l)
	*l = large{next: t.unusedLarge}
	t.unusedLarge = n
	if t.largeCount--; t.largeCount == 0 {
		t.larges, t.unusedLarge = nil, 0
	}
}

func (t *Table) freeLargeRun(l *large) {
	t.pages -= int64(l.pages)
	t.used -= int64(l.pages) * page.Size
	if l.hold != nil {
		l.hold.release()
	} else {
		t.pool.Free(l.addr, int(l.pages))
	}
}

// overwriteLarge replaces a large value where it is; false when it does not fit,
// would waste half of the pages, or somebody is reading it.
func (t *Table) overwriteLarge(l *large, value []byte) bool {
	if l.shared() || len(value) > l.room() || page.PagesFor(len(value)+int(l.keyLen)) < int(l.pages)/2 {
		return false
	}
	l.valLen = uint32(len(value))
	copy(l.value(), value)
	return true
}

// appendLarge adds to a large value where it is; false when there is no room.
// Readers see the bytes up to the length that they know, which do not change.
func (t *Table) appendLarge(l *large, suffix []byte) bool {
	need := int(l.valLen) + len(suffix)
	if need > l.room() {
		size := int(l.keyLen) + need
		more := page.PagesFor(size + size/4)
		if l.hold != nil || !t.pool.Grow(l.addr, int(l.pages), more) {
			return false
		}
		t.pages += int64(more) - int64(l.pages)
		t.used += (int64(more) - int64(l.pages)) * page.Size
		l.pages = uint32(more)
	}
	old := l.valLen
	l.valLen = uint32(need)
	copy(l.value()[old:], suffix)
	return true
}
