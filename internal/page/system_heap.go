//go:build !linux || race

package page

import "unsafe"

const (
	chunkBytes   = 256 << 10
	regionChunks = 1
	growthBytes  = 0 // heap memory is not free when it is not touched
)

// Pointer converts the address to one that can be read and written through. It
// reads the number as a pointer, since checkptr takes any arithmetic that makes
// a heap pointer of a number for a mistake.
func (a Addr) Pointer() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&a)) }

// mapping keeps a piece of the Go heap alive.
type mapping struct{ memory []byte }

func mapMemory(size uintptr) (mapping, Addr) {
	m := make([]byte, size+chunkBytes)
	base := (uintptr(unsafe.Pointer(&m[0])) + chunkBytes - 1) &^ (chunkBytes - 1)
	return mapping{m}, Addr(base)
}

func (mapping) unmap() {}

// discard clears the memory, as the system does when it is touched again.
func discard(a Addr, n int) { clear(a.Bytes(n)) }
