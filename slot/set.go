package slot

import (
	"iter"
	"math/bits"
	"strings"
)

const words = Count / 64

// Set is a set of slots: a bitmap of 2 KiB. The zero value is empty; assigning
// it copies it, and == compares it. A Set that one goroutine changes must not
// be read by another at the same time.
type Set struct {
	bits [words]uint64 // slot i is bit i%64 of word i/64
}

// SetOf returns the set of the given ranges, which may overlap.
func SetOf(ranges ...Range) Set {
	var s Set
	for _, r := range ranges {
		s.AddRange(r)
	}
	return s
}

// Full returns the set of all slots.
func Full() Set { return SetOf(Range{0, Count - 1}) }

// Add puts id into the set. It ignores an id that is not below Count.
func (s *Set) Add(id ID) {
	if id < Count {
		s.bits[id/64] |= 1 << (id % 64)
	}
}

// Remove takes id out of the set, if it is there.
func (s *Set) Remove(id ID) {
	if id < Count {
		s.bits[id/64] &^= 1 << (id % 64)
	}
}

// Has reports whether id is in the set.
func (s *Set) Has(id ID) bool {
	return id < Count && s.bits[id/64]&(1<<(id%64)) != 0
}

// AddRange puts every slot of r into the set; of an invalid range, those that
// exist.
func (s *Set) AddRange(r Range) {
	for w, mask := range r.masks() {
		s.bits[w] |= mask
	}
}

// RemoveRange takes every slot of r out of the set.
func (s *Set) RemoveRange(r Range) {
	for w, mask := range r.masks() {
		s.bits[w] &^= mask
	}
}

// firstIn returns the lowest slot that is both in the set and in r.
func (s *Set) firstIn(r Range) (ID, bool) {
	for w, mask := range r.masks() {
		if common := s.bits[w] & mask; common != 0 {
			return ID(w*64 + bits.TrailingZeros64(common)), true
		}
	}
	return 0, false
}

// masks yields the words of a bitmap that r touches, ascending, with r's bits
// in them.
func (r Range) masks() iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		last := min(r.Last, Count-1)
		if r.First > last {
			return
		}
		for w := r.First / 64; w <= last/64; w++ {
			mask := ^uint64(0)
			if w == r.First/64 {
				mask &= ^uint64(0) << (r.First % 64)
			}
			if w == last/64 {
				mask &= ^uint64(0) >> (63 - last%64)
			}
			if !yield(int(w), mask) {
				return
			}
		}
	}
}

// Len returns the number of slots in the set, 0 to Count.
func (s Set) Len() int {
	n := 0
	for _, w := range s.bits {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty reports whether no slot is in the set.
func (s Set) Empty() bool { return s == Set{} }

// Equal reports whether both sets have the same slots; == does the same.
func (s Set) Equal(o Set) bool { return s == o }

// Union returns the slots that are in s, in o, or in both.
func (s Set) Union(o Set) Set {
	for i, w := range o.bits {
		s.bits[i] |= w
	}
	return s
}

// Intersect returns the slots that are in both s and o.
func (s Set) Intersect(o Set) Set {
	for i, w := range o.bits {
		s.bits[i] &= w
	}
	return s
}

// Subtract returns the slots that are in s but not in o.
func (s Set) Subtract(o Set) Set {
	for i, w := range o.bits {
		s.bits[i] &^= w
	}
	return s
}

// All yields the slots of the set as it is at the call, ascending.
func (s Set) All() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for i, w := range s.bits {
			for ; w != 0; w &= w - 1 {
				if !yield(ID(i*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// Ranges returns the set as the shortest list of ranges, ascending; nil for an
// empty set. The caller owns the list.
func (s Set) Ranges() []Range {
	var list []Range
	for id := range s.All() {
		if n := len(list); n > 0 && list[n-1].Last+1 == id {
			list[n-1].Last = id
		} else {
			list = append(list, Range{id, id})
		}
	}
	return list
}

// String returns the text that [ParseSet] reads, "0-100,200"; empty for an
// empty set. Two sets are equal exactly when their texts are.
func (s Set) String() string {
	var dst []byte
	for i, r := range s.Ranges() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = r.append(dst)
	}
	return string(dst)
}

// ParseSet reads ranges with commas between, "0-100,200", in any order and
// possibly overlapping. An empty text is the empty set.
func ParseSet(text string) (Set, error) {
	var s Set
	if text == "" {
		return s, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		r, err := ParseRange(part)
		if err != nil {
			return Set{}, err
		}
		s.AddRange(r)
	}
	return s, nil
}
