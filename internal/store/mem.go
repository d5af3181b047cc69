package store

import (
	"encoding/binary"
	"unsafe"

	"github.com/bowline-kv/bowline/internal/page"
)

// This file holds all unsafe code of the package: views of pages. They are
// sound as long as the run at the address is not freed, which is what the
// counts of slabs and segments are for; the race detector and checkptr watch
// them in the heap version of package page.

// lineAt is the index line at an address, a multiple of lineBytes inside a segment's run.
func lineAt(a page.Addr) *line { return (*line)(a.Pointer()) }

// slotAt is the memory of n bytes at an address.
func slotAt(a page.Addr, n int) []byte { return unsafe.Slice((*byte)(a.Pointer()), n) }

func load16(b []byte, at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }
func load32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }

func store16(b []byte, at int, v uint16) { binary.LittleEndian.PutUint16(b[at:], v) }
func store32(b []byte, at int, v uint32) { binary.LittleEndian.PutUint32(b[at:], v) }

// loadTime and storeTime are for times in milliseconds.
func loadTime(b []byte, at int) int64     { return int64(binary.LittleEndian.Uint64(b[at:])) }
func storeTime(b []byte, at int, v int64) { binary.LittleEndian.PutUint64(b[at:], uint64(v)) }

func load24(b []byte, at int) uint32 { return uint32(load16(b, at)) | uint32(b[at+2])<<16 }

func store24(b []byte, at int, v uint32) {
	store16(b, at, uint16(v))
	b[at+2] = byte(v >> 16)
}
