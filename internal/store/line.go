package store

import "encoding/binary"

// line is one cache line of the index, with ten cells:
//
//	0        20      24                    64
//	| tags    | spare | references          |
//	| 10 x 16 | 32    | 10 x 32             |
//
// A cell is empty when its reference is 0. The spare word has 3 more bits of
// each cell's path (bits 3i..3i+2) and one flag.
type line [lineBytes]byte

const (
	lineBytes = 64
	lineCells = 10
	spareAt   = 20
	refsAt    = 24

	extraBits = 3
	extraMask = 1<<extraBits - 1
	// spilled: a cell whose first home is this line was put into its second.
	// It stays until the segment is built anew.
	spilled = 1 << 30
)

func (l *line) tag(i int) uint16 { return binary.LittleEndian.Uint16(l[2*i:]) }
func (l *line) ref(i int) ref    { return ref(binary.LittleEndian.Uint32(l[refsAt+4*i:])) }
func (l *line) spare() uint32    { return binary.LittleEndian.Uint32(l[spareAt:]) }
func (l *line) spilled() bool    { return l.spare()&spilled != 0 }
func (l *line) extra(i int) uint8 {
	return uint8(l.spare() >> (extraBits * i) & extraMask)
}

func (l *line) setRef(i int, r ref) { binary.LittleEndian.PutUint32(l[refsAt+4*i:], uint32(r)) }
func (l *line) setSpare(v uint32)   { binary.LittleEndian.PutUint32(l[spareAt:], v) }
func (l *line) spill()              { l.setSpare(l.spare() | spilled) }
func (l *line) setExtra(i int, x uint8) {
	l.setSpare(l.spare()&^(extraMask<<(extraBits*i)) | uint32(x)<<(extraBits*i))
}

func (l *line) set(i int, c cell) {
	binary.LittleEndian.PutUint16(l[2*i:], c.tag)
	l.setExtra(i, c.extra)
	l.setRef(i, c.ref)
}

func (l *line) get(i int) cell { return cell{l.ref(i), l.tag(i), l.extra(i)} }

// cell is what the index knows of a key.
type cell struct {
	ref   ref
	tag   uint16
	extra uint8
}

const (
	lanes    = 0x0001_0001_0001_0001
	laneTops = 0x8000_8000_8000_8000
)

// match has bit i set when cell i has the tag. Four tags are compared at once:
// a 16-bit lane of the difference is zero exactly when adding 0x7fff to its low
// 15 bits sets no top bit and the lane has none.
func (l *line) match(tag uint16) uint32 {
	pattern := uint64(tag) * lanes
	a := zeroLanes(binary.LittleEndian.Uint64(l[0:]) ^ pattern)
	b := zeroLanes(binary.LittleEndian.Uint64(l[8:]) ^ pattern)
	c := zeroLanes(binary.LittleEndian.Uint64(l[16:])^pattern) & 3
	return a | b<<4 | c<<8
}

func zeroLanes(x uint64) uint32 {
	zero := ^((x&^laneTops + (^uint64(0) &^ laneTops)) | x) & laneTops
	// Bits 15, 31, 47, 63 to bits 0, 1, 2, 3: the product moves each to its place.
	return uint32(zero>>15*(1<<48|1<<33|1<<18|1<<3)>>48) & 15
}

// vacant is the first empty cell; -1 when there is none.
func (l *line) vacant() int {
	for i := range lineCells {
		if l.ref(i) == 0 {
			return i
		}
	}
	return -1
}
