package node

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/vfs"
	"github.com/bowline-kv/bowline/internal/wal"
)

// ground is the two newest snapshots, from which the log goes on, and how much of it
// lies behind them. The log before the older one is not needed for a start.
type ground struct {
	// unfinished: there is a log, but no snapshot that it goes on from.
	unfinished atomic.Bool

	mu               sync.Mutex
	newest, previous *base // guarded by mu, like all below; nil: there is none
	mark             int64 // of what was appended, where newest was cut
}

// begin sets what is there at the start.
func (g *ground) begin(newest, previous *base, mark int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if newest.cut == nil {
		newest = nil
	}
	g.newest, g.previous, g.mark = newest, previous, mark
}

func ofLog(histories []wal.History) bool { return len(histories) > 0 && len(histories[0]) > 0 }

// appended is the size of everything that was appended since the node has started.
func (d *durable) appended() int64 {
	n := int64(0)
	for _, l := range d.logs {
		n += l.Bytes()
	}
	return n
}

// reach makes the log reach to the cut of a snapshot that is about to be put in its
// place, and keeps the one that is there.
func (d *durable) reach(histories []wal.History) error {
	l := d.log.Load()
	if l == nil || !ofLog(histories) {
		return nil
	}
	if err := l.Commit(); err != nil && !errors.Is(err, wal.ErrClosed) {
		return fmt.Errorf("make the log safe up to it: %w", err)
	}
	g := &d.ground
	g.mu.Lock()
	defer g.mu.Unlock()
	f := d.n.snapshots
	if g.newest == nil || g.newest.path != f.path() {
		return nil
	}
	err := d.fs.Rename(f.path(), f.previousPath())
	if errors.Is(err, fs.ErrNotExist) { // somebody has taken it away
		g.newest = nil
		return nil
	}
	if err == nil {
		g.newest.path = f.previousPath()
	}
	return err
}

// based lets the log go on from a snapshot that is in its place, and drops what is
// not needed of it any more. mark is what was appended up to the cut.
func (d *durable) based(b *base, mark int64) error {
	l := d.log.Load()
	if l == nil {
		return nil
	}
	if !ofLog(b.histories) || !d.writes(l, b) { // it was begun before the log
		d.n.server.WantSnapshot()
		return nil
	}
	g := &d.ground
	g.mu.Lock()
	g.newest, g.previous, g.mark = b, g.newest, mark
	previous := g.previous
	g.mu.Unlock()
	if g.unfinished.Load() {
		if err := d.finish(); err != nil {
			return fmt.Errorf("put the log %s into use: %w", d.dir(), err)
		}
		d.n.log.Info("the log is in use", "directory", d.dir())
	}
	if previous == nil {
		return nil
	}
	before := map[int]wal.Sequence{}
	for i, cut := range previous.cut {
		before[i] = cut + 1
	}
	err := l.TrimBefore(before, d.n.cfg.Int(config.WALHistorySize))
	if err != nil && !errors.Is(err, wal.ErrClosed) {
		d.n.log.Warn("the log could not be made shorter", "directory", d.dir(), "error", err)
	}
	return nil
}

// writes says whether a snapshot is of the log that is open.
func (d *durable) writes(l *wal.Log, b *base) bool {
	for i := range d.logs {
		w, ok := b.histories[i].Writer(max(b.cut[i], 1))
		if !ok || !l.Stream(i).History().Contains(max(b.cut[i], 1), w.ID) {
			return false
		}
	}
	return true
}

// rewriteDue says whether the log has grown so that it needs another snapshot to go
// on from, by the rule of Redis, and gives the size of the one that it has.
func (d *durable) rewriteDue() (baseBytes int64, due bool) {
	g := &d.ground
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.newest != nil {
		baseBytes = g.newest.bytes
	}
	behind := d.appended() - g.mark
	percent := d.n.cfg.Int(config.AutoAOFRewritePercentage)
	due = g.unfinished.Load() || percent > 0 && baseBytes+behind >= d.n.cfg.Int(config.AutoAOFRewriteMinSize) && behind/max(baseBytes/100, 1) >= percent
	return baseBytes, due
}

// A file beside the log says something of it that its segments don't: that it is of
// no use until a snapshot is there,
func (d *durable) unfinishedPath() string { return d.dir() + ".unfinished" }

// or that the node went on without it, so that a snapshot may be newer.
func (d *durable) leftPath() string { return d.dir() + ".left" }

// marked looks for such a file.
func (d *durable) marked(path string) (bool, error) {
	file, err := d.fs.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look what is said of the log: %w", err)
	}
	return true, file.Close()
}

// mark makes such a file, and safe.
func (d *durable) mark(path string) error {
	if err := vfs.MakeDir(d.fs, filepath.Dir(path)); err != nil {
		return err
	}
	file, err := d.fs.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close(), d.fs.SyncDir(filepath.Dir(path)))
}

// unmark removes it, if it is there.
func (d *durable) unmark(path string) error {
	err := d.fs.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = d.fs.SyncDir(filepath.Dir(path))
	}
	return err
}

// markUnfinished says on the disk that the log is of no use until a snapshot is there.
func (d *durable) markUnfinished() error {
	if err := d.mark(d.unfinishedPath()); err != nil {
		return fmt.Errorf("begin a log: %w", err)
	}
	d.ground.unfinished.Store(true)
	return nil
}

// finish says on the disk that the log is of use.
func (d *durable) finish() error {
	err := d.unmark(d.unfinishedPath())
	d.ground.unfinished.Store(err != nil)
	return err
}
