package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData leaves out the time of the last change, and thereby a write of its
// own to the disk.
func syncData(f *os.File) error {
	return control(f, unix.Fdatasync)
}

// reserve extends a file with space that reads as zeros.
func reserve(f *os.File, size int64) error {
	return control(f, func(fd int) error { return unix.Fallocate(fd, 0, 0, size) })
}

// control makes a system call with a file, again when a signal ended it.
func control(f *os.File, call func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		for failed = unix.EINTR; failed == unix.EINTR; {
			failed = call(int(fd))
		}
	})
	if err != nil {
		return err
	}
	return failed
}
