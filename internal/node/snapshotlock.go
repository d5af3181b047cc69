package node

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/bowline-kv/bowline/internal/vfs"
)

// snapshotLocks keep other nodes from the snapshot files that this one writes: both would
// write one unfinished file, and take the other's for their own.
type snapshotLocks struct {
	mu sync.Mutex
	// held is by the path of the snapshot file: more than one for a while, after
	// dbfilename has changed.
	held map[string]io.Closer
}

// lockSnapshot keeps other processes from a snapshot file.
func lockSnapshot(path string) (io.Closer, error) {
	lock, err := vfs.Lock(path + ".lock")
	if err != nil {
		return nil, &sharedError{fmt.Errorf("take the snapshot file %s: %w", path, err)}
	}
	return lock, nil
}

// sharedError is a snapshot file that another node writes.
type sharedError struct{ error }

// Unwrap gives what is wrong.
func (e *sharedError) Unwrap() error { return e.error }

// Hint says how to start all the same.
func (*sharedError) Hint() string {
	return "a node that runs writes it: stop that one, or choose another dir or dbfilename"
}

// take gets the lock of the snapshot file, until release. Where there can be none, as on
// a disk that may only be read, writing is left to fail by itself.
func (f *snapshots) take(path string) error {
	f.locks.mu.Lock()
	defer f.locks.mu.Unlock()
	if f.locks.held[path] != nil || f.fs != vfs.OS() {
		return nil
	}
	lock, err := lockSnapshot(path)
	switch {
	case errors.Is(err, vfs.ErrLocked):
		return err
	case err != nil:
		f.log.Warn("the snapshot file is not kept from other nodes", "error", err)
		return nil
	}
	if f.locks.held == nil {
		f.locks.held = map[string]io.Closer{}
	}
	f.locks.held[path] = lock
	return nil
}

// follow takes the lock of a file that dbfilename names from now on, if this node is to
// write it. The lock of the one before stays until the next snapshot: one may be on its way.
func (f *snapshots) follow() error {
	f.locks.mu.Lock()
	writes := len(f.locks.held) > 0
	f.locks.mu.Unlock()
	if !writes {
		return nil
	}
	return f.take(f.path())
}

// release gives back the locks of all files but those of some.
func (f *snapshots) release(except ...string) {
	f.locks.mu.Lock()
	defer f.locks.mu.Unlock()
	for path, lock := range f.locks.held {
		if !slices.Contains(except, path) {
			_ = lock.Close() // nothing was written to it
			delete(f.locks.held, path)
		}
	}
}
