//go:build unix

package vfs

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func lockFile(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return err
}

// unlock removes the file while others are still kept out: whoever opened it before will
// see that it has lost its name.
func unlock(f *os.File, name string) error {
	_ = os.Remove(name) // it may stay
	return f.Close()
}
