package wal

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// Sequence is the number of a record in a shard's stream: 1, 2, 3, ... without
// gaps. Zero: nothing was written yet.
type Sequence uint64

// Kind is what a record is about. The values are part of the file format.
type Kind uint8

const (
	// KindEffects: what a command, a transaction or a script did.
	KindEffects Kind = 1
	// KindSlots: an event of a slot range that moves between nodes.
	KindSlots Kind = 2

	// kindFork: a writer began; its number is the first sequence.
	kindFork Kind = 3
	// kindOpening: the state of a shard where a segment begins; its number is the
	// last sequence.
	kindOpening Kind = 4
	// kindBase: the stream goes on from a copy; its number is the copy's sequence.
	kindBase Kind = 5
)

// numbered says that a record of this kind takes a number of its own.
func (k Kind) numbered() bool { return k == KindEffects || k == KindSlots }

// Record is a record as it is read.
type Record struct {
	// Shard is the stream that it belongs to.
	Shard int
	// Seq is its number there.
	Seq Sequence
	// Kind is KindEffects or KindSlots.
	Kind Kind
	// Payload belongs to the reader and is valid until the next record is read.
	Payload []byte
}

const (
	recordHeader = 20
	// payloadMax keeps offsets in a segment below 4 GiB.
	payloadMax = 1 << 31
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendRecord appends a record without its CRC, which needs the segment.
func appendRecord(dst []byte, shard int, seq Sequence, kind Kind, payload []byte) []byte {
	n, size := len(dst), recordHeader+len(payload)
	dst = slices.Grow(dst, size)[:n+size]
	b := dst[n:]
	binary.LittleEndian.PutUint32(b, 0)
	binary.LittleEndian.PutUint32(b[4:], uint32(size))
	binary.LittleEndian.PutUint64(b[8:], uint64(seq))
	binary.LittleEndian.PutUint16(b[16:], uint16(shard))
	b[18], b[19] = byte(kind), 0
	copy(b[recordHeader:], payload)
	return dst
}

// recordSize is the size of a record with its header, as its header says.
func recordSize(header []byte) int { return int(binary.LittleEndian.Uint32(header[4:])) }

// decodeRecord takes apart a whole record.
func decodeRecord(b []byte) Record {
	return Record{
		Seq:     Sequence(binary.LittleEndian.Uint64(b[8:])),
		Shard:   int(binary.LittleEndian.Uint16(b[16:])),
		Kind:    Kind(b[18]),
		Payload: b[recordHeader:],
	}
}

// seal puts the CRC in front of a record or a block header.
func seal(b []byte, seed uint32) {
	binary.LittleEndian.PutUint32(b, crc32.Update(seed, castagnoli, b[4:]))
}

func sealed(b []byte, seed uint32) bool {
	return binary.LittleEndian.Uint32(b) == crc32.Update(seed, castagnoli, b[4:])
}
