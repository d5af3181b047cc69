package vfs

import (
	"errors"
	"io"
	"path/filepath"
)

// FS is a file system. Its methods may be called from any goroutine.
type FS interface {
	// Create makes a file for reading and writing; one that is there is emptied.
	Create(name string) (File, error)
	// Open opens a file that exists for reading and writing, or for reading alone when
	// the process may do no more.
	Open(name string) (File, error)
	// Rename gives a file another name in the same directory, at once: whoever looks
	// sees the old or the new name. A file that has the new name is replaced.
	Rename(from, to string) error
	// Remove removes a file or an empty directory. Open files stay usable.
	Remove(name string) error
	// List gives the sorted names of what is in a directory.
	List(dir string) ([]string, error)
	// MkdirAll makes a directory and those above it that don't exist.
	MkdirAll(dir string) error
	// SyncDir makes safe which names are in a directory.
	SyncDir(dir string) error
	// Space tells how large the disk below a directory is.
	Space(dir string) (Space, error)
}

// File is an open file. Its methods may be called from any goroutine.
type File interface {
	// ReadAt follows [io.ReaderAt]: fewer bytes than asked for come with an error,
	// [io.EOF] at the end of the file.
	io.ReaderAt
	// WriteAt follows [io.WriterAt]. It extends the file when needed; a gap reads as
	// zeros.
	io.WriterAt
	io.Closer
	// Sync makes content and size safe. After an error nobody knows what of the
	// writes since the last Sync is on the disk, and a later success does not say
	// that they are.
	Sync() error
	// Truncate sets the size in bytes; what is new reads as zeros.
	Truncate(size int64) error
	// Size is the size in bytes.
	Size() (int64, error)
	// Allocate extends the file to a size with zeros that are really written, so
	// that later writes inside it need no space and a Sync of them no change of the
	// file's metadata. A file that is as large already is left alone. On error the
	// size is as before.
	Allocate(size int64) error
	// Reserve is Allocate without writing: later writes inside the file need no space,
	// but the first Sync behind each of them is slower.
	Reserve(size int64) error
}

// Space is the room of a disk, in bytes.
type Space struct {
	// Total is the size of the disk, Free what this process may still use.
	Total, Free uint64
}

// MakeDir makes a directory, and those above it that don't exist, and makes safe
// that they are there.
func MakeDir(fs FS, dir string) error {
	if _, err := fs.List(dir); err == nil {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := MakeDir(fs, parent); err != nil {
			return err
		}
	}
	if err := fs.MkdirAll(dir); err != nil {
		return err
	}
	return fs.SyncDir(parent)
}

// IsNoSpace says that an error means a full disk, or a quota that is used up.
func IsNoSpace(err error) bool {
	for _, full := range noSpace {
		if errors.Is(err, full) {
			return true
		}
	}
	return false
}

// ErrNoSpace is the full disk of [Mem], and one for the rules of [Faults].
var ErrNoSpace = noSpace[0]

// ErrIO is a defective disk, for the rules of [Faults].
var ErrIO = errors.New("input/output error")
