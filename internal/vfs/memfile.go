package vfs

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// PageSize is the number of bytes that a power loss keeps, loses or zeroes as
// one in a file of [Mem].
const PageSize = 4096

// file is the content of a file of a [MemFS], guarded by its mu.
type file struct {
	data []byte
	// safe is the content when it was synced. It differs from data in the pages of
	// dirty and in its length alone.
	safe []byte
	// dirty has, for each page changed since then, what it was before the latest
	// change; nil when that is what safe has.
	dirty    map[int64][]byte
	open     int  // handles
	nameless bool // it was removed: its bytes are free when the last handle goes
}

// resize sets the size of a file and counts it.
func (m *MemFS) resize(f *file, size int64) {
	before := int64(len(f.data))
	m.used += size - before
	for p := min(before, size) / PageSize; p*PageSize < before; p++ {
		f.touch(p)
	}
	if size <= before {
		clear(f.data[size:])
		f.data = f.data[:size]
		return
	}
	for p := before / PageSize; p*PageSize < size; p++ {
		f.touch(p)
	}
	f.data = append(f.data, make([]byte, size-before)...)
}

// touch is called before a page changes.
func (f *file) touch(page int64) {
	if f.dirty == nil {
		f.dirty = map[int64][]byte{}
	}
	var before []byte
	if _, again := f.dirty[page]; again {
		at := min(page*PageSize, int64(len(f.data)))
		before = slices.Clone(f.data[at:min(at+PageSize, int64(len(f.data)))])
	}
	f.dirty[page] = before
}

// unname is called when a file has lost its name.
func (m *MemFS) unname(n *node) {
	n.nameless = true
	m.forget(&n.file)
}

func (m *MemFS) forget(f *file) {
	if f.nameless && f.open == 0 {
		m.used -= int64(len(f.data))
	}
}

// memFile is an open file of a [MemFS].
type memFile struct {
	fs     *MemFS
	f      *file
	name   string
	closed bool // guarded by fs.mu
}

func (m *MemFS) handle(n *node, name string) *memFile {
	n.open++
	return &memFile{fs: m, f: &n.file, name: name}
}

// lock is for the methods that need an open file.
func (h *memFile) lock(op string) error {
	h.fs.mu.Lock()
	if h.closed {
		h.fs.mu.Unlock()
		return pathError(op, h.name, fs.ErrClosed)
	}
	return nil
}

// ReadAt implements [File].
func (h *memFile) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, pathError("read", h.name, fs.ErrInvalid)
	}
	if err := h.lock("read"); err != nil {
		return 0, err
	}
	defer h.fs.mu.Unlock()
	if off >= int64(len(h.f.data)) {
		return 0, io.EOF
	}
	n := copy(p, h.f.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt implements [File].
func (h *memFile) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, pathError("write", h.name, fs.ErrInvalid)
	}
	if err := h.lock("write"); err != nil {
		return 0, err
	}
	defer h.fs.mu.Unlock()
	end := off + int64(len(p))
	if err := h.extend(end); err != nil {
		return 0, err
	}
	for page := off / PageSize; page*PageSize < end; page++ {
		h.f.touch(page)
	}
	copy(h.f.data[off:], p)
	return len(p), nil
}

// extend makes the file at least as large as size.
func (h *memFile) extend(size int64) error {
	more := size - int64(len(h.f.data))
	if more <= 0 {
		return nil
	}
	if h.fs.used+more > h.fs.capacity {
		return pathError("write", h.name, ErrNoSpace)
	}
	h.fs.resize(h.f, size)
	return nil
}

// Sync implements [File].
func (h *memFile) Sync() error {
	if err := h.lock("sync"); err != nil {
		return err
	}
	defer h.fs.mu.Unlock()
	f := h.f
	f.safe = append(f.safe[:min(len(f.safe), len(f.data))], make([]byte, max(len(f.data)-len(f.safe), 0))...)
	for page := range f.dirty {
		if at := page * PageSize; at < int64(len(f.data)) {
			end := min(at+PageSize, int64(len(f.data)))
			copy(f.safe[at:end], f.data[at:end])
		}
	}
	clear(f.dirty)
	return nil
}

// Truncate implements [File].
func (h *memFile) Truncate(size int64) error {
	if size < 0 {
		return pathError("truncate", h.name, fs.ErrInvalid)
	}
	if err := h.lock("truncate"); err != nil {
		return err
	}
	defer h.fs.mu.Unlock()
	if size > int64(len(h.f.data)) {
		return h.extend(size)
	}
	h.fs.resize(h.f, size)
	return nil
}

// Allocate implements [File].
func (h *memFile) Allocate(size int64) error {
	if err := h.lock("allocate"); err != nil {
		return err
	}
	defer h.fs.mu.Unlock()
	return h.extend(size)
}

// Reserve implements [File].
func (h *memFile) Reserve(size int64) error { return h.Allocate(size) }

// Size implements [File].
func (h *memFile) Size() (int64, error) {
	if err := h.lock("stat"); err != nil {
		return 0, err
	}
	defer h.fs.mu.Unlock()
	return int64(len(h.f.data)), nil
}

// Close implements [File].
func (h *memFile) Close() error {
	if err := h.lock("close"); err != nil {
		return fmt.Errorf("close twice: %w", err)
	}
	defer h.fs.mu.Unlock()
	h.closed = true
	h.f.open--
	h.fs.forget(h.f)
	return nil
}
