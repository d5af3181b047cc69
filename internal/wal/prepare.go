package wal

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-kv/bowline/internal/vfs"
)

// useNext makes the next segment the one being written. When none was made ahead it
// is made now, large enough for need bytes. One made ahead may be too small for the
// record, not for the openings: then the caller comes again.
func (l *Log) useNext(need int64) (*segment, vfs.File, error) {
	l.prepareMu.Lock()
	defer l.prepareMu.Unlock()
	if l.ready == nil {
		if err := l.prepare(max(l.o.SegmentBytes, pageUp(need))); err != nil {
			return nil, nil, err
		}
	}
	seg, file := l.ready, l.readyFile
	l.ready, l.readyFile, l.newest, l.begunAt = nil, nil, seg.generation, l.o.Now()
	l.prepared.Store(false)
	l.segMu.Lock()
	defer l.segMu.Unlock()
	for _, s := range l.streams {
		seg.opening = append(seg.opening, opening{s.written.last, len(l.eras[s.shard]) - 1})
	}
	l.segments = append(l.segments, seg)
	return seg, file, nil
}

// wantNext has Run make the next segment when half of this one is used. The caller
// holds commitMu.
func (l *Log) wantNext() {
	w := &l.writer
	if w.seg != nil && w.off > w.seg.size/2 && !l.prepared.Load() && l.wanted.CompareAndSwap(false, true) {
		l.Request()
	}
}

// prepareNext makes the next segment ahead of time.
func (l *Log) prepareNext() error {
	if !l.wanted.Load() {
		return nil
	}
	l.prepareMu.Lock()
	defer l.prepareMu.Unlock()
	if l.ready == nil {
		if err := l.prepare(l.o.SegmentBytes); err != nil {
			return err
		}
	}
	l.wanted.Store(false)
	return nil
}

// busySegment is how fast a half of a segment is used where much is written.
const busySegment = time.Second

// prepare makes the segment behind the newest one: under a spare's name until its
// header is safe, so that a file with the name of a segment has always a header. The
// caller holds prepareMu.
func (l *Log) prepare(size int64) error {
	seg, file, err := l.makeSegment(size)
	if err == nil {
		l.ready, l.readyFile = seg, file
		l.prepared.Store(true)
		l.diskFull.Store(false)
		return nil
	}
	if errors.Is(err, ErrDiskFull) {
		l.diskFull.Store(true)
	}
	return fmt.Errorf("make a segment of the log: %w", err)
}

// orFull says so when an error comes from a full disk.
func orFull(err error) error {
	if vfs.IsNoSpace(err) {
		return fmt.Errorf("%w: %w", ErrDiskFull, err)
	}
	return err
}

func (l *Log) makeSegment(size int64) (*segment, vfs.File, error) {
	spare, file, err := l.spare(size)
	if err != nil {
		return nil, nil, orFull(err)
	}
	generation, salt := l.newest+1, l.o.Random()
	name := segmentName(l.dir, generation)
	_, err = file.WriteAt(encodeHeader(generation, salt, size), 0)
	if err == nil {
		err = file.Sync()
	}
	// Not every system renames a file that is open.
	err = errors.Join(err, file.Close())
	if err == nil {
		err = l.fs.Rename(spare, name)
	}
	if err != nil {
		return nil, nil, errors.Join(orFull(err), l.fs.Remove(spare))
	}
	err = l.fs.SyncDir(l.dir)
	if err == nil {
		file, err = l.fs.Open(name)
	}
	if err != nil {
		// Which name the file has after a power loss is unknown: no second try, even
		// when the disk was full.
		return nil, nil, fmt.Errorf("name it %s: %w", name, err)
	}
	if err := l.mark(generation); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return &segment{name: name, generation: generation, seed: seedOf(generation, salt), size: size}, file, nil
}

// spare opens a spare file and gives it this size, or makes one.
func (l *Log) spare(size int64) (string, vfs.File, error) {
	if n := len(l.spares); n > 0 {
		name := l.spares[n-1]
		l.spares = l.spares[:n-1]
		return l.sized(name, size, l.fs.Open)
	}
	// To fill the disk in order to find it full would harm others.
	if s, err := l.fs.Space(l.dir); err == nil && s.Free < uint64(size) {
		return "", nil, fmt.Errorf("%d bytes are free: %w", s.Free, vfs.ErrNoSpace)
	}
	return l.sized(l.spareName(), size, l.fs.Create)
}

func (l *Log) sized(name string, size int64, open func(string) (vfs.File, error)) (string, vfs.File, error) {
	file, err := open(name)
	if err != nil {
		return "", nil, err
	}
	room := file.Allocate
	// When nobody waits for a sync, none has to be fast; and where much is written, writing
	// everything twice costs more than slower syncs.
	if l.syncEvery.Load() > 0 || l.begunAt > 0 && l.o.Now()-l.begunAt < busySegment {
		room = file.Reserve
	}
	if err = room(size); err == nil {
		err = file.Truncate(size)
	}
	if err != nil {
		return "", nil, errors.Join(err, file.Close(), l.fs.Remove(name))
	}
	return name, file, nil
}

func (l *Log) spareName() string {
	l.spareNext++
	return filepath.Join(l.dir, fmt.Sprintf("%s%d", sparePrefix, l.spareNext))
}

// adopt takes over the spare files that an earlier process left, but for those that
// are too many.
func (l *Log) adopt(spares []string) error {
	for _, name := range spares {
		n, _ := strconv.ParseUint(strings.TrimPrefix(filepath.Base(name), sparePrefix), 10, 63)
		l.spareNext = max(l.spareNext, n)
	}
	keep := min(len(spares), l.o.Spares)
	l.spares = append(l.spares, spares[:keep]...)
	for _, name := range spares[keep:] {
		if err := l.fs.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// retire takes a file out of the log: it becomes a spare when it is fit and there are
// too few, else it is removed. The directory is synced before anything is written to
// the file again, and before another one is retired: otherwise a power loss could
// bring it back with a header of later, or leave a gap.
func (l *Log) retire(name string, fit bool) error {
	spare, err := "", error(nil)
	if fit && len(l.spares) < l.o.Spares {
		spare = l.spareName()
		err = l.fs.Rename(name, spare)
	} else {
		err = l.fs.Remove(name)
	}
	if err != nil {
		return fmt.Errorf("retire a segment of the log: %w", err)
	}
	if err := l.fs.SyncDir(l.dir); err != nil {
		err = fmt.Errorf("retire %s: %w", name, err)
		l.fail(err) // which of the two names it has is unknown
		return err
	}
	if spare != "" {
		l.spares = append(l.spares, spare)
	}
	return nil
}
