package command

import (
	"encoding/binary"
	"math/bits"
	"strings"
)

// Names are compared as three lower-cased words instead of byte by byte:
//
//	length 1..3    w0 = first | middle<<8 | last<<16
//	length 4..7    w0 = first four | last four<<32
//	length 8..24   w0 = first eight, w1 = last eight, w2 = the middle eight past 16
//
// Overlapping loads cover every byte, so equal words, length and parent mean
// equal names. The hash table is open and a quarter full; it holds IDs only, so
// that the part of it that is touched stays in the first-level cache.

const (
	nameMax    = 24 // the longest name of a command or subcommand, in bytes
	slotBits   = 11
	slotCount  = 1 << slotBits
	emptySlot  = 0xffff
	rootParent = 0
)

// nameKey is the packed form of a name under its parent.
type nameKey struct {
	w0, w1, w2 uint64
	meta       uint64 // length, and the parent's key shifted by 8
}

var (
	nameKeys  [Count]nameKey
	nameSlots [slotCount]uint16
)

// init links the generated rows, which cannot point at each other in a
// composite literal, and fills the hash table from them.
func init() {
	for i := range nameSlots {
		nameSlots[i] = emptySlot
	}
	for i := range table {
		s := &table[i]
		s.ID = ID(i)
		s.rule = ruleOf(s)
		name, parent := s.Name, uint64(rootParent)
		if container, sub, ok := strings.Cut(s.Name, "|"); ok {
			s.Parent = lookup([]byte(container), rootParent)
			s.Parent.Subcommands = append(s.Parent.Subcommands, s)
			name, parent = sub, parentKey(s.Parent.ID)
		}
		addName(ID(i), name, parent)
		if s.Parent == nil && s.State == Working {
			workingCount++
		}
	}
}

func addName(id ID, name string, parent uint64) {
	k, ok := packName([]byte(name), parent)
	if !ok {
		panic("BUG: command name too long: " + name)
	}
	nameKeys[id] = k
	i := k.slot()
	for nameSlots[i] != emptySlot {
		i = (i + 1) % slotCount
	}
	nameSlots[i] = uint16(id)
}

func parentKey(id ID) uint64 { return uint64(id) + 1 }

func lookup(name []byte, parent uint64) *Spec {
	k, ok := packName(name, parent)
	if !ok {
		return nil
	}
	for i := k.slot(); ; i = (i + 1) % slotCount {
		id := nameSlots[i]
		if id == emptySlot {
			return nil
		}
		if nameKeys[id] == k {
			return &table[id]
		}
	}
}

func packName(name []byte, parent uint64) (nameKey, bool) {
	n := len(name)
	k := nameKey{meta: uint64(n) | parent<<8}
	switch {
	case n >= 8:
		if n > nameMax {
			return k, false
		}
		k.w0 = lower8(binary.LittleEndian.Uint64(name))
		k.w1 = lower8(binary.LittleEndian.Uint64(name[n-8:]))
		if n > 16 {
			k.w2 = lower8(binary.LittleEndian.Uint64(name[8:]))
		}
	case n >= 4:
		k.w0 = lower8(uint64(binary.LittleEndian.Uint32(name)) |
			uint64(binary.LittleEndian.Uint32(name[n-4:]))<<32)
	case n > 0:
		k.w0 = lower8(uint64(name[0]) | uint64(name[n/2])<<8 | uint64(name[n-1])<<16)
	default:
		return k, false
	}
	return k, true
}

func (k *nameKey) slot() uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := k.w0 ^ bits.RotateLeft64(k.w1, 31) ^ bits.RotateLeft64(k.w2, 17) ^ bits.RotateLeft64(k.meta, 43)
	hi, lo := bits.Mul64(h, odd)
	return (hi ^ lo) >> (64 - slotBits)
}

// lower8 lower-cases the ASCII letters in eight bytes at once: a byte is a
// capital when adding carries it past 'A' but not past 'Z', seen in its top bit.
func lower8(x uint64) uint64 {
	const ones = 0x0101010101010101
	low7 := x & (0x7f * ones)
	fromA := low7 + (0x80-'A')*ones
	pastZ := low7 + (0x80-'Z'-1)*ones
	capital := fromA &^ pastZ &^ x & (0x80 * ones)
	return x | capital>>2
}

// equalFold compares a word of a request with an upper- or lower-case ASCII
// word of ours, in any case, without allocating.
func equalFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i := range b {
		if lowerByte(b[i]) != lowerByte(word[i]) {
			return false
		}
	}
	return true
}

func lowerByte(c byte) byte {
	if c-'A' < 26 {
		c |= 0x20
	}
	return c
}
