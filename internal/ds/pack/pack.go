package pack

import (
	"encoding/binary"
	"slices"
)

const (
	countBytes = 2
	// countMany stands for so many elements or more: they must be counted.
	countMany = 1<<16 - 1
)

// Pack is a small sequence of values. The zero Pack is not one: start with [New],
// or with two zero bytes.
//
// Methods that change a Pack return it, as append does: they write to its memory
// when there is room. Values that are handed in must not be views into it.
type Pack []byte

// New makes an empty Pack with room for so many bytes of elements.
func New(room int) Pack { return make(Pack, countBytes, countBytes+max(room, 0)) }

// Len is the number of elements. It is O(1) below 65535 elements.
func (p Pack) Len() int {
	if n := p.count(); n != countMany {
		return n
	}
	return Count(p[countBytes:])
}

func (p Pack) count() int { return int(binary.LittleEndian.Uint16(p)) }

func (p Pack) setLen(n int) { binary.LittleEndian.PutUint16(p, uint16(min(n, countMany))) }

// Elements is the view of the elements without the count.
func (p Pack) Elements() []byte { return p[countBytes:] }

// First is the position of the first element; End when there is none.
func (p Pack) First() int { return countBytes }

// End is the position behind the last element.
func (p Pack) End() int { return len(p) }

// Last is the position of the last element, -1 when there is none.
func (p Pack) Last() int {
	if len(p) == countBytes {
		return -1
	}
	return p.Prev(len(p))
}

// Next is the position behind the element at pos: the next one's, or End.
func (p Pack) Next(pos int) int { return Next(p, pos) }

// Prev is the position of the element before pos, which may be End but not First.
func (p Pack) Prev(pos int) int { return Prev(p, pos) }

// Get decodes the element at pos.
func (p Pack) Get(pos int) Element { return Get(p, pos) }

// At is the position of element i; negative numbers count from the last one, -1.
// It is -1 when there is no such element, and walks from the nearer end.
func (p Pack) At(i int) int {
	n := p.Len()
	if i < 0 {
		i += n
	}
	switch {
	case i < 0 || i >= n:
		return -1
	case i < n/2:
		pos := countBytes
		for ; i > 0; i-- {
			pos = Next(p, pos)
		}
		return pos
	}
	pos := len(p)
	for ; i < n; i++ {
		pos = Prev(p, pos)
	}
	return pos
}

// Find gives the first position, from start on, of an element with value v; -1:
// none. After each element it passes over skip others, so that with 1 only the
// fields of a hash are looked at, when start is a field.
func (p Pack) Find(start int, v []byte, skip int) int {
	it := ItemOf(v)
	return Find(p, start, skip, &it)
}

// Insert puts v before the element at pos, or at End.
func (p Pack) Insert(pos int, v []byte) Pack {
	it := ItemOf(v)
	return p.InsertItem(pos, &it)
}

// InsertItem is Insert for a value that is ready.
func (p Pack) InsertItem(pos int, it *Item) Pack {
	n := p.Len() + 1
	p = p.write(pos, 0, it)
	p.setLen(n)
	return p
}

// InsertPair puts two values that are ready before the element at pos, or at End.
func (p Pack) InsertPair(pos int, a, b *Item) Pack {
	n := p.Len() + 2
	size := a.Size()
	p = p.resize(pos, 0, size+b.Size())
	a.Put(p[pos:])
	b.Put(p[pos+size:])
	p.setLen(n)
	return p
}

// Append puts v behind the last element.
func (p Pack) Append(v []byte) Pack { return p.Insert(len(p), v) }

// AppendInt puts an integer behind the last element.
func (p Pack) AppendInt(n int64) Pack {
	it := IntItem(n)
	return p.InsertItem(len(p), &it)
}

// Prepend puts v before the first element.
func (p Pack) Prepend(v []byte) Pack { return p.Insert(countBytes, v) }

// Replace gives the element at pos another value; pos stays valid.
func (p Pack) Replace(pos int, v []byte) Pack {
	it := ItemOf(v)
	return p.ReplaceItem(pos, &it)
}

// ReplaceItem is Replace for a value that is ready.
func (p Pack) ReplaceItem(pos int, it *Item) Pack { return p.write(pos, Next(p, pos)-pos, it) }

// write puts an element in the place of old bytes at pos.
func (p Pack) write(pos, old int, it *Item) Pack {
	p = p.resize(pos, old, it.Size())
	it.Put(p[pos:])
	return p
}

// resize makes the old bytes at pos so many, of any content.
func (p Pack) resize(pos, old, size int) Pack {
	end := len(p)
	p = slices.Grow(p, max(0, size-old))
	copy(p[pos+size:cap(p)], p[pos+old:end])
	return p[:end+size-old]
}

// Delete removes up to n elements from pos on; pos is then the position of what
// followed them.
func (p Pack) Delete(pos, n int) Pack {
	left := p.Len()
	to := pos
	for ; n > 0 && to < len(p); n-- {
		to = Next(p, to)
		left--
	}
	p = p.resize(pos, to-pos, 0)
	p.setLen(left)
	return p
}

// Split cuts the Pack before pos. The second part is in memory of its own.
func (p Pack) Split(pos int) (left, right Pack) {
	n := p.Len()
	right = append(New(len(p)-pos), p[pos:]...)
	moved := Count(right[countBytes:])
	right.setLen(moved)
	left = p[:pos]
	left.setLen(n - moved)
	return left, right
}

// Join puts the elements of q behind those of p. q must not share p's memory.
func (p Pack) Join(q Pack) Pack { return p.AppendElements(q[countBytes:], q.Len()) }

// AppendElements puts n encoded elements behind those of p. They must not be in
// p's memory.
func (p Pack) AppendElements(elements []byte, n int) Pack {
	n += p.Len()
	p = append(p, elements...)
	p.setLen(n)
	return p
}
