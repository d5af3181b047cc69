package store

import (
	"encoding/binary"
	"math/bits"

	"github.com/bowline-kv/bowline/slot"
)

// Key is a key's name with what is computed of it once per command.
type Key struct {
	// Name is the key itself. A table copies it when it must keep it.
	Name []byte
	// Hash spreads names inside a table; see [HashOf].
	Hash uint64
	// Slot is the key's hash slot.
	Slot slot.ID
}

// Multipliers of the hash: odd 64-bit numbers with about half of their bits set.
const (
	hashMul0 = 0x9f6b1d5c83a72e4d
	hashMul1 = 0xc3a5c85c97cb3127
)

// HashOf gives the hash of a key's name. The seed is chosen anew at each start of
// a process, so that a peer can't prepare names that meet in one place.
func HashOf(seed uint64, name []byte) uint64 {
	h := seed ^ uint64(len(name))*hashMul1
	for len(name) >= 8 {
		h = fold(h^binary.LittleEndian.Uint64(name), hashMul0)
		name = name[8:]
	}
	if len(name) > 0 {
		var tail uint64
		for i := len(name) - 1; i >= 0; i-- {
			tail = tail<<8 | uint64(name[i])
		}
		h = fold(h^tail, hashMul1)
	}
	return fold(h, hashMul0)
}

// Key computes what a table needs to know of a name: of a key, or of a member
// where the table is that of a collection.
func (t *Table) Key(name []byte) Key {
	hash := HashOf(t.seed, name)
	if t.slots == nil {
		return Key{Name: name, Hash: hash, Slot: memberSlot(hash)}
	}
	return Key{Name: name, Hash: hash, Slot: slot.Of(name)}
}

// memberSlot stands for the slot of a member, which spreads members over the
// places of a path: by bits of the hash of which nothing else makes use.
func memberSlot(hash uint64) slot.ID { return slot.ID(hash >> 16 % SlotsPerTable * Stripes) }

// fold multiplies to 128 bits and adds both halves without carry, which lets
// every input bit reach every output bit.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^hashMul1, b)
	return hi ^ lo ^ a
}
