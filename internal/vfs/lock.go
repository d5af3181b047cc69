package vfs

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrLocked says that another process, or another part of this one, has the lock.
var ErrLocked = errors.New("in use by another process")

// lockTries is how often Lock tries again, as the one before removed its file meanwhile.
const lockTries = 10

// Lock takes the lock that a file of the operating system stands for, and makes the
// file when there is none. It is given back by Close, which removes the file, and with
// the end of the process, which leaves it. Whoever has it keeps others out; the error
// then wraps [ErrLocked].
func Lock(name string) (io.Closer, error) {
	for range lockTries {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open lock file: %w", err)
		}
		if err := lockFile(f); err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		if isNamed(f, name) {
			return heldLock{f, name}, nil
		}
		f.Close() // the next one would lock another file
	}
	return nil, fmt.Errorf("lock %s: %w", name, ErrLocked)
}

type heldLock struct {
	file *os.File
	name string
}

// Close implements [io.Closer].
func (l heldLock) Close() error {
	if !isNamed(l.file, l.name) { // it was removed, and may be that of another process now
		return l.file.Close()
	}
	return unlock(l.file, l.name)
}

// isNamed says whether an open file still has a name.
func isNamed(f *os.File, name string) bool {
	held, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(name)
	return err == nil && os.SameFile(held, there)
}
