package rdb

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Writer writes a file. The first error of the underlying writer stays, and is
// returned by [Writer.Close] and the calls before it.
type Writer struct {
	// NoChecksum writes 0 in place of the checksum, which readers then don't compare.
	NoChecksum bool

	w   io.Writer
	buf []byte
	crc uint64
	n   int64
	err error
}

// NewWriter begins a file of a version, [VersionWritten] or [Version].
func NewWriter(w io.Writer, version int) *Writer {
	out := &Writer{w: w}
	out.buf = fmt.Appendf(out.buf, "%s%04d", magic, version)
	return out
}

// flushBytes is how much is gathered before it is written.
const flushBytes = 64 << 10

// Aux writes a field of the head.
func (w *Writer) Aux(name, value string) error {
	w.buf = append(w.buf, opAux)
	w.buf = AppendString(w.buf, []byte(name), false)
	w.buf = AppendString(w.buf, []byte(value), false)
	return w.flush(flushBytes)
}

// Select says that what follows is of a database, until the next Select.
func (w *Writer) Select(db int) error {
	w.buf = AppendLen(append(w.buf, opSelectDB), uint64(db))
	return w.flush(flushBytes)
}

// Database begins a database of about so many keys, of which so many expire.
func (w *Writer) Database(db, keys, expiring int) error {
	w.buf = AppendLen(append(w.buf, opSelectDB), uint64(db))
	w.buf = AppendLen(append(w.buf, opResizeDB), uint64(keys))
	w.buf = AppendLen(w.buf, uint64(expiring))
	return w.flush(flushBytes)
}

// Key begins a key, whose value of the given type is to follow by
// [Writer.Append] or [Writer.Write].
func (w *Writer) Key(k *Key, t Type) error {
	w.buf = AppendKey(w.buf, k, t)
	return w.flush(flushBytes)
}

// AppendKey appends what [Writer.Key] writes.
func AppendKey(dst []byte, k *Key, t Type) []byte {
	return AppendString(append(AppendKeyTimes(dst, k), byte(t)), k.Name, false)
}

// AppendKeyTimes appends what stands before the type of a key: when it expires, and
// how it was used.
func AppendKeyTimes(dst []byte, k *Key) []byte {
	if k.ExpireAt != 0 {
		dst = AppendMillis(append(dst, opExpireMillis), k.ExpireAt)
	}
	if k.IdleSeconds >= 0 {
		dst = AppendLen(append(dst, opIdle), uint64(k.IdleSeconds))
	}
	if k.Freq >= 0 {
		dst = append(dst, opFreq, byte(k.Freq))
	}
	return dst
}

// Append writes what encode appends: a part of a value.
func (w *Writer) Append(encode func(dst []byte) []byte) error {
	w.buf = encode(w.buf)
	return w.flush(flushBytes)
}

// Write writes bytes that are encoded already. It implements [io.Writer].
func (w *Writer) Write(b []byte) (int, error) {
	w.buf = append(w.buf, b...)
	return len(b), w.flush(flushBytes)
}

// Len is the number of bytes so far.
func (w *Writer) Len() int64 { return w.n + int64(len(w.buf)) }

func (w *Writer) flush(from int) error {
	if w.err != nil || len(w.buf) < from {
		return w.err
	}
	if !w.NoChecksum {
		w.crc = Checksum(w.crc, w.buf)
	}
	w.n += int64(len(w.buf))
	_, w.err = w.w.Write(w.buf)
	w.buf = w.buf[:0]
	return w.err
}

// Close ends the file with its checksum. It does not close the underlying writer.
func (w *Writer) Close() error {
	w.buf = append(w.buf, opEOF)
	if err := w.flush(0); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	crc := w.crc
	w.buf = binary.LittleEndian.AppendUint64(w.buf, crc)
	if err := w.flush(0); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return nil
}
