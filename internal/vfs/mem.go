package vfs

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// MemFS is a disk in memory. Use [Mem] to make one.
type MemFS struct {
	mu       sync.Mutex
	root     *node // guarded by mu, as is everything below it
	capacity int64
	used     int64 // bytes of all files that have a name or are open
}

// memCapacity is how large a disk in memory says it is, until told otherwise.
const memCapacity = 1 << 40

// Mem makes an empty disk in memory.
func Mem() *MemFS { return &MemFS{root: newDir(), capacity: memCapacity} }

// node is a file or, when entries is set, a directory.
type node struct {
	file
	entries map[string]*node
	// synced is what entries was when the directory was synced, changes what was
	// done since then, in order.
	synced  map[string]*node
	changes []change
}

// change is one change of a directory: some name goes, another comes, or both
// at once.
type change struct {
	gone, come string
	node       *node // what has the name come
}

func newDir() *node { return &node{entries: map[string]*node{}, synced: map[string]*node{}} }

func (c change) apply(entries map[string]*node) {
	if c.gone != "" {
		delete(entries, c.gone)
	}
	if c.come != "" {
		entries[c.come] = c.node
	}
}

func (d *node) change(c change) {
	c.apply(d.entries)
	d.changes = append(d.changes, c)
}

// SetCapacity sets the size of the disk in bytes; what is written stays.
func (m *MemFS) SetCapacity(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.capacity = bytes
}

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// find gives the directory that a name is in, the last part of the name, and
// what has that name, nil for nothing.
func (m *MemFS) find(op, name string) (dir *node, last string, n *node, err error) {
	dir, n = nil, m.root
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Clean(name)), "/") {
		if part == "" || part == "." {
			continue
		}
		if n == nil || n.entries == nil {
			return nil, "", nil, pathError(op, name, fs.ErrNotExist)
		}
		dir, last = n, part
		n = n.entries[part]
	}
	return dir, last, n, nil
}

// Create implements [FS].
func (m *MemFS) Create(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, last, n, err := m.find("create", name)
	switch {
	case err != nil:
		return nil, err
	case dir == nil || n != nil && n.entries != nil:
		return nil, pathError("create", name, fs.ErrExist)
	case n == nil:
		n = &node{}
		dir.change(change{come: last, node: n})
	}
	m.resize(&n.file, 0)
	return m.handle(n, name), nil
}

// Open implements [FS].
func (m *MemFS) Open(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, _, n, err := m.find("open", name)
	switch {
	case err != nil:
		return nil, err
	case n == nil || n.entries != nil:
		return nil, pathError("open", name, fs.ErrNotExist)
	}
	return m.handle(n, name), nil
}

// Rename implements [FS].
func (m *MemFS) Rename(from, to string) error {
	if err := sameDir(from, to); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, last, n, err := m.find("rename", from)
	switch {
	case err != nil:
		return err
	case n == nil:
		return pathError("rename", from, fs.ErrNotExist)
	}
	target := filepath.Base(filepath.Clean(to))
	if old := dir.entries[target]; old == n {
		return nil
	} else if old != nil {
		if old.entries != nil || n.entries != nil {
			return pathError("rename", to, fs.ErrExist)
		}
		m.unname(old)
	}
	dir.change(change{gone: last, come: target, node: n})
	return nil
}

// Remove implements [FS].
func (m *MemFS) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, last, n, err := m.find("remove", name)
	switch {
	case err != nil:
		return err
	case n == nil || dir == nil:
		return pathError("remove", name, fs.ErrNotExist)
	case len(n.entries) > 0:
		return pathError("remove", name, fs.ErrExist)
	}
	dir.change(change{gone: last})
	if n.entries == nil {
		m.unname(n)
	}
	return nil
}

// List implements [FS].
func (m *MemFS) List(dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, _, n, err := m.find("list", dir)
	if err == nil && (n == nil || n.entries == nil) {
		err = pathError("list", dir, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(n.entries)), nil
}

// MkdirAll implements [FS].
func (m *MemFS) MkdirAll(dir string) error {
	dir = filepath.Clean(dir)
	if parent := filepath.Dir(dir); parent != dir {
		if err := m.MkdirAll(parent); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	parent, last, n, err := m.find("mkdir", dir)
	switch {
	case err != nil:
		return err
	case n == nil:
		parent.change(change{come: last, node: newDir()})
	case n.entries == nil:
		return pathError("mkdir", dir, fs.ErrExist)
	}
	return nil
}

// SyncDir implements [FS].
func (m *MemFS) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, _, n, err := m.find("sync", dir)
	if err == nil && (n == nil || n.entries == nil) {
		err = pathError("sync", dir, fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	n.synced, n.changes = maps.Clone(n.entries), nil
	return nil
}

// Space implements [FS].
func (m *MemFS) Space(string) (Space, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.capacity < 0 || m.used < 0 {
		panic(fmt.Sprintf("BUG: a disk of %d bytes uses %d", m.capacity, m.used))
	}
	return Space{Total: uint64(m.capacity), Free: uint64(max(m.capacity-m.used, 0))}, nil
}
