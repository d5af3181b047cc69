//go:build unix

package node

import (
	"math"
	"syscall"
)

// openFilesMax is how many files the process may have open; false: there is no limit that
// is known.
func openFilesMax() (int64, bool) {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil || uint64(l.Cur) >= math.MaxInt64 {
		return 0, false
	}
	return int64(l.Cur), true
}
