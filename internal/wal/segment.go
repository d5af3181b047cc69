package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-kv/bowline/internal/vfs"
)

const (
	segmentSuffix = ".wal"
	sparePrefix   = "spare-"
	segmentMagic  = "BOWLWAL1"
	// segmentMax keeps offsets below 4 GiB.
	segmentMax = 1<<32 - pageSize
)

// segment is a file of the log.
type segment struct {
	name       string // path
	generation uint64 // 1, 2, 3, ...; below 1<<32
	seed       uint32 // of every CRC in it
	size       int64  // of the file, in bytes
	// end is the end of the last record written; 0: none. Guarded by Log.segMu.
	end int64
	// begun: its first block is safe. Guarded by Log.segMu.
	begun bool
	// opening is the state of each shard where the segment begins.
	opening []opening
	// readers counts the cursors in it, guarded by Log.segMu; while there are some it
	// is not used again.
	readers int
	// holes are the parts without records between those with some, where damage was
	// passed over.
	holes []hole
	// damaged: there are records in it that can't be read.
	damaged bool
	// fault is why nothing can be read from it; nil: there is a header. Only while
	// recovering.
	fault *CorruptError
}

// hole is damage between records.
type hole struct {
	// at is the end of the last record before.
	at int64
	// off and prev are where a scanner goes on, as for [scanner.jump].
	off, prev int64
	// eras are those of the shards from there on.
	eras []int
}

// opening is where a shard stands at the start of a segment.
type opening struct {
	last Sequence
	era  int
}

func segmentName(dir string, generation uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%010d%s", generation, segmentSuffix))
}

func seedOf(generation, salt uint64) uint32 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], generation)
	binary.LittleEndian.PutUint64(b[8:], salt)
	return crc32.Checksum(b[:], castagnoli)
}

// encodeHeader makes the first page of a segment.
func encodeHeader(generation, salt uint64, size int64) []byte {
	b := append(make([]byte, 0, pageSize), segmentMagic...)
	b = binary.LittleEndian.AppendUint64(b, generation)
	b = binary.LittleEndian.AppendUint64(b, salt)
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	return b[:pageSize]
}

// readHeader reads the first page of an open segment.
func readHeader(f vfs.File, name string, generation uint64) (*segment, error) {
	page := make([]byte, pageSize)
	if _, err := f.ReadAt(page, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, unreadable(name, 0, err)
	}
	size, err := f.Size()
	if err != nil {
		return nil, fmt.Errorf("read the size of %s: %w", name, err)
	}
	salt := binary.LittleEndian.Uint64(page[16:])
	promised := int64(binary.LittleEndian.Uint64(page[24:]))
	if !slices.Equal(page, encodeHeader(generation, salt, promised)) {
		return nil, &CorruptError{name, 0, "the header of the segment is damaged"}
	}
	if size = min(size, promised, segmentMax); size < 2*pageSize {
		return nil, &CorruptError{name, size, "the segment is too short"}
	}
	return &segment{name: name, generation: generation, seed: seedOf(generation, salt), size: size}, nil
}

// listing is what a directory holds of a log.
type listing struct {
	generations []uint64 // sorted
	spares      []string // paths
	newest      uint64   // what the mark tells; 0: there is none
	marks       []string // paths
}

// last is the newest generation; 0: there is no segment.
func (l listing) last() uint64 {
	if n := len(l.generations); n > 0 {
		return l.generations[n-1]
	}
	return 0
}

func list(fsys vfs.FS, dir string) (listing, error) {
	var l listing
	names, err := fsys.List(dir)
	if err != nil {
		return l, fmt.Errorf("list the log: %w", err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, sparePrefix) {
			l.spares = append(l.spares, filepath.Join(dir, name))
			continue
		}
		if g := markOf(name); g > 0 {
			l.newest, l.marks = max(l.newest, g), append(l.marks, filepath.Join(dir, name))
			continue
		}
		number, ok := strings.CutSuffix(name, segmentSuffix)
		if !ok || len(number) != 10 {
			continue
		}
		if g, err := strconv.ParseUint(number, 10, 32); err == nil && g > 0 {
			l.generations = append(l.generations, g)
		}
	}
	slices.Sort(l.generations)
	return l, nil
}

// Exists says whether a directory holds segments of a log.
func Exists(fsys vfs.FS, dir string) bool {
	l, err := list(fsys, dir)
	return err == nil && len(l.generations) > 0
}

// Discard removes the log in a directory, which nobody uses; that there is none is
// no error. After a failure it may be called again.
func Discard(fsys vfs.FS, dir string) error {
	l, err := list(fsys, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	names := append(l.marks, l.spares...)
	for _, g := range l.generations {
		names = append(names, segmentName(dir, g))
	}
	for _, name := range names {
		if err := fsys.Remove(name); err != nil {
			return fmt.Errorf("remove a segment of the log: %w", err)
		}
	}
	return fsys.SyncDir(dir)
}
