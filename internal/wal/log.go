package wal

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-kv/bowline/internal/vfs"
)

// Options are the settings of a log that is written.
type Options struct {
	// Shards is the number of streams, 1 to 65536.
	Shards int
	// SegmentBytes is the size of a segment; <= 0: 64 MiB. It is made a multiple of
	// 4 KiB, and at least 8 KiB for each shard and 16 KiB more. A larger record gets a
	// segment of its own size.
	SegmentBytes int64
	// BufferBytes is how much memory what is not yet written may take before
	// [Log.Full]; <= 0: 64 MiB. It counts in steps of 256 KiB, of which each shard
	// always has one.
	BufferBytes int64
	// Spares is how many segments are kept to be used again; <= 0: 2.
	Spares int
	// SyncEvery: 0: each commit syncs. Otherwise Run syncs so often, and event loops
	// never wait for it.
	SyncEvery time.Duration
	// SlowSync is the duration above which a sync is slow; <= 0: 5 ms.
	SlowSync time.Duration
	// Now is a monotonic clock.
	Now func() time.Duration
	// Random gives 64 random bits that nobody outside can know.
	Random func() uint64
	// Wake is called, with no lock held, when Durable has advanced somewhere, and when
	// a commit that others did not wait for is over, or when the log has failed. It
	// must not block, nor commit. nil: nobody wants to know.
	Wake func()
}

const (
	segmentBytesDefault = 64 << 20
	segmentBytesMin     = 16 << 10
	openingMax          = 8 << 10
	bufferBytesDefault  = 64 << 20
	sparesDefault       = 2
	slowSyncDefault     = 5 * time.Millisecond
	shardsMax           = 1 << 16
)

// withDefaults fills in what is not set, for a log that has so many streams.
func (o Options) withDefaults(streams int) (Options, error) {
	if o.Shards < 1 || o.Shards > shardsMax {
		return o, fmt.Errorf("start the log: %d shards", o.Shards)
	}
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = segmentBytesDefault
	}
	smallest := int64(segmentBytesMin + openingMax*streams)
	o.SegmentBytes = min(max(pageUp(o.SegmentBytes), smallest), segmentMax)
	if o.BufferBytes <= 0 {
		o.BufferBytes = bufferBytesDefault
	}
	o.BufferBytes = max(o.BufferBytes, int64(streams)*chunkBytes)
	if o.Spares <= 0 {
		o.Spares = sparesDefault
	}
	if o.SlowSync <= 0 {
		o.SlowSync = slowSyncDefault
	}
	if o.Wake == nil {
		o.Wake = func() {}
	}
	return o, nil
}

// Log is the log of a node while it is written. Its methods may be called from any
// goroutine. Use [Recovery.Start] to make one.
//
// Locks, in the order in which they are taken: commitMu, prepareMu, segMu, Stream.mu.
// The first two are held while the disk works.
type Log struct {
	fs        vfs.FS
	dir       string
	o         Options
	syncEvery atomic.Int64
	streams   []*Stream

	// commitMu is held by whoever writes.
	commitMu diskLock
	writer   writer        // guarded by commitMu
	syncedAt time.Duration // of the last sync; guarded by commitMu
	pace     pace          // guarded by commitMu

	prepareMu diskLock
	ready     *segment      // the next segment; nil: not made yet. Guarded by prepareMu
	readyFile vfs.File      // guarded by prepareMu
	begunAt   time.Duration // when the newest segment was begun; 0: none was
	newest    uint64        // generation of the segment being written; guarded by prepareMu
	marked    uint64        // what the mark tells; 0: there is none. Guarded by prepareMu
	spares    []string      // paths; guarded by prepareMu
	spareNext uint64        // the number of the next spare; guarded by prepareMu

	trimMu diskLock // held by TrimBefore

	segMu    sync.Mutex
	segments []*segment // guarded by segMu; the last one is being written
	eras     []eras     // of each shard; guarded by segMu

	backlog  atomic.Int64 // bytes of chunks that hold records
	slow     atomic.Bool  // syncs take long; see pace
	asked    atomic.Bool  // somebody waits for Wake
	diskFull atomic.Bool
	prepared atomic.Bool // ready is set
	wanted   atomic.Bool // Run should make the next segment
	kick     chan struct{}
	err      atomic.Pointer[error]
}

// Start begins to write behind the end of what was recovered. It makes safe what was
// read, since it may not have been synced, throws away what lies behind it, and makes
// the first segment; without room for that [Log.DiskFull] says so. The Recovery must not
// be used afterwards.
func (r *Recovery) Start(o Options) (*Log, error) {
	streams := max(o.Shards, len(r.shards))
	o, err := o.withDefaults(streams)
	if err != nil {
		return nil, err
	}
	l := &Log{fs: r.fs, dir: r.dir, o: o, segments: r.segments, marked: r.marked, syncedAt: o.Now()}
	l.kick, l.commitMu, l.prepareMu, l.trimMu = make(chan struct{}, 1), newDiskLock(), newDiskLock(), newDiskLock()
	l.syncEvery.Store(int64(o.SyncEvery))
	l.writer.log = l
	for shard := range streams {
		s := &Stream{log: l, shard: shard}
		e := eras{noBound}
		if shard < len(r.shards) {
			s.written, e = r.shards[shard].state, r.shards[shard].eras
		}
		s.history = s.written.history
		s.last.Store(uint64(s.written.last))
		s.durable.Store(uint64(s.written.last))
		l.streams = append(l.streams, s)
		l.eras = append(l.eras, e)
	}
	if n := len(r.segments); n > 0 {
		l.newest = r.segments[n-1].generation
		l.writer.synced = at(l.newest, r.segments[n-1].end)
	}
	if err := l.secure(r); err != nil {
		return nil, fmt.Errorf("start the log: %w", err)
	}
	l.prepareMu.Lock()
	defer l.prepareMu.Unlock()
	// Without room the log begins as one whose disk has got full.
	if err := l.prepare(o.SegmentBytes); err != nil && !errors.Is(err, ErrDiskFull) {
		return nil, fmt.Errorf("start the log: %w", err)
	}
	return l, nil
}

// secure makes the directory what recovery took it for.
func (l *Log) secure(r *Recovery) error {
	if err := vfs.MakeDir(l.fs, l.dir); err != nil {
		return err
	}
	// It may have been there, but not safely.
	if err := l.fs.SyncDir(filepath.Dir(l.dir)); err != nil {
		return err
	}
	for _, seg := range r.segments {
		seg.begun = true
	}
	if n := len(r.segments); n > 0 {
		if err := l.finish(r.segments[n-1]); err != nil {
			return err
		}
	}
	if err := l.adopt(r.spares); err != nil {
		return err
	}
	for _, name := range r.marks {
		if name == markName(l.dir, l.marked) {
			continue
		}
		if err := l.fs.Remove(name); err != nil {
			return err
		}
	}
	if l.marked > l.newest {
		if err := l.mark(l.newest); err != nil {
			return err
		}
	}
	// The newest goes first: a gap would look like a loss.
	for _, g := range slices.Backward(r.unused) {
		if err := l.retire(segmentName(l.dir, g), true); err != nil {
			return err
		}
	}
	return nil
}

// finish makes safe what the last segment holds. When that is little, the rest of the
// file is given back: otherwise many restarts would fill the disk.
func (l *Log) finish(seg *segment) error {
	f, err := l.fs.Open(seg.name)
	if err != nil {
		return err
	}
	if used := pageUp(seg.end); used < seg.size/2 {
		err, seg.size = f.Truncate(used), used
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Stream gives the stream of a shard, below Options.Shards.
func (l *Log) Stream(shard int) *Stream { return l.streams[shard] }

// SetSyncEvery changes Options.SyncEvery.
func (l *Log) SetSyncEvery(d time.Duration) { l.syncEvery.Store(int64(d)) }

// Err is the failure that ended the log; nil while it works. After it nothing
// becomes durable, and what the disk holds of the records above Durable is unknown.
func (l *Log) Err() error {
	if p := l.err.Load(); p != nil {
		return *p
	}
	return nil
}

// DiskFull says that the last try to make room for the log found no space. The owner
// refuses writes meanwhile; Run tries again at every tick.
func (l *Log) DiskFull() bool { return l.diskFull.Load() }

// Full says that what was appended and not yet written takes more memory than
// Options.BufferBytes: who appends should first wait for a commit.
func (l *Log) Full() bool { return l.backlog.Load() > l.o.BufferBytes }

// Backlog is the memory, in bytes, of what was appended and not yet written.
func (l *Log) Backlog() int64 { return l.backlog.Load() }

// Bytes is the size of all segments with content.
func (l *Log) Bytes() int64 {
	l.segMu.Lock()
	defer l.segMu.Unlock()
	var n int64
	for _, seg := range l.segments {
		n += seg.size
	}
	return n
}

// fail ends the log; the first failure stays.
func (l *Log) fail(err error) {
	l.err.CompareAndSwap(nil, &err)
	l.asked.Store(true)
}

// Close commits what was appended and closes the files. It may be called twice. The
// owner has ended Run and closed the cursors before.
func (l *Log) Close() error {
	err := l.Commit()
	if errors.Is(err, ErrClosed) {
		return nil
	}
	l.commitMu.Lock()
	defer l.commitMu.Unlock()
	l.fail(ErrClosed)
	l.prepareMu.Lock()
	defer l.prepareMu.Unlock()
	for _, f := range []vfs.File{l.writer.file, l.readyFile} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	l.writer.file, l.readyFile = nil, nil
	return err
}
