package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// OS gives the files of the operating system. New ones belong to the process's
// user alone.
func OS() FS { return osFS{} }

type osFS struct{}

// Create implements [FS].
func (osFS) Create(name string) (File, error) {
	return openOS(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

// Open implements [FS]. A file that may only be read is opened for that: it may be
// of somebody else, who copied it here.
func (osFS) Open(name string) (File, error) {
	f, err := openOS(name, os.O_RDWR)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return openOS(name, os.O_RDONLY)
	}
	return f, err
}

func openOS(name string, flag int) (File, error) {
	f, err := os.OpenFile(name, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Rename implements [FS].
func (osFS) Rename(from, to string) error {
	if err := sameDir(from, to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

func sameDir(from, to string) error {
	if filepath.Dir(filepath.Clean(from)) != filepath.Dir(filepath.Clean(to)) {
		return fmt.Errorf("rename %s to %s: not in the same directory", from, to)
	}
	return nil
}

// Remove implements [FS].
func (osFS) Remove(name string) error { return os.Remove(name) }

// List implements [FS].
func (osFS) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// MkdirAll implements [FS].
func (osFS) MkdirAll(dir string) error { return os.MkdirAll(dir, 0o700) }

// SyncDir implements [FS].
func (osFS) SyncDir(dir string) error { return syncDir(dir) }

// Space implements [FS].
func (osFS) Space(dir string) (Space, error) {
	s, err := space(dir)
	if err != nil {
		return Space{}, fmt.Errorf("read the free space of %s: %w", dir, err)
	}
	return s, nil
}

// osFile is a file of the operating system.
type osFile struct{ *os.File }

// Sync implements [File].
func (f osFile) Sync() error {
	if err := syncData(f.File); err != nil {
		return fmt.Errorf("sync %s: %w", f.Name(), err)
	}
	return nil
}

// Size implements [File].
func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// allocateStep is how many zeros are written at once.
const allocateStep = 1 << 20

// Allocate implements [File]. Space that is only reserved would not do: the first
// write into it changes the file's metadata, which a sync has to write as well.
func (f osFile) Allocate(size int64) error {
	before, err := f.Size()
	if err != nil || before >= size {
		return err
	}
	zeros := make([]byte, min(allocateStep, size-before))
	for at := before; at < size; {
		n, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at)
		if err != nil {
			// The space is given back, as the disk may be full.
			if undo := f.Truncate(before); undo != nil {
				return fmt.Errorf("%w; and then: %w", err, undo)
			}
			return err
		}
		at += int64(n)
		// Piece by piece, so that other syncs of the disk don't wait behind all of it.
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// Reserve implements [File].
func (f osFile) Reserve(size int64) error {
	before, err := f.Size()
	if err != nil || before >= size {
		return err
	}
	err = reserve(f.File, size)
	if errors.Is(err, errors.ErrUnsupported) {
		return f.Allocate(size)
	}
	return err
}
