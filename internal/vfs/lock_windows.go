package vfs

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

func lockFile(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if err == windows.ERROR_LOCK_VIOLATION {
		return fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return err
}

// unlock closes the file first, as open files can't be removed: one that is opened by
// another process meanwhile stays.
func unlock(f *os.File, name string) error {
	err := f.Close()
	_ = os.Remove(name)
	return err
}
