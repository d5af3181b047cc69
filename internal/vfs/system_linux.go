package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData leaves out the time of the last change, and thereby a write of its
// own to the disk.
func syncData(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		for failed = unix.EINTR; failed == unix.EINTR; {
			failed = unix.Fdatasync(int(fd))
		}
	})
	if err != nil {
		return err
	}
	return failed
}
