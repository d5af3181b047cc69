//go:build !amd64 && !arm64

package page

// Prefetch does nothing on this architecture.
func (a Addr) Prefetch() {}
