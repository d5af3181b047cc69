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

// durable is the log of a node that keeps one. Commands append to it by way of
// their shards; event loops make it safe at the end of their ticks, and what they
// leave is done in the background.
type durable struct {
	n     *Node
	fs    vfs.FS
	lock  io.Closer        // of the directory; nil: the file system is not that of the machine
	logs  []*shard.DiskLog // by shard
	log   *wal.Log         // nil until the old one was read
	fail  func(error)      // ends the process
	once  sync.Once        // for fail
	end   context.CancelFunc
	tasks sync.WaitGroup
	// full: writes are refused, as the disk has no room. Changed under fullMu.
	full   atomic.Bool
	fullMu sync.Mutex
	// loopNanos is the time that event loops spent here.
	loopNanos atomic.Int64
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

// newDurable makes the logs of the shards, in recovery; nil where none is to be
// kept.
func newDurable(n *Node, o Options, shards int) *durable {
	if profile(o.Config) == "" {
		return nil
	}
	d := &durable{n: n, fs: o.Files, fail: o.Fail}
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

// open reads the log that is there into the key space, and begins to write behind
// it.
func (d *durable) open() error {
	if d.fs == nil {
		d.fs = vfs.OS()
		lock, err := lockLog(d.dir())
		if err != nil {
			return err
		}
		d.lock = lock
	}
	r, err := d.recover()
	if err != nil {
		return err
	}
	if d.log, err = r.Start(wal.Options{
		Shards:       len(d.logs),
		SegmentBytes: d.n.cfg.Int(config.WALSegmentSize),
		Now:          func() time.Duration { return time.Duration(d.n.now().Mono) },
		Random:       random64,
		Wake:         func() { d.n.driver.WakeHeld() },
	}); err != nil {
		return err
	}
	for i, l := range d.logs {
		if err := startWriter(d.log.Stream(i)); err != nil {
			return err
		}
		l.Attach(d.log.Stream(i))
	}
	d.follow()
	if err := d.log.Commit(); err != nil {
		return fmt.Errorf("begin to write the log: %w", err)
	}
	ctx, end := context.WithCancel(context.Background())
	d.end = end
	d.tasks.Go(func() { d.write(ctx) })
	d.tasks.Go(func() { d.watch(ctx) })
	return nil
}

// lockLog keeps other processes from the log of a directory.
func lockLog(dir string) (io.Closer, error) {
	lock, err := vfs.Lock(dir + ".lock")
	if err != nil {
		return nil, fmt.Errorf("take the log %s: %w", dir, err)
	}
	return lock, nil
}

// startWriter marks the start of this writer.
func startWriter(s *wal.Stream) error {
	f := wal.Fork{Epoch: 1, ID: random64(), First: s.Last() + 1}
	if h := s.History(); len(h) > 0 {
		f.Epoch = h[len(h)-1].Epoch
	}
	return s.Fork(f)
}

// follow does what the settings say, now and whenever they change.
func (d *durable) follow() {
	apply := func() error {
		p := profile(d.n.cfg)
		d.log.SetSyncEvery(syncEvery(p))
		d.n.space.SetWaits(p == always)
		return nil
	}
	apply()
	d.n.cfg.OnChange(config.AppendFsync, apply)
}

var errRunningLog = errors.New("the log begins and ends with the node: change the configuration and start it again")

// refuseSwitch keeps CONFIG SET from promising a log that is not kept, or the
// other way round.
func (n *Node) refuseSwitch() {
	n.cfg.OnChange(config.AppendOnly, func() error {
		if (profile(n.cfg) != "") != (n.durable != nil) {
			return errRunningLog
		}
		return nil
	})
}

// endTick makes safe what an event loop's commands have appended, or leaves it to
// others.
func (d *durable) endTick() {
	if d.log.DiskFull() {
		d.setFull(true)
		return // the next try is in the background
	}
	began := d.n.now().Mono
	err := d.log.EndTick()
	d.loopNanos.Add(d.n.now().Mono - began)
	switch {
	case err == nil:
	case errors.Is(err, wal.ErrDiskFull):
		d.setFull(true)
	default:
		d.broke(err)
	}
}

// write does in the background what event loops do not.
func (d *durable) write(ctx context.Context) {
	ticker := time.NewTicker(writeEvery)
	defer ticker.Stop()
	if err := d.log.Run(ctx, ticker.C); err != nil {
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
func (d *durable) watch(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			d.setFull(d.log.DiskFull() || d.scarce())
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
	return server.LogState{Bytes: d.log.Bytes(), Waiting: d.log.Backlog(), LoopNanos: d.loopNanos.Load(), Failing: d.full.Load() || d.log.Err() != nil}
}

// close makes safe what was appended. Nothing is appended any more. It may be
// called more than once, and when open has failed.
func (d *durable) close() error {
	if d.end != nil {
		d.end()
	}
	d.tasks.Wait()
	var err error
	if d.log != nil {
		err = d.log.Close()
	}
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
		d.lock = nil
	}
	return err
}
