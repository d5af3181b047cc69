package intset

import (
	"encoding/binary"
	"slices"
)

const headBytes = 1

// Set is a set of integers. The zero Set is not one: start with [New].
//
// Methods that change a Set return it, as append does: they write to its memory
// when there is room.
type Set []byte

// New makes an empty Set.
func New() Set { return Set{2} }

func (s Set) width() int { return int(s[0]) }

// Len is the number of values.
func (s Set) Len() int { return (len(s) - headBytes) / s.width() }

// At is the value of rank i, 0..Len-1.
func (s Set) At(i int) int64 {
	b := s[headBytes+i*s.width():]
	switch s.width() {
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

func (s Set) put(i int, v int64) {
	b := s[headBytes+i*s.width():]
	switch s.width() {
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint64(b, uint64(v))
	}
}

// Min is the least value; the Set must not be empty.
func (s Set) Min() int64 { return s.At(0) }

// Max is the greatest value; the Set must not be empty.
func (s Set) Max() int64 { return s.At(s.Len() - 1) }

// Has says whether v is in the Set.
func (s Set) Has(v int64) bool {
	_, ok := s.Rank(v)
	return ok
}

// Rank is the number of values below v, and whether v is in the Set.
func (s Set) Rank(v int64) (int, bool) {
	low, high := 0, s.Len()
	for low < high {
		mid := int(uint(low+high) / 2)
		if s.At(mid) < v {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < s.Len() && s.At(low) == v
}

// Add puts v in; false when it is there already.
func (s Set) Add(v int64) (Set, bool) {
	i, ok := s.Rank(v)
	if ok {
		return s, false
	}
	if w := widthOf(v); w > s.width() {
		s = s.widen(w)
	}
	w, end := s.width(), len(s)
	s = slices.Grow(s, w)[:end+w]
	at := headBytes + i*w
	copy(s[at+w:], s[at:end])
	s.put(i, v)
	return s, true
}

// Remove takes v out; false when it is not there. The width stays.
func (s Set) Remove(v int64) (Set, bool) {
	i, ok := s.Rank(v)
	if !ok {
		return s, false
	}
	at := headBytes + i*s.width()
	return slices.Delete(s, at, at+s.width()), true
}

// SizeWith is the number of bytes that the Set has at most once v is added.
func (s Set) SizeWith(v int64) int { return headBytes + (s.Len()+1)*max(s.width(), widthOf(v)) }

// widthOf is the width that v needs.
func widthOf(v int64) int {
	switch {
	case v == int64(int16(v)):
		return 2
	case v == int64(int32(v)):
		return 4
	}
	return 8
}

// widen gives all values a greater width, from the last one on: none is
// overwritten before it was read.
func (s Set) widen(width int) Set {
	n, end := s.Len(), len(s)
	s = slices.Grow(s, headBytes+n*width-end)
	narrow := s[:end]
	old := narrow.width()
	s = s[:headBytes+n*width]
	for i := n - 1; i >= 0; i-- {
		narrow[0] = byte(old)
		v := narrow.At(i)
		s[0] = byte(width)
		s.put(i, v)
	}
	s[0] = byte(width)
	return s
}
