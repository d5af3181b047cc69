//go:build linux && !race

package page

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// chunkBytes is the size and alignment of a superchunk: that of a huge page.
	chunkBytes = 2 << 20
	// regionChunks is how many superchunks are mapped at once. Address space is
	// free until it is touched, system calls are not.
	regionChunks = 32
	// growthBytes is the address space that a growing long run gets beyond its
	// first size, so that it need not be copied; see Pool.AllocGrowing.
	growthBytes = 520 << 20
)

// Pointer converts the address to one that can be read and written through.
func (a Addr) Pointer() unsafe.Pointer { return unsafe.Add(unsafe.Pointer(nil), uintptr(a)) }

// mapping is address space of the system. start..start+size is what was mapped.
type mapping struct {
	start unsafe.Pointer
	size  uintptr
}

// mapMemory gets address space of size bytes (a multiple of chunkBytes) and the
// first address in it that is aligned to a superchunk.
func mapMemory(size uintptr) (mapping, Addr) {
	total := size + chunkBytes
	p, err := unix.MmapPtr(-1, 0, nil, total, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		outOfMemory(total, err)
	}
	base := (uintptr(p) + chunkBytes - 1) &^ (chunkBytes - 1)
	// Advice only: without huge pages everything works, slower.
	_ = unix.Madvise(Addr(base).Bytes(int(size)), unix.MADV_HUGEPAGE)
	return mapping{p, total}, Addr(base)
}

func (m mapping) unmap() { _ = unix.MunmapPtr(m.start, m.size) }

// discard gives the memory of n bytes back to the system; the address space
// stays, and reads as zeros when it is touched again.
func discard(a Addr, n int) { _ = unix.Madvise(a.Bytes(n), unix.MADV_DONTNEED) }

// outOfMemory ends the process: no caller can go on without its pages, and a
// panic that somebody recovers would leave a table half changed.
func outOfMemory(size uintptr, err error) {
	fmt.Fprintf(os.Stderr, "bowline: map %d bytes of memory: %v\n", size, err)
	os.Exit(1)
}
