package pack

import (
	"bytes"
	"encoding/binary"

	"github.com/bowline-kv/bowline/resp"
)

// The first bytes of bodies; see the package comment.
const (
	str6  = 0x80
	num13 = 0xC0
	str12 = 0xE0
	str32 = 0xF0
	num16 = 0xF1
	num24 = 0xF2
	num32 = 0xF3
	num64 = 0xF4
	// listpackEnd is what stands in the place of an encoding at a listpack's end.
	listpackEnd = 0xFF
)

// Element is a decoded element: an integer, or a view of a string.
type Element struct {
	str   []byte
	num   int64
	isInt bool
}

// String is an element that is a view of v, whatever it spells.
func String(v []byte) Element { return Element{str: v} }

// Int is an element that is an integer.
func Int(n int64) Element { return Element{num: n, isInt: true} }

// Int gives the integer; false when the element is a string.
func (e Element) Int() (int64, bool) { return e.num, e.isInt }

// Bytes is the view of a string, nil for an integer. It is valid until the
// elements change.
func (e Element) Bytes() []byte { return e.str }

// AppendTo appends the value as text.
func (e Element) AppendTo(dst []byte) []byte {
	if e.isInt {
		return resp.AppendInt(dst, e.num)
	}
	return append(dst, e.str...)
}

// Len is the length of the value as text.
func (e Element) Len() int {
	if !e.isInt {
		return len(e.str)
	}
	var digits [20]byte
	return len(resp.AppendInt(digits[:0], e.num))
}

// Equal says whether the value as text is v.
func (e Element) Equal(v []byte) bool {
	if !e.isInt {
		return bytes.Equal(e.str, v)
	}
	n, ok := resp.ParseInt(v)
	return ok && n == e.num
}

// Item makes the element ready to be written elsewhere.
func (e Element) Item() Item {
	if e.isInt {
		return IntItem(e.num)
	}
	return stringItem(e.str)
}

// Get decodes the element at pos.
func Get(b []byte, pos int) Element {
	if n, ok := IntAt(b, pos); ok {
		return Int(n)
	}
	b = b[pos:]
	switch c := b[0]; {
	case c < num13:
		return stringOf(b, 1, int(c&0x3f))
	case c < str32:
		return stringOf(b, 2, int(c&0xf)<<8|int(b[1]))
	case c == str32:
		return stringOf(b, 5, int(binary.LittleEndian.Uint32(b[1:])))
	}
	panic("BUG: a pack has an element of no known encoding")
}

// IntAt decodes the element at pos if it is an integer.
func IntAt(b []byte, pos int) (n int64, ok bool) {
	b = b[pos:]
	switch c := b[0]; {
	case c < str6:
		return int64(c), true
	case c < num13:
		return 0, false
	case c < str12:
		// Thirteen bits, moved up so that the sign is extended on the way back.
		return int64(int16(uint16(c)<<11|uint16(b[1])<<3) >> 3), true
	case c == num24:
		return int64(int32(uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24) >> 8), true
	case c == num16:
		return int64(int16(binary.LittleEndian.Uint16(b[1:]))), true
	case c == num32:
		return int64(int32(binary.LittleEndian.Uint32(b[1:]))), true
	case c == num64:
		return int64(binary.LittleEndian.Uint64(b[1:])), true
	}
	return 0, false
}

func stringOf(b []byte, at, n int) Element { return Element{str: b[at : at+n : at+n]} }

// Next is the position behind the element at pos.
func Next(b []byte, pos int) int {
	if n := shortSizes[b[pos]]; n != 0 {
		return pos + int(n)
	}
	return nextLong(b, pos)
}

// shortSizes has the length of an element, its back of one byte included, by its
// first byte; 0 where more must be read.
var shortSizes = func() (sizes [256]uint8) {
	for c := range sizes {
		switch {
		case c < str6:
			sizes[c] = 2
		case c < num13:
			sizes[c] = 2 + uint8(c&0x3f)
		case c < str12:
			sizes[c] = 3
		}
	}
	sizes[num16], sizes[num24], sizes[num32], sizes[num64] = 4, 5, 6, 10
	return sizes
}()

func nextLong(b []byte, pos int) int {
	n := bodySize(b, pos)
	return pos + n + backSize(n)
}

// Prev is the position of the element that ends before pos; there must be one.
func Prev(b []byte, pos int) int {
	if c := b[pos-1]; c < 0x80 {
		return pos - int(c) - 1
	}
	n, size := readBack(b, pos)
	return pos - n - size
}

// Count counts the elements of b, which is as long as they are.
func Count(b []byte) int {
	n := 0
	for pos := 0; pos < len(b); pos = Next(b, pos) {
		n++
	}
	return n
}

// bodySize is the length of the body at pos.
func bodySize(b []byte, pos int) int {
	c := b[pos]
	switch {
	case c < str6:
		return 1
	case c < num13:
		return 1 + int(c&0x3f)
	case c < str12:
		return 2
	case c < str32:
		return 2 + (int(c&0xf)<<8 | int(b[pos+1]))
	}
	switch c {
	case str32:
		return 5 + int(binary.LittleEndian.Uint32(b[pos+1:]))
	case num16:
		return 3
	case num24:
		return 4
	case num32:
		return 5
	case num64:
		return 9
	}
	panic("BUG: a pack has an element of no known encoding")
}

// backSize is the length of the back of a body of n bytes. The bounds are those
// of Redis, which leaves the last number of each length to the next one.
func backSize(n int) int {
	switch {
	case n < 1<<7:
		return 1
	case n < 1<<14-1:
		return 2
	case n < 1<<21-1:
		return 3
	case n < 1<<28-1:
		return 4
	}
	return 5
}

// putBack writes the back of a body of n bytes to the start of b: groups of seven
// bits, the highest first, and all but the first one marked.
func putBack(b []byte, n int) {
	i := backSize(n) - 1
	for ; i > 0; i-- {
		b[i] = byte(n) | 0x80
		n >>= 7
	}
	b[0] = byte(n) & 0x7f
}

// readBack reads the back that ends before pos, and how long it is.
func readBack(b []byte, pos int) (n, size int) {
	for {
		size++
		c := b[pos-size]
		n |= int(c&0x7f) << (7 * (size - 1))
		if c < 0x80 || size == 5 {
			return n, size
		}
	}
}
