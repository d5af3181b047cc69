package store

// path is the order of keys in the index: the place of the slot in its stripe
// (8 bits), then the upper 56 bits of the hash. The tag is the lower 16 bits of
// the hash, of which no directory is deep enough to look at any.
type path uint64

const (
	placeBits  = 8
	placeShift = 64 - placeBits
	// subBitsMax bounds the directory of one slot: 16 million segments.
	subBitsMax = 24
)

func pathOf(p int, hash uint64) path { return path(uint64(p)<<placeShift | hash>>placeBits) }

// path takes a pointer: a Key is too wide to be kept in registers, and copying one
// that was just written stalls the processor until all earlier reads are done,
// which is what the batches of a pipeline must not do.
func (k *Key) path() path { return pathOf(place(k.Slot), k.Hash) }

func tagOf(hash uint64) uint16 { return uint16(hash) }

// The directory has one entry for each of 2^bits prefixes of paths, and bits is
// at most 8: an entry is a segment, which serves several slots while they are
// small, or, for a slot with many keys, a directory of its own:
//
//	dir      00   01   10       11           2 bits: 64 slots of the stripe each
//	          \   /     |        |
//	        segment   segment   segment
//	        depth 1   depth 2   depth 2
//
//	dir      ...  | slot 17's |  ...         8 bits: one slot an entry
//	                    |
//	sub       0    1    2    3               the slot's hashes by their first bits
type directory struct {
	entries []uint32 // segment, or subFlag and the number of a sub; length 2^bits
	bits    uint8
	subs    []sub
	unused  []uint32 // numbers of subs
}

// sub is the directory of one slot.
type sub struct {
	segments []uint32 // length 2^bits
	bits     uint8
	deepest  uint32 // segments that have one entry only
}

const subFlag = 1 << 31

// segmentOf is the number of the segment for a path.
func (t *Table) segmentOf(p path) uint32 {
	e := t.dir.entries[p>>(64-t.dir.bits)]
	if e&subFlag != 0 {
		s := &t.dir.subs[e&^subFlag]
		e = s.segments[p<<placeBits>>(64-s.bits)]
	}
	return e
}

// setSegment makes all entries of a prefix of the given depth name a segment. The
// directory must be deep enough.
func (t *Table) setSegment(p path, depth uint8, n uint32) {
	list, bits := t.dir.entries, t.dir.bits
	if depth > placeBits {
		s := &t.dir.subs[t.dir.entries[p>>placeShift]&^subFlag]
		list, bits = s.segments, s.bits
		p <<= placeBits
		depth -= placeBits
	}
	first := p >> (64 - depth) << (bits - depth)
	for i := range path(1) << (bits - depth) {
		list[first+i] = n
	}
}

// deepen makes room for two segments in the place of one of the given depth.
func (t *Table) deepen(p path, depth uint8) {
	d := &t.dir
	switch {
	case depth < d.bits:
	case depth < placeBits:
		d.entries = doubled(d.entries)
		d.bits++
	case depth == placeBits:
		n := uint32(len(d.subs))
		if last := len(d.unused) - 1; last >= 0 {
			n = d.unused[last]
			d.unused = d.unused[:last]
		} else {
			d.subs = append(d.subs, sub{})
		}
		e := d.entries[p>>placeShift]
		d.subs[n] = sub{segments: []uint32{e, e}, bits: 1}
		d.entries[p>>placeShift] = subFlag | n
	default:
		s := &d.subs[d.entries[p>>placeShift]&^subFlag]
		if depth == placeBits+s.bits {
			s.segments = doubled(s.segments)
			s.bits++
			s.deepest = 0
		}
	}
}

// flatten is the reverse of deepen, after two segments of the given depth became
// one of depth-1.
func (t *Table) flatten(p path, depth uint8) {
	d := &t.dir
	switch {
	case depth == placeBits+1: // dropSub was its part
	case depth > placeBits:
		s := &d.subs[d.entries[p>>placeShift]&^subFlag]
		if depth < placeBits+s.bits {
			return
		}
		for s.deepest -= 2; s.deepest == 0 && s.bits > 1; {
			s.segments = halved(s.segments)
			s.bits--
			for _, n := range s.segments {
				if t.segs[n].depth == placeBits+s.bits {
					s.deepest++
				}
			}
		}
	case depth == d.bits:
		for d.bits > 0 && !t.anyAtDepth(d.bits) {
			d.entries = halved(d.entries)
			d.bits--
		}
	}
}

// dropSub ends the directory of a slot whose last two segments became one.
func (t *Table) dropSub(p path) {
	d := &t.dir
	e := d.entries[p>>placeShift] &^ subFlag
	d.subs[e] = sub{}
	d.unused = append(d.unused, e)
}

func (t *Table) anyAtDepth(depth uint8) bool {
	for _, e := range t.dir.entries {
		if e&subFlag != 0 || t.segs[e].depth == depth {
			return true
		}
	}
	return false
}

func doubled(list []uint32) []uint32 {
	out := make([]uint32, 2*len(list))
	for i, e := range list {
		out[2*i], out[2*i+1] = e, e
	}
	return out
}

func halved(list []uint32) []uint32 {
	out := make([]uint32, len(list)/2)
	for i := range out {
		out[i] = list[2*i]
	}
	return out
}

// grow makes room in a segment, which may then be another one; false when it
// can't.
func (t *Table) grow(n uint32, p path) bool {
	if s := &t.segs[n]; s.pages < segmentPages {
		t.resize(n, s.pages+1)
		return true
	}
	return t.split(n, p)
}

// split makes two segments of one, by the next bit of the path.
func (t *Table) split(n uint32, p path) bool {
	s := &t.segs[n]
	d := s.depth
	if s.mask == 0 || d < s.base || d >= s.base+extraBits {
		t.refresh(s)
	}
	shift := extraBits - 1 - (d - s.base)
	var ones uint32
	s.each(func(c cell) { ones += uint32(c.extra >> shift & 1) })
	// Keys of one hash, which nobody can make who does not know the seed, are not
	// told apart by splitting on and on.
	if least := min(ones, s.count-ones); d >= placeBits && (least < s.count/16 || d >= placeBits+subBitsMax) {
		return false
	}
	t.deepen(p, d)
	upper := t.newSegment()
	old := t.segs[n]
	var halves [2]*segment
	for i, m := range [2]uint32{n, upper} {
		halves[i] = &t.segs[m]
		*halves[i] = segment{depth: d + 1, base: old.base, mask: old.mask}
		t.equip(halves[i], pagesFor([2]uint32{old.count - ones, ones}[i]))
	}
	old.each(func(c cell) { halves[c.extra>>shift&1].add(c) })
	t.dropLines(&old)
	t.setSegment(p|1<<(63-d), d+1, upper)
	if d >= placeBits {
		t.countDeepest(p, d+1, 2)
	}
	return true
}

// countDeepest keeps sub.deepest after a split into segments of depth d.
func (t *Table) countDeepest(p path, d uint8, n uint32) {
	if s := &t.dir.subs[t.dir.entries[p>>placeShift]&^subFlag]; d == placeBits+s.bits {
		s.deepest += n
	}
}

// merge joins a segment with its buddy as long as both are nearly empty.
func (t *Table) merge(p path) {
	for {
		n := t.segmentOf(p)
		d := t.segs[n].depth
		if d == 0 {
			return
		}
		m := t.segmentOf(p ^ 1<<(64-d))
		if m < n { // so that number 0, which ends the list of unused ones, is never freed
			n, m = m, n
		}
		a, b := t.segs[n], t.segs[m]
		if a.depth != b.depth || a.count+b.count > mergeMax {
			return
		}
		joined := &t.segs[n]
		*joined = segment{depth: d - 1}
		known := a.base == b.base && a.mask != 0 && b.mask != 0 && a.base < d
		if known {
			joined.base, joined.mask = a.base, a.mask
		}
		t.equip(joined, pagesFor(a.count+b.count))
		for _, half := range [2]*segment{&a, &b} {
			half.each(func(c cell) {
				c.extra &= joined.mask
				joined.add(c)
			})
			t.dropLines(half)
		}
		t.freeSegment(m)
		if d == placeBits+1 {
			t.dropSub(p)
		}
		t.setSegment(p, d-1, n)
		t.flatten(p, d)
	}
}

func (t *Table) newSegment() uint32 {
	if n := t.unusedSegment; n != 0 {
		t.unusedSegment = t.segs[n].next
		return n
	}
	t.segs = append(t.segs, segment{})
	return uint32(len(t.segs) - 1)
}

func (t *Table) freeSegment(n uint32) {
	t.segs[n] = segment{next: t.unusedSegment}
	t.unusedSegment = n
}

// pathAt reads the path of the record at r.
func (t *Table) pathAt(r ref) path {
	b := t.bytes(r)
	k := t.Key(t.keyOf(b, headerOf(b)))
	return k.path()
}
