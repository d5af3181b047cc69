package wal

import (
	"fmt"

	"github.com/bowline-kv/bowline/internal/vfs"
)

const (
	// writeBytes is from how many bytes on the file is written before the end of a
	// commit.
	writeBytes = 1 << 20
	// outKept is the largest buffer that a writer keeps.
	outKept = 2 * writeBytes
)

// writer puts records into the segment at the end of the log.
//
//	segment   |...... synced ......|== written ==|-- out --|
//	                               ^             ^         ^
//	             the last sync (a page)        outAt      off
//
// out begins at a page: what of its first page is in the file already is written
// again with what follows. All is owned by the holder of Log.commitMu.
type writer struct {
	log  *Log
	seg  *segment // nil before the first record
	file vfs.File
	// end is the end of the last record, off where the next one goes: behind it, or on
	// the next page after a sync.
	end, off int64
	out      []byte
	outAt    int64
	// fresh: out has more than the file.
	fresh bool
	// unsynced: the file has more than what was synced.
	unsynced bool
	// synced is what a new block calls safe: where it begins after a sync, and in a
	// new segment the end of the one before.
	synced position
}

// write puts a record behind the last one. An error that is not ErrDiskFull leaves
// the file in an unknown state; after ErrDiskFull it can be tried again.
func (w *writer) write(record []byte) error {
	for !w.fits(len(record)) {
		if err := w.nextSegment(len(record)); err != nil {
			return err
		}
	}
	w.append(record)
	if len(w.out) < writeBytes {
		return nil
	}
	return w.flush()
}

func (w *writer) fits(size int) bool {
	return w.seg != nil && recordPlace(w.off)+int64(size) <= w.seg.size
}

func (w *writer) append(record []byte) {
	place := recordPlace(w.off)
	if page := place - blockHeader; place != w.off {
		w.out = append(w.out, make([]byte, page-w.outAt-int64(len(w.out)))...)
		w.out = block{w.synced, w.end, w.log.stateSum()}.append(w.out, w.seg.seed, page)
	}
	start := len(w.out)
	w.out = append(w.out, record...)
	seal(w.out[start:], w.seg.seed)
	w.off = place + int64(len(record))
	w.end = w.off
	w.fresh = true
}

// stateSum is that of all streams, as far as they are written. The caller holds
// commitMu.
func (l *Log) stateSum() uint32 {
	var sum stateSum
	for _, s := range l.streams {
		sum = sum.add(s.written)
	}
	return sum.fold()
}

// flush writes what is in out, with zeros up to the end of the page.
func (w *writer) flush() error {
	if !w.fresh {
		return nil
	}
	used := len(w.out)
	w.out = append(w.out, make([]byte, pageUp(w.off)-w.off)...)
	if _, err := w.file.WriteAt(w.out, w.outAt); err != nil {
		return fmt.Errorf("write the log to %s: %w", w.seg.name, err)
	}
	tail := used % pageSize
	kept := copy(w.out, w.out[used-tail:used])
	w.out, w.outAt = w.out[:kept], w.off-int64(tail)
	if cap(w.out) > outKept {
		w.out = append(make([]byte, 0, pageSize), w.out...)
	}
	w.fresh, w.unsynced = false, true
	w.log.segMu.Lock()
	w.seg.end = w.end
	w.log.segMu.Unlock()
	return nil
}

// sync makes safe what is in the file; did is false when it is already.
func (w *writer) sync() (did bool, err error) {
	if !w.unsynced {
		return false, nil
	}
	if err := w.file.Sync(); err != nil {
		return false, err
	}
	w.unsynced = false
	w.log.segMu.Lock()
	w.seg.begun = true
	w.log.segMu.Unlock()
	// What is safe is never written again, not even in the same page.
	w.off = pageUp(w.off)
	w.out, w.outAt = w.out[:0], w.off
	w.synced = at(w.seg.generation, w.off)
	return true, nil
}

// nextSegment ends the segment and begins another one that has room for a record of
// this size.
func (w *writer) nextSegment(size int) error {
	if w.seg != nil {
		if err := w.flush(); err != nil {
			return err
		}
		if _, err := w.log.syncWritten(); err != nil {
			return err
		}
		w.synced = at(w.seg.generation, w.end)
	}
	openings := w.openings()
	seg, file, err := w.log.useNext(spaceFor(openings, size))
	if err != nil {
		return err
	}
	if w.file != nil {
		if err := w.file.Close(); err != nil {
			return fmt.Errorf("close %s: %w", w.seg.name, err)
		}
	}
	w.seg, w.file, w.end, w.off, w.outAt, w.out = seg, file, pageSize, pageSize, pageSize, w.out[:0]
	for ; len(openings) > 0; openings = openings[recordSize(openings):] {
		w.append(openings[:recordSize(openings)])
	}
	return nil
}

// spaceFor is the size of a segment that begins with these openings and has room for
// one more record.
func spaceFor(openings []byte, size int) int64 {
	off := int64(pageSize)
	for ; len(openings) > 0; openings = openings[recordSize(openings):] {
		off = recordPlace(off) + int64(recordSize(openings))
	}
	return recordPlace(off) + int64(size)
}

// openings are the records at the start of a segment: the state of every stream.
func (w *writer) openings() []byte {
	var b []byte
	for _, s := range w.log.streams {
		b = appendRecord(b, s.shard, s.written.last, kindOpening, s.written.history.append(nil))
	}
	return b
}
