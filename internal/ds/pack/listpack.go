package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// headerBytes is a listpack's header: its length in bytes, and the count.
const headerBytes = 6

// ErrCorrupt says that bytes from outside are no listpack.
var ErrCorrupt = errors.New("corrupt listpack")

// AppendListpack appends the Pack as a listpack. It must be shorter than 4 GiB.
func (p Pack) AppendListpack(dst []byte) []byte {
	return AppendListpack(dst, p.Len(), p[countBytes:])
}

// AppendListpack appends n elements as a listpack. They must be shorter than 4 GiB.
func AppendListpack(dst []byte, n int, elements []byte) []byte {
	size := headerBytes + len(elements) + 1
	if size > math.MaxUint32 {
		panic("BUG: a listpack of more than 4 GiB")
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(min(n, countMany)))
	dst = append(dst, elements...)
	return append(dst, listpackEnd)
}

// FromListpack makes a Pack of a listpack from outside, every byte of which is
// checked. The result is a view of lp, whose count may have been changed; if
// elements are not in their shortest form it is in memory of its own. Errors wrap
// [ErrCorrupt].
func FromListpack(lp []byte) (Pack, error) {
	if len(lp) < headerBytes+1 {
		return nil, fmt.Errorf("%w: %d bytes", ErrCorrupt, len(lp))
	}
	if n := binary.LittleEndian.Uint32(lp); int64(n) != int64(len(lp)) {
		return nil, fmt.Errorf("%w: %d bytes, but %d in its header", ErrCorrupt, len(lp), n)
	}
	end := len(lp) - 1
	if lp[end] != listpackEnd {
		return nil, fmt.Errorf("%w: no end", ErrCorrupt)
	}
	p := Pack(lp[headerBytes-countBytes : end : end])
	n, shortest, err := check(p)
	if err != nil {
		return nil, err
	}
	if shortest {
		p.setLen(n)
		return p, nil
	}
	return p.shorten(n), nil
}

// Valid says whether the bytes are a Pack: every length, every back, the count,
// and that each element is in its shortest form. It never panics.
func (p Pack) Valid() bool {
	if len(p) < countBytes {
		return false
	}
	n, shortest, err := check(p)
	return err == nil && shortest && p.count() == min(n, countMany)
}

// check walks hostile bytes. It gives the number of elements and whether all are
// in their shortest form.
func check(p Pack) (n int, shortest bool, err error) {
	shortest = true
	for pos := countBytes; pos < len(p); n++ {
		size, ok := checkElement(p, pos)
		if !ok {
			return 0, false, fmt.Errorf("%w: element %d", ErrCorrupt, n)
		}
		it := shortestItem(Get(p, pos))
		shortest = shortest && it.Size() == size && it.At(p, pos)
		pos += size
	}
	if c := p.count(); c != countMany && c != n {
		return 0, false, fmt.Errorf("%w: %d elements, but %d in its header", ErrCorrupt, n, c)
	}
	return n, shortest, nil
}

// checkElement gives the size of the element at pos, if it is whole.
func checkElement(b []byte, pos int) (int, bool) {
	rest := len(b) - pos
	need := 1
	switch c := b[pos]; {
	case c >= str12 && c < str32:
		need = 2
	case c == str32:
		need = 5
	case c > num64:
		return 0, false
	}
	if rest < need {
		return 0, false
	}
	n := bodySize(b, pos)
	size := n + backSize(n)
	if size > rest {
		return 0, false
	}
	var back [5]byte
	putBack(back[:], n)
	return size, string(back[:backSize(n)]) == string(b[pos+n:pos+size])
}

func shortestItem(e Element) Item {
	if n, ok := e.Int(); ok {
		return IntItem(n)
	}
	return ItemOf(e.str)
}

// shorten writes p anew, with every element in its shortest form.
func (p Pack) shorten(n int) Pack {
	q := New(len(p))
	for pos := countBytes; pos < len(p); pos = Next(p, pos) {
		it := shortestItem(Get(p, pos))
		q = q.write(len(q), 0, &it)
	}
	q.setLen(n)
	return q
}
