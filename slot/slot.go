package slot

import (
	"bytes"
	"unsafe"
)

// ID is the number of a slot, 0 to Count-1. Larger values do not occur: no
// function of this package returns one, and none accepts one silently.
type ID uint16

// Count is the number of slots that a cluster's keys are divided over.
const Count = 16384

// Of returns the slot of a key. Only the key's hash tag counts when it has
// one, see [Tag]. It reads key during the call and does not keep it.
func Of(key []byte) ID {
	return ID(CRC16(Tag(key)) % Count)
}

// OfString is [Of] for a string; it does not copy the string.
func OfString(key string) ID {
	return Of(unsafe.Slice(unsafe.StringData(key), len(key)))
}

// Tag returns the part of a key that decides its slot: what stands between the
// first '{' and the first '}' after it, or the whole key when there is no such
// pair or nothing between. So "{user1}.name" and "{user1}.mail" share a slot.
// The result is a part of key, not a copy.
func Tag(key []byte) []byte {
	open := bytes.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	inner := key[open+1:]
	if n := bytes.IndexByte(inner, '}'); n > 0 {
		return inner[:n]
	}
	return key
}
