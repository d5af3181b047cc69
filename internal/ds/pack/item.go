package pack

import (
	"bytes"
	"encoding/binary"

	"github.com/bowline-kv/bowline/resp"
)

// Item is a value ready to be looked for and to be written: its encoding is
// chosen, so that elements can be compared without decoding them.
type Item struct {
	// head is the body but for a string's own bytes.
	head    [9]byte
	headLen uint8
	// tail is a view of the caller's bytes, nil for an integer.
	tail []byte
}

// ItemOf makes v, of less than 4 GiB, ready. It keeps a view of v.
func ItemOf(v []byte) (it Item) {
	if n, ok := resp.ParseInt(v); ok {
		return IntItem(n)
	}
	return stringItem(v)
}

// stringItem is ItemOf for what spells no integer. The view is not set through a
// pointer, so that the compiler sees where it stays.
func stringItem(v []byte) Item {
	it := Item{tail: v}
	it.setStringHead(len(v))
	return it
}

// IntItem makes an integer ready.
func IntItem(n int64) (it Item) {
	it.setInt(n)
	return it
}

func (it *Item) setInt(n int64) {
	h := &it.head
	switch {
	case n >= 0 && n < 1<<7:
		h[0], it.headLen = byte(n), 1
	case n >= -1<<12 && n < 1<<12:
		h[0], h[1], it.headLen = num13|byte(n>>8)&0x1f, byte(n), 2
	case n >= -1<<15 && n < 1<<15:
		it.number(num16, n, 2)
	case n >= -1<<23 && n < 1<<23:
		it.number(num24, n, 3)
	case n >= -1<<31 && n < 1<<31:
		it.number(num32, n, 4)
	default:
		it.number(num64, n, 8)
	}
}

func (it *Item) number(encoding byte, n int64, size uint8) {
	it.head[0] = encoding
	binary.LittleEndian.PutUint64(it.head[1:], uint64(n))
	it.headLen = 1 + size
}

func (it *Item) setStringHead(n int) {
	h := &it.head
	switch {
	case n < 1<<6:
		h[0], it.headLen = str6|byte(n), 1
	case n < 1<<12:
		h[0], h[1], it.headLen = str12|byte(n>>8), byte(n), 2
	default:
		h[0], it.headLen = str32, 5
		binary.LittleEndian.PutUint32(h[1:], uint32(n))
	}
}

// Size is the number of bytes that the element takes.
func (it *Item) Size() int {
	n := it.body()
	return n + backSize(n)
}

func (it *Item) body() int { return int(it.headLen) + len(it.tail) }

// Put writes the element to the start of dst, which has room for Size bytes.
func (it *Item) Put(dst []byte) {
	at := copy(dst, it.head[:it.headLen])
	at += copy(dst[at:], it.tail)
	putBack(dst[at:], at)
}

// At says whether the element at pos has this value.
func (it *Item) At(b []byte, pos int) bool {
	b = b[pos:]
	n := int(it.headLen)
	if b[0] != it.head[0] || len(b) < n+len(it.tail) {
		return false
	}
	return bytes.Equal(b[:n], it.head[:n]) && bytes.Equal(b[n:n+len(it.tail)], it.tail)
}

// SizeOf is the number of bytes that v takes as an element.
func SizeOf(v []byte) int {
	it := ItemOf(v)
	return it.Size()
}

// Find gives the first position from pos on, of every element that is skip others
// behind the one before, that has the item's value; -1: none.
func Find(b []byte, pos, skip int, it *Item) int {
	// Most elements differ in the first byte, or in the last one of the body.
	first, last, to := it.head[0], it.last(), it.body()-1
	for pos < len(b) {
		if b[pos] == first && pos+to < len(b) && b[pos+to] == last && it.At(b, pos) {
			return pos
		}
		for n := skip; n >= 0 && pos < len(b); n-- {
			// Each step waits for the one before: for short strings, of which there are
			// most, it must not take more than reading one byte.
			if c := b[pos]; c>>6 == str6>>6 {
				pos += int(c&0x3f) + 2
			} else {
				pos = Next(b, pos)
			}
		}
	}
	return -1
}

// last is the last byte of the body.
func (it *Item) last() byte {
	if n := len(it.tail); n > 0 {
		return it.tail[n-1]
	}
	return it.head[it.headLen-1]
}

// FindBack gives the last position before pos with the item's value; -1: none.
func FindBack(b []byte, pos int, it *Item) int {
	for pos > 0 {
		if pos = Prev(b, pos); it.At(b, pos) {
			return pos
		}
	}
	return -1
}
