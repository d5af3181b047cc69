//go:build amd64 || arm64

package page

// Prefetch asks the processor to bring the cache line at an address in, and does
// not wait for it, as a read would once some hundred instructions are behind it.
// Any address will do.
func (a Addr) Prefetch() { prefetch(uintptr(a)) }

func prefetch(a uintptr)
