package vfs

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrLocked says that another process, or another part of this one, has the lock.
var ErrLocked = errors.New("in use by another process")

// Lock takes the lock that a file of the operating system stands for, and makes the
// file when there is none. It is given back by Close, and with the end of the process.
// Whoever has it keeps others out; the error then wraps [ErrLocked]. The file stays:
// removing it would let two processes lock two files of one name.
func Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return f, nil
}
