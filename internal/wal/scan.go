package wal

import (
	"errors"
	"fmt"
	"io"

	"github.com/bowline-kv/bowline/internal/vfs"
)

// scanStep is how many bytes are read at once.
const scanStep = 256 << 10

// errInvalid says that there is no whole record or block where a scanner is. What
// that means the caller has to find out.
var errInvalid = errors.New("no whole record")

// scanner reads the records of one segment.
type scanner struct {
	seg  *segment
	file vfs.File
	// off is where the next record or block is expected; after errInvalid, the end
	// of what is whole: of the last record, or of the zeros behind it.
	off int64
	// end is the end of the last record.
	end int64
	// limit is where reading ends.
	limit int64
	buf   []byte // the bytes of the file from bufAt on
	bufAt int64
}

// scan opens a segment for reading from its first block on.
func scan(fs vfs.FS, seg *segment, limit int64) (*scanner, error) {
	f, err := fs.Open(seg.name)
	if err != nil {
		return nil, fmt.Errorf("open a segment of the log: %w", err)
	}
	return &scanner{seg: seg, file: f, off: pageSize, end: pageSize, limit: limit}, nil
}

// jump goes to the start of a block, or of the segment, before which the last record
// ended at prev.
func (s *scanner) jump(off, prev int64) { s.off, s.end = off, prev }

func (s *scanner) close() { s.file.Close() }

// window gives n bytes from an offset on; all must be before the limit.
func (s *scanner) window(off int64, n int) ([]byte, error) {
	if off >= s.bufAt && off+int64(n) <= s.bufAt+int64(len(s.buf)) {
		return s.buf[off-s.bufAt:][:n], nil
	}
	want := int(min(int64(max(n, scanStep)), s.limit-off))
	if cap(s.buf) < want || cap(s.buf) > 4*max(want, scanStep) {
		s.buf = make([]byte, want)
	}
	s.buf, s.bufAt = s.buf[:want], off
	got, err := s.file.ReadAt(s.buf, off)
	if err != nil && got < n { // what can be read may end within the step
		got, err = s.file.ReadAt(s.buf[:n], off)
	}
	if err != nil && got < n {
		s.buf = s.buf[:0]
		return nil, unreadable(s.seg.name, off, err)
	}
	s.buf = s.buf[:max(got, n)]
	return s.buf[:n], nil
}

// unreadable is damage that the disk tells of itself.
func unreadable(name string, off int64, err error) *CorruptError {
	return &CorruptError{name, off, fmt.Sprintf("it can't be read: %v", err)}
}

// next gives the next record, io.EOF at the limit, errInvalid where nothing can be
// read, or a [CorruptError] where the disk does not give what it has. The payload is valid until the next call.
func (s *scanner) next() (Record, error) {
	for s.off < s.limit {
		if s.off%pageSize == 0 {
			switch b, ok, err := s.block(s.off); {
			case err != nil:
				return Record{}, err
			case !ok || b.prev != s.end:
				// A page that was not written whole may look like the end of a block.
				return Record{}, errInvalid
			}
			s.off += blockHeader
			continue
		}
		var size int
		if place := recordPlace(s.off); place == s.off && s.off+recordHeader <= s.limit {
			h, err := s.window(s.off, recordHeader)
			if err != nil {
				return Record{}, err
			}
			size = recordSize(h)
		}
		if size > 0 {
			return s.record(size)
		}
		if err := s.padding(); err != nil {
			return Record{}, err
		}
	}
	return Record{}, io.EOF
}

// block reads the header of a block that may start at a page.
func (s *scanner) block(off int64) (b block, ok bool, err error) {
	if off+blockHeader > s.limit {
		return block{}, false, nil
	}
	h, err := s.window(off, blockHeader)
	if err != nil {
		return block{}, false, err
	}
	b, ok = decodeBlock(h, s.seg.seed, off)
	return b, ok, nil
}

func (s *scanner) record(size int) (Record, error) {
	if size < recordHeader || int64(size) > s.limit-s.off {
		return Record{}, errInvalid
	}
	b, err := s.window(s.off, size)
	if err != nil {
		return Record{}, err
	}
	if !sealed(b, s.seg.seed) {
		return Record{}, errInvalid
	}
	s.off += int64(size)
	s.end = s.off
	return decodeRecord(b), nil
}

// padding passes over the zeros at the end of a block.
func (s *scanner) padding() error {
	end := min(pageUp(s.off), s.limit)
	b, err := s.window(s.off, int(end-s.off))
	if err != nil {
		return err
	}
	for _, c := range b {
		if c != 0 {
			return errInvalid
		}
	}
	s.off = end
	return nil
}
