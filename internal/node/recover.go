package node

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/bowline-kv/bowline/internal/server"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/wal"
)

// recover loads the snapshot and what the log has beyond it, and begins to write
// behind that. unsaved says that the log is of use only when a snapshot of the data
// was written.
func (d *durable) recover(newLoader func() *shard.Loader) (unsaved bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false, errGivenUp
	}
	if err := d.prepare(); err != nil {
		return false, err
	}
	for _, l := range d.logs {
		l.Recover()
	}
	r, b, err := d.read(newLoader)
	if err != nil {
		return false, err
	}
	if unsaved = b.ofOthers(); unsaved {
		if err := d.markUnfinished(); err != nil {
			return false, err
		}
	}
	if err := d.start(r, func(l *wal.Log) error { return d.goOn(l, r, b) }); err != nil {
		return false, err
	}
	return unsaved, d.unmark(d.leftPath())
}

// recoverAgain reads the data of a node that runs once more. No command changes
// anything meanwhile.
func (d *durable) recoverAgain(forget func(), newLoader func() *shard.Loader) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	open := d.log.Load()
	if open == nil || d.ground.unfinished.Load() {
		return server.ErrNoLog
	}
	if err := open.Commit(); err != nil {
		return err
	}
	forget()
	for _, l := range d.logs {
		l.Recover()
	}
	_, _, err := d.read(newLoader)
	for i, l := range d.logs {
		l.Attach(open.Stream(i))
	}
	if err != nil && !errors.Is(err, errGivenUp) {
		// To go on with a part of the data would end in a snapshot of it.
		d.n.log.Error("the data can't be read again, so the node ends", "directory", d.dir(), "error", err)
		d.fail(err)
	}
	return err
}

// prepare takes the log, and throws one away that was not of use yet.
func (d *durable) prepare() error {
	if err := d.take(); err != nil {
		return err
	}
	if err := d.noRedisLog(); err != nil {
		return err
	}
	unfinished, err := d.marked(d.unfinishedPath())
	if err != nil {
		return err
	}
	old, err := d.outdated()
	if err != nil || !old && !unfinished {
		return err
	}
	if old {
		d.n.log.Warn("a log is thrown away, as the node went on without it and has written a snapshot since", "directory", d.dir())
	} else {
		d.n.log.Warn("a log that had no snapshot to go on from yet is thrown away", "directory", d.dir())
	}
	if err := wal.Discard(d.fs, d.dir()); err != nil {
		return err
	}
	return d.finish()
}

// outdated says that the snapshot was written after the node went on without the log.
func (d *durable) outdated() (bool, error) {
	left, err := d.marked(d.leftPath())
	if err != nil || !left {
		return false, err
	}
	f := d.n.snapshots
	b, err := f.header(f.path())
	if err != nil || b == nil || !b.ofOthers() {
		return false, nil // one that can't be read is told of when it is to be loaded
	}
	return true, f.whole(b.path) // or the log may be all that there is
}

// read loads a snapshot and executes the records of the log that it lacks.
func (d *durable) read(newLoader func() *shard.Loader) (*wal.Recovery, *base, error) {
	r, b, err := d.loadBase(newLoader)
	if err != nil {
		return nil, nil, err
	}
	began := d.n.now().Mono
	p := replay{d: d, applier: d.n.server.NewApplier(), shown: began}
	from := b.after()
	for i := range r.Shards() {
		p.total += uint64(max(r.Last(i), from[i]) - from[i])
	}
	err = r.Replay(from, p.apply)
	if closeErr := p.applier.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, nil, d.missing(d.damaged(err))
	}
	for i, l := range d.logs {
		l.Recovered(max(r.Last(i), from[i]))
	}
	if p.done > 0 {
		d.n.log.Info("the log was read", "records", p.done, "bytes", p.bytes, "time", time.Duration(d.n.now().Mono-began).Round(time.Millisecond))
	}
	d.ground.begin(b, d.previous(r, b), d.appended()-p.bytes)
	return r, b, nil
}

// readLog reads and checks the log that goes on from a snapshot.
func (d *durable) readLog(b *base) (*wal.Recovery, error) {
	r, err := wal.Recover(d.fs, d.dir(), wal.RecoverOptions{Base: b.points()})
	if err != nil {
		return nil, d.damaged(err)
	}
	// One without records may not have come to those of all shards.
	if r.Shards() > len(d.logs) || begun(r) && r.Shards() < len(d.logs) {
		return nil, fmt.Errorf("read the log %s: it is of %d shards, this node has %d", d.dir(), r.Shards(), len(d.logs))
	}
	if r.TornBytes > 0 {
		d.n.log.Warn("the end of the log was not written whole and is cut off", "directory", d.dir(), "bytes", r.TornBytes)
	}
	return r, nil
}

// loadBase reads the log, and loads the newest snapshot that is whole; one without a path when
// there is none. A snapshot that is not of this log is an error: only a person knows which of
// the two is wanted.
func (d *durable) loadBase(newLoader func() *shard.Loader) (*wal.Recovery, *base, error) {
	f := d.n.snapshots
	paths := []string{f.path()}
	if wal.Exists(d.fs, d.dir()) {
		paths = append(paths, f.previousPath())
	}
	var r *wal.Recovery
	var failed error
	for i, path := range paths {
		b, err := f.header(path)
		if err == nil && b == nil {
			continue
		}
		if err == nil {
			var refused error
			if r, err, refused = d.readLogFor(r, b); refused != nil {
				return nil, nil, errors.Join(failed, refused)
			}
		}
		if err == nil {
			if i > 0 && !begun(r) {
				continue
			}
			if err = d.belongs(b, r); err != nil {
				return nil, nil, errors.Join(failed, err)
			}
			err = d.loadSnapshot(b, newLoader())
		}
		switch {
		case err == nil:
			for _, damage := range r.Passed {
				d.n.log.Warn("damage in the log is passed over, as the snapshot has what was there", "damage", damage, "snapshot", path)
			}
			return r, b, nil
		case errors.Is(err, errGivenUp):
			return nil, nil, err
		}
		failed = errors.Join(failed, err)
		d.n.log.Warn("the snapshot can't be loaded", "file", path, "error", err)
		d.n.forget()
	}
	r, err := d.readLogAgain(r, &base{})
	if err != nil {
		return nil, nil, errors.Join(failed, err)
	}
	if failed != nil && !reachesBack(r) {
		return nil, nil, failed
	}
	return r, &base{}, nil
}

// readLogFor is readLogAgain for a snapshot that was not read yet. When there is damage in
// the log, it may as well be in the snapshot, so that what that says of the log is wrong:
// broken tells, and the one before is to be tried.
func (d *durable) readLogFor(r *wal.Recovery, b *base) (_ *wal.Recovery, broken, err error) {
	r, err = d.readLogAgain(r, b)
	if damage := (*damagedError)(nil); !errors.As(err, &damage) {
		return r, nil, err
	}
	switch broken = d.n.snapshots.whole(b.path); {
	case broken == nil:
		return nil, nil, err
	case b.cut == nil:
		err = fmt.Errorf("go on from a snapshot with the log %s: %w: %w", d.dir(), broken, err)
		return nil, nil, &foreignError{err, b.path, d.dir()}
	}
	return nil, broken, nil
}

// readLogAgain is readLog, but when the log was read before, for another snapshot, and
// would be the same.
func (d *durable) readLogAgain(r *wal.Recovery, b *base) (*wal.Recovery, error) {
	if r != nil && len(r.Passed) == 0 {
		return r, nil
	}
	return d.readLog(b)
}

func (d *durable) loadSnapshot(b *base, l *shard.Loader) error {
	if len(b.cut) != len(d.logs) { // and there is no log: it is as that of another server
		b.cut, b.histories = nil, nil
	}
	l.KeepExpired = true // the log may say that they live on
	return d.n.snapshots.load(b.path, l)
}

// belongs checks that the log goes on from a snapshot.
func (d *durable) belongs(b *base, r *wal.Recovery) error {
	if err := b.fits(r); err != nil {
		return &foreignError{fmt.Errorf("go on from %s with the log %s: %w", b.path, d.dir(), err), b.path, d.dir()}
	}
	if err := b.reached(r); err != nil {
		return &damagedError{fmt.Errorf("go on from %s with the log %s: %w", b.path, d.dir(), err), d.dir()}
	}
	return nil
}

// reachesBack says whether the log has everything since its first record.
func reachesBack(r *wal.Recovery) bool {
	for i := range r.Shards() {
		if r.Begin(i) > 0 {
			return false
		}
	}
	return begun(r)
}

// forget empties the key space, in which a part of a snapshot was loaded.
func (n *Node) forget() {
	tx := n.space.NewTx()
	tx.LockAll()
	defer tx.Unlock()
	tx.FlushAll()
}

// previous is the older snapshot, if the log reaches back to it.
func (d *durable) previous(r *wal.Recovery, newest *base) *base {
	b, err := d.n.snapshots.header(d.n.snapshots.previousPath())
	if err != nil || b == nil || b.path == newest.path || b.fits(r) != nil {
		return nil
	}
	for i, cut := range b.cut {
		if cut < r.Begin(i) {
			return nil
		}
	}
	return b
}

// goOn makes the streams go on from what was read: behind the end of the log, or
// behind the snapshot where that has more.
func (d *durable) goOn(l *wal.Log, r *wal.Recovery, b *base) error {
	for i, log := range d.logs {
		s := l.Stream(i)
		if b.ofOthers() {
			if err := attachBehind(s, log, 0); err != nil {
				return err
			}
			continue
		}
		if err := b.goOn(s, i); err != nil {
			return err
		}
		log.Attach(s)
	}
	return nil
}

// replay is what goes on while records are executed.
type replay struct {
	d       *durable
	applier *server.Applier
	// done counts the records that were executed; total is at most how many there
	// are.
	done, total uint64
	bytes       int64 // of their payloads
	shown       int64 // Instant.Mono of the newest line about it
}

const (
	// replayStep is after how many records the clock is looked at, and what was
	// dropped is tidied up.
	replayStep = 4096
	// showEvery is how often a line tells how far it is.
	showEvery = 2 * time.Second
)

func (p *replay) apply(r wal.Record) error {
	if err := p.applier.Apply(r.Shard, r.Seq, r.Payload); err != nil {
		return err
	}
	p.bytes += int64(len(r.Payload))
	if p.done++; p.done%replayStep > 0 {
		return nil
	}
	n := p.d.n
	if n.ended() {
		return errGivenUp
	}
	n.space.NewTx().Tidy(tidyPerStripe)
	if now := n.now().Mono; now-p.shown >= int64(showEvery) {
		p.shown = now
		n.log.Info("reading the log", "records", p.done, "of", p.total)
	}
	return nil
}

// damaged adds to an error what a person can do about it.
func (d *durable) damaged(err error) error {
	err = fmt.Errorf("read the log: %w", err)
	if c := (*wal.CorruptError)(nil); errors.As(err, &c) {
		return &damagedError{err, d.dir()}
	}
	return err
}

// damagedError is a log that can't be read to its end.
type damagedError struct {
	error
	log string // its directory
}

// Unwrap gives what is wrong.
func (e *damagedError) Unwrap() error { return e.error }

// Hint says how to start all the same.
func (e *damagedError) Hint() string {
	return fmt.Sprintf("bowline repair --dir %s --appenddirname %s shows what would be lost by going on without the damaged part", filepath.Dir(e.log), filepath.Base(e.log))
}

// missing adds to an error what a person can do about records that neither the log
// nor a snapshot has.
func (d *durable) missing(err error) error {
	m := (*wal.MissingError)(nil)
	if !errors.As(err, &m) {
		return err
	}
	return fmt.Errorf("%w: the snapshot %s that it goes on from is not there, nor %s", err, d.n.snapshots.path(), d.n.snapshots.previousPath())
}

// foreignError is a snapshot that is not of the log.
type foreignError struct {
	error
	snapshot, log string
}

// Unwrap gives what is wrong.
func (e *foreignError) Unwrap() error { return e.error }

// Hint says how to start all the same.
func (e *foreignError) Hint() string {
	return fmt.Sprintf("move %s away to start with the log, or %s to start with the snapshot", e.snapshot, e.log)
}
