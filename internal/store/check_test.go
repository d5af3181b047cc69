package store

import (
	"errors"
	"fmt"

	"github.com/bowline-kv/bowline/internal/page"
	"github.com/bowline-kv/bowline/slot"
)

// check walks all structures of a table and compares what they say of each other.
func (t *Table) check() error {
	refs := map[ref]bool{}
	return errors.Join(t.checkIndex(refs), t.checkSlabs(refs), t.checkBodies(refs), t.checkExpiry(), t.checkPages())
}

func (t *Table) checkIndex(refs map[ref]bool) error {
	if len(t.dir.entries) != 1<<t.dir.bits || t.dir.bits > placeBits {
		return fmt.Errorf("directory of %d bits has %d entries", t.dir.bits, len(t.dir.entries))
	}
	seen := map[uint32]bool{}
	count := 0
	for p := path(0); ; {
		n := t.segmentOf(p)
		s := &t.segs[n]
		size := path(1) << (64 - s.depth)
		if seen[n] || p&(size-1) != 0 {
			return fmt.Errorf("segment %d of depth %d is found at %x", n, s.depth, p)
		}
		seen[n] = true
		// Its last path must lead to it, too.
		if m := t.segmentOf(p + size - 1); m != n {
			return fmt.Errorf("segment %d does not reach the end of its prefix", n)
		}
		if err := t.checkSegment(s, n, refs); err != nil {
			return fmt.Errorf("segment %d: %w", n, err)
		}
		count += int(s.count)
		if p += size; p == 0 {
			break
		}
	}
	unused := 0
	for n := t.unusedSegment; n != 0; n = t.segs[n].next {
		unused++
	}
	if len(seen)+unused != len(t.segs) {
		return fmt.Errorf("%d segments in use, %d unused, of %d", len(seen), unused, len(t.segs))
	}
	if count != t.count || len(refs) != count {
		return fmt.Errorf("%d cells, %d references, count %d", count, len(refs), t.count)
	}
	return t.checkSlots(refs)
}

func (t *Table) checkSlots(refs map[ref]bool) error {
	if t.slots == nil {
		return nil
	}
	var found slotCounts
	for r := range refs {
		p := place(t.keyAt(r).Slot)
		found.keys[p]++
		found.bytes[p] += t.sizeOf(r)
		found.inUse[p/64] |= 1 << (p % 64)
	}
	if found != *t.slots {
		return fmt.Errorf("slots hold %v, counted %v", found, *t.slots)
	}
	return nil
}

// checkBodies looks into the collections, each of which one record must name.
func (t *Table) checkBodies(refs map[ref]bool) error {
	named := map[uint32]bool{}
	wakeOnly := 0
	for r := range refs {
		b := t.bytes(r)
		h := headerOf(b)
		if h.typ() == hashTimed && t.wakesOnly(b, h) {
			wakeOnly++
		}
		if !h.hasBody() {
			continue
		}
		n := t.bodyNumber(b, h)
		if named[n] || t.bodies[n] == nil {
			return fmt.Errorf("body %d is named twice, or is none", n)
		}
		named[n] = true
		if err := t.bodies[n].check(); err != nil {
			return fmt.Errorf("body %d: %w", n, err)
		}
	}
	var used int64
	live := 0
	for _, b := range t.bodies {
		if b != nil {
			live++
			used += b.bytes
		}
	}
	if live != len(named) || used != t.bodyUsed || wakeOnly != t.wakeOnly {
		return fmt.Errorf("%d bodies of %d bytes, %d named, count %d; %d wake only, count %d", live, used, len(named), t.bodyUsed, wakeOnly, t.wakeOnly)
	}
	return nil
}

func (b *Body) check() error {
	if b.bytes != b.Bytes() {
		return fmt.Errorf("takes %d bytes, counted %d", b.Bytes(), b.bytes)
	}
	if b.Members == nil {
		return nil
	}
	if b.Order != nil {
		if err := b.checkSorted(); err != nil {
			return err
		}
	}
	return b.Members.check()
}

func (t *Table) checkSegment(s *segment, n uint32, refs map[ref]bool) error {
	var cells uint32
	one := func(c cell, at uint32, over bool) error {
		cells++
		if refs[c.ref] {
			return fmt.Errorf("reference %x is there twice", c.ref)
		}
		refs[c.ref] = true
		k := t.keyAt(c.ref)
		h := home(c.tag, s.lines)
		switch {
		case t.segmentOf(k.path()) != n:
			return fmt.Errorf("key %q belongs elsewhere", k.Name)
		case tagOf(k.Hash) != c.tag || s.extraOf(k.path()) != c.extra:
			return fmt.Errorf("key %q has another tag or path", k.Name)
		case over || at == h:
		case at != secondHome(h, c.tag, s.lines):
			return fmt.Errorf("key %q is not at home", k.Name)
		case !s.line(h).spilled():
			return fmt.Errorf("key %q can't be found in its second home", k.Name)
		}
		return nil
	}
	for h := range uint32(s.lines) {
		for i := range lineCells {
			if c := s.line(h).get(i); c.ref != 0 {
				if err := one(c, h, false); err != nil {
					return err
				}
			}
		}
	}
	for _, c := range s.over {
		if err := one(c, 0, true); err != nil {
			return err
		}
	}
	if cells != s.count || int(s.lines) != int(s.pages)*linesPerPage || (s.pages == 0) != (s.count == 0) {
		return fmt.Errorf("%d cells, count %d, %d pages", cells, s.count, s.pages)
	}
	return nil
}

func (t *Table) checkSlabs(refs map[ref]bool) error {
	var states [classesMax]classState
	var used int64
	large := 0
	for n := range t.slabs {
		s := &t.slabs[n]
		if s.addr == 0 {
			continue
		}
		info := classes[s.class]
		live := 0
		for i := range int(s.bump) {
			r := refOf(uint32(n), i)
			h := headerOf(t.bytes(r))
			if h != 0 {
				live++
				used += t.sizeOf(r)
			}
			if (h != 0) != refs[r] {
				return fmt.Errorf("slot %x has header %x, in the index: %v", r, h, refs[r])
			}
			if h != 0 && h.large() {
				large++
			}
		}
		free := 0
		for at, last := int(s.free), -1; at != noSlot && at != last; free++ {
			last, at = at, int(t.bytes(refOf(uint32(n), at))[3])
		}
		if live != int(s.live) || live+free != int(s.bump) || live == 0 || s.bump > info.slots || s.leaving {
			return fmt.Errorf("slab %d: %d live, %d free, %+v", n, live, free, *s)
		}
		states[s.class].slabs++
		states[s.class].live += uint32(live)
	}
	for c := range classCount {
		listed := uint32(0)
		for n, prev := t.states[c].partial, uint32(0); n != 0; n, prev = t.slabs[n].next, n {
			if s := &t.slabs[n]; s.prev != prev || s.live >= classes[c].slots || s.class != class(c) {
				return fmt.Errorf("slab %d is listed wrongly: %+v", n, *s)
			}
			listed++
		}
		full := uint32(0)
		for n := range t.slabs {
			if s := &t.slabs[n]; s.addr != 0 && s.class == class(c) && s.live == classes[c].slots {
				full++
			}
		}
		if st := t.states[c]; st.slabs != states[c].slabs || st.live != states[c].live || listed+full != st.slabs {
			return fmt.Errorf("class %d: %+v, found %+v, %d listed and %d full", c, st, states[c], listed, full)
		}
	}
	if used != t.used || large != t.largeCount {
		return fmt.Errorf("%d bytes used, count %d; %d large, count %d", used, t.used, large, t.largeCount)
	}
	return nil
}

func (t *Table) checkExpiry() error {
	if t.wheel == nil {
		return nil
	}
	w := t.wheel
	count, timed := 0, 0
	for bucket, head := range w.heads {
		prev := isBucket | uint32(bucket)
		for r := head; r != 0; count++ {
			b := t.bytes(r)
			h := headerOf(b)
			if h&hasExpiry == 0 || load32(b, h.expiryAt()+prevOffset) != prev {
				return fmt.Errorf("record %x in bucket %d: header %x", r, bucket, h)
			}
			if h.typ() == hashTimed {
				timed++
			}
			at := loadTime(b, h.expiryAt())
			if bucket < overdue {
				level, digit := bucket/wheelBuckets, int64(bucket%wheelBuckets)
				start := (w.tick>>(level*wheelDigit)&^(wheelBuckets-1) | digit) << (level * wheelDigit)
				if start+1<<(level*wheelDigit) <= w.tick || start > w.tick && start > at>>tickShift {
					return fmt.Errorf("record of time %d is in bucket %d at tick %d", at, bucket, w.tick)
				}
			}
			prev, r = uint32(r), ref(load32(b, h.expiryAt()+nextOffset))
		}
		if bucket < overdue && (head != 0) != (w.occupied[bucket/wheelBuckets]>>(bucket%wheelBuckets)&1 == 1) {
			return fmt.Errorf("bucket %d has its bit wrong", bucket)
		}
	}
	if count != t.expiring || timed != t.timed {
		return fmt.Errorf("%d records in buckets, count %d; %d timed, count %d", count, t.expiring, timed, t.timed)
	}
	return nil
}

func (t *Table) checkPages() error {
	var pages int64
	for _, s := range t.slabs {
		if s.addr != 0 {
			pages += int64(classes[s.class].pages)
		}
	}
	index := int64(0)
	for _, s := range t.segs {
		index += int64(s.pages)
	}
	pages += index
	for _, block := range t.larges {
		for _, l := range block {
			pages += int64(l.pages)
		}
	}
	if pages != t.pages || index != t.indexPages {
		return fmt.Errorf("%d pages, count %d; %d of the index, count %d", pages, t.pages, index, t.indexPages)
	}
	return nil
}

// slotTags has a hash tag for each slot of stripe 0.
var slotTags = func() (tags [SlotsPerTable]string) {
	for i, missing := 0, SlotsPerTable; missing > 0; i++ {
		tag := fmt.Sprintf("{%x}", i)
		if s := slot.Of([]byte(tag)); StripeOf(s) == 0 && tags[place(s)] == "" {
			tags[place(s)] = tag
			missing--
		}
	}
	return tags
}()

const testSeed = 0x1234567

// keyFor is a key of the slot at a place of stripe 0.
func keyFor(p int, name string) Key {
	full := []byte(slotTags[p] + name)
	return Key{Name: full, Hash: HashOf(testSeed, full), Slot: slot.Of(full)}
}

func newTestTable(cleanup func(func())) (*Table, *page.Pool) {
	pool := page.New()
	cleanup(pool.Close)
	return NewTable(pool, testSeed), pool
}
