package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/server"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/vfs"
	"github.com/bowline-kv/bowline/internal/wal"
)

// durable is the log of a node on disk, if it keeps one. Commands append to it by
// way of their shards; event loops make it safe at the end of their ticks, and what
// they leave is done in the background. With the snapshot file, see [base], it is all
// that a start needs.
type durable struct {
	n    *Node
	fs   vfs.FS
	logs []*shard.DiskLog // by shard
	fail func(error)      // ends the process
	once sync.Once        // for fail
	// log is nil while none is kept: before the old one was read, too.
	log atomic.Pointer[wal.Log]
	// full: writes are refused, as the disk has no room. Changed under fullMu.
	full   atomic.Bool
	fullMu sync.Mutex
	// loopNanos is the time that event loops spent here.
	loopNanos atomic.Int64
	// broken: the log that the settings ask for can't be begun.
	broken atomic.Bool

	// mu is held while the log begins or ends.
	mu     sync.Mutex
	closed bool // guarded by mu, like all below
	// lock is that of the directory; nil: there is none, or the file system is not that
	// of the machine.
	lock  io.Closer
	end   context.CancelFunc // for tasks
	tasks sync.WaitGroup

	ground ground
}

const (
	// writeEvery is how often what was appended is written, when not each reply waits
	// for that: the end of the process alone loses no more.
	writeEvery = 50 * time.Millisecond
	// lazySync is how often the log is synced with `appendfsync no`.
	lazySync = 30 * time.Second
	// lookEvery is how often the room on the disk is looked at.
	lookEvery = 100 * time.Millisecond
)

// The words of `durability` and `appendfsync`.
const (
	always   = "always"
	everysec = "everysec"
)

// profile says how the log is synced, in the words of appendfsync; "": there is
// none.
func profile(cfg *config.Config) string {
	switch d := cfg.String(config.Durability); {
	case d == always || d == everysec:
		return d
	case cfg.Bool(config.AppendOnly):
		return cfg.String(config.AppendFsync)
	}
	return ""
}

func syncEvery(profile string) time.Duration {
	switch profile {
	case always:
		return 0
	case everysec:
		return time.Second
	}
	return lazySync
}

// newDurable makes the logs of the shards, in memory as yet.
func newDurable(n *Node, o Options, shards int) *durable {
	d := &durable{n: n, fs: o.Files, fail: o.Fail}
	if d.fs == nil {
		d.fs = vfs.OS()
	}
	if d.fail == nil {
		d.fail = func(error) { os.Exit(1) }
	}
	for range shards {
		d.logs = append(d.logs, shard.NewDiskLog(int(o.Config.Int(config.ReplBacklogSize))))
	}
	return d
}

func (d *durable) dir() string {
	return filepath.Join(d.n.cfg.String(config.Dir), d.n.cfg.String(config.AppendDirname))
}

// wanted says whether the settings ask for a log.
func (d *durable) wanted() bool { return profile(d.n.cfg) != "" }

// start begins to write behind what was read. attach makes the streams go on from
// the data, and lets the logs of the shards append to them.
func (d *durable) start(r *wal.Recovery, attach func(*wal.Log) error) error {
	l, err := r.Start(wal.Options{
		Shards:       len(d.logs),
		SegmentBytes: d.n.cfg.Int(config.WALSegmentSize),
		Now:          func() time.Duration { return time.Duration(d.n.now().Mono) },
		Random:       random64,
		Wake:         func() { d.n.driver.WakeHeld() },
	})
	if err != nil {
		return err
	}
	if err = attach(l); err == nil {
		err = l.Commit()
	}
	if errors.Is(err, wal.ErrDiskFull) { // there is room for reads
		d.setFull(true)
		err = nil
	}
	if err != nil {
		return errors.Join(fmt.Errorf("begin to write the log: %w", err), l.Close())
	}
	d.log.Store(l)
	d.follow()
	ctx, end := context.WithCancel(context.Background())
	d.end = end
	d.tasks.Go(func() { d.write(ctx, l) })
	d.tasks.Go(func() { d.watch(ctx, l) })
	return nil
}

// take keeps other processes from the log; mu is held.
func (d *durable) take() error {
	if d.lock != nil || d.fs != vfs.OS() {
		return nil
	}
	lock, err := lockLog(d.dir())
	d.lock = lock
	return err
}

// lockLog keeps other processes from the log of a directory.
func lockLog(dir string) (io.Closer, error) {
	lock, err := vfs.Lock(dir + ".lock")
	if err != nil {
		return nil, fmt.Errorf("take the log %s: %w", dir, err)
	}
	return lock, nil
}

// unread warns of a log that a node without one leaves alone. While another node has
// it, the snapshot file is that node's too.
func (d *durable) unread() error {
	if !wal.Exists(d.fs, d.dir()) {
		return nil
	}
	if d.fs == vfs.OS() {
		lock, err := lockLog(d.dir())
		switch {
		case err == nil:
			err = lock.Close()
		case !errors.Is(err, vfs.ErrLocked): // it may only be read, maybe
			err = nil
		}
		if err != nil {
			return err
		}
	}
	d.n.log.Warn("there is a log of an earlier run, which is not read, as none is to be kept", "directory", d.dir(), "setting", config.AppendOnly.Name)
	return nil
}

// startWriter marks the start of this writer.
func startWriter(s *wal.Stream) error {
	f := wal.Fork{Epoch: 1, ID: random64(), First: s.Last() + 1}
	if h := s.History(); len(h) > 0 {
		f.Epoch = h[len(h)-1].Epoch
	}
	return s.Fork(f)
}

// follow does what the settings say of an open log.
func (d *durable) follow() {
	if l := d.log.Load(); l != nil {
		p := profile(d.n.cfg)
		l.SetSyncEvery(syncEvery(p))
		d.n.space.SetWaits(p == always)
	}
}

// endTick makes safe what an event loop's commands have appended, or leaves it to
// others.
func (d *durable) endTick() {
	l := d.log.Load()
	if l == nil {
		return
	}
	if l.DiskFull() {
		d.setFull(true)
		return // the next try is in the background
	}
	began := d.n.now().Mono
	err := l.EndTick()
	d.loopNanos.Add(d.n.now().Mono - began)
	switch {
	case err == nil, errors.Is(err, wal.ErrClosed): // it ended meanwhile
	case errors.Is(err, wal.ErrDiskFull):
		d.setFull(true)
	default:
		d.broke(err)
	}
}

// write does in the background what event loops do not.
func (d *durable) write(ctx context.Context, l *wal.Log) {
	ticker := time.NewTicker(writeEvery)
	defer ticker.Stop()
	if err := l.Run(ctx, ticker.C); err != nil {
		d.broke(err)
	}
}

// broke ends the process: what the disk holds of the newest records is unknown,
// so no reply that waits for them may leave any more.
func (d *durable) broke(err error) {
	d.once.Do(func() {
		d.n.log.Error("the log can't be written, so the node ends", "directory", d.dir(), "error", err)
		d.fail(err)
	})
}

// watch refuses writes while the disk has no room, and takes them again when it has.
func (d *durable) watch(ctx context.Context, l *wal.Log) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			d.setFull(l.DiskFull() || d.scarce())
		}
	}
}

// scarce says that more of the disk is in use than the settings allow.
func (d *durable) scarce() bool {
	s, err := d.fs.Space(d.dir())
	percent := uint64(d.n.cfg.Int(config.DiskFullPercent))
	if err != nil || percent >= 100 || s.Total == 0 {
		return false
	}
	return s.Free < s.Total/100*(100-percent)
}

func (d *durable) setFull(full bool) {
	if d.full.Load() == full {
		return
	}
	d.fullMu.Lock()
	defer d.fullMu.Unlock()
	if d.full.Load() == full {
		return
	}
	for _, sh := range d.n.space.Shards() {
		sh.SetGate(shard.GateDisk, full)
	}
	d.full.Store(full)
	if full {
		d.n.log.Error("the disk is full: writes are refused", "directory", d.dir())
	} else {
		d.n.log.Info("the disk has room again: writes are taken", "directory", d.dir())
	}
}

// state is what INFO tells.
func (d *durable) state() server.LogState {
	l := d.log.Load()
	s := server.LogState{On: l != nil, Begins: d.ground.unfinished.Load() || d.wanted() && l == nil && !d.broken.Load(), Failing: d.full.Load() || d.broken.Load()}
	if l != nil {
		s.Bytes, s.Waiting, s.LoopNanos = l.Bytes(), l.Backlog(), d.loopNanos.Load()
		s.Failing = s.Failing || l.Err() != nil
		s.BaseBytes, s.Due = d.rewriteDue()
	}
	return s
}

// stop ends writing, after what was appended is safe; mu is held.
func (d *durable) stop() error {
	var err error
	if l := d.log.Swap(nil); l != nil {
		d.end()
		d.tasks.Wait()
		err = l.Close()
	}
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
		d.lock = nil
	}
	return err
}

// close makes safe what was appended. Nothing is appended any more, and nothing
// begins. It may be called more than once, and when no log was opened.
func (d *durable) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return d.stop()
}
