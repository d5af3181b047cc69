package page

import "unsafe"

// Size is the number of bytes of a page.
const Size = 4096

// Addr is the address of a run's first byte; 0: none. It is a number, so that the
// tables full of them are not scanned by the collector: the pool keeps the memory.
type Addr uintptr

// Bytes is the memory of n bytes from the address on, which must lie inside one
// run. It is valid until the run is freed.
func (a Addr) Bytes(n int) []byte { return unsafe.Slice((*byte)(a.Pointer()), n) }

// PagesFor is the number of pages that n bytes need.
func PagesFor(n int) int { return (n + Size - 1) / Size }
