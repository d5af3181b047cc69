package wal

import (
	"encoding/binary"
	"fmt"
)

const (
	// pageSize is what a disk may lose or spoil as one when the power goes.
	pageSize    = 4096
	blockHeader = 24
)

// position is a place in the log: the generation of a segment in the upper half,
// the offset in it below.
type position uint64

func at(generation uint64, offset int64) position {
	return position(generation<<32 | uint64(offset))
}

func (p position) generation() uint64 { return uint64(p) >> 32 }
func (p position) offset() int64      { return int64(p & (1<<32 - 1)) }

// String is for messages.
func (p position) String() string { return fmt.Sprintf("%d:%d", p.generation(), p.offset()) }

// pageUp is the start of the first page not before an offset.
func pageUp(off int64) int64 { return (off + pageSize - 1) &^ (pageSize - 1) }

// recordPlace is where a record goes that is written after off: on to the next page
// when its header does not fit, and behind the header of a block that it begins.
func recordPlace(off int64) int64 {
	if pageUp(off)-off < recordHeader {
		off = pageUp(off)
	}
	if off%pageSize == 0 {
		off += blockHeader
	}
	return off
}

// block is what the header of a block says.
type block struct {
	// synced is the position before which the log was safe when the block was begun;
	// in the first block of a segment, where the segment before ended.
	synced position
	// prev is the offset at which the last record before the block ends.
	prev int64
	// sum is the [stateSum] of all streams where the block begins. Logs of earlier versions
	// have 0 here.
	sum uint32
}

func (b block) append(dst []byte, seed uint32, off int64) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(off))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.synced))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(b.prev))
	dst = binary.LittleEndian.AppendUint32(dst, b.sum)
	seal(dst[start:], seed)
	return dst
}

// decodeBlock reads the header of a block; ok is false when there is none.
func decodeBlock(b []byte, seed uint32, off int64) (block, bool) {
	if !sealed(b[:blockHeader], seed) || binary.LittleEndian.Uint32(b[4:]) != uint32(off) {
		return block{}, false
	}
	return block{
		synced: position(binary.LittleEndian.Uint64(b[8:])),
		prev:   int64(binary.LittleEndian.Uint32(b[16:])),
		sum:    binary.LittleEndian.Uint32(b[20:]),
	}, true
}
