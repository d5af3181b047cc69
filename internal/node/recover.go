package node

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/server"
	"github.com/bowline-kv/bowline/internal/vfs"
	"github.com/bowline-kv/bowline/internal/wal"
)

// recover executes the records of the log that is there.
func (d *durable) recover() (*wal.Recovery, error) {
	began := d.n.now().Mono
	r, err := wal.Recover(d.fs, d.dir(), wal.RecoverOptions{})
	if err != nil {
		return nil, d.damaged(err)
	}
	if r.Shards() > 0 && r.Shards() != len(d.logs) {
		return nil, fmt.Errorf("read the log %s: it is of %d shards, this node has %d", d.dir(), r.Shards(), len(d.logs))
	}
	if err := d.overlooks(r); err != nil {
		return nil, err
	}
	if r.TornBytes > 0 {
		d.n.log.Warn("the end of the log was not written whole and is cut off", "directory", d.dir(), "bytes", r.TornBytes)
	}
	p := replay{d: d, worker: d.n.server.NewExecutor().(*server.Worker), shown: began}
	for i := range r.Shards() {
		p.total += uint64(r.Last(i))
	}
	if err := r.Replay(nil, p.apply); err != nil {
		return nil, d.damaged(err)
	}
	for i, l := range d.logs {
		l.Recovered(r.Last(i))
	}
	if p.done > 0 {
		d.n.log.Info("the log was read", "records", p.done, "bytes", r.Bytes(), "time", time.Duration(d.n.now().Mono-began).Round(time.Millisecond))
	}
	return r, nil
}

// overlooks refuses to begin a log beside a snapshot file, which a node with a log
// does not read: it would start empty, and overwrite the file one day.
func (d *durable) overlooks(r *wal.Recovery) error {
	if r.Shards() > 0 {
		return nil
	}
	dir, name := d.n.cfg.String(config.Dir), d.n.cfg.String(config.DBFilename)
	names, err := d.fs.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for a snapshot: %w", err)
	}
	if slices.Contains(names, name) {
		return fmt.Errorf("begin the log %s: %s holds a snapshot, which a node with a log does not read: move it away, or start with appendonly no",
			d.dir(), filepath.Join(dir, name))
	}
	return nil
}

// replay is what goes on while records are executed.
type replay struct {
	d      *durable
	worker *server.Worker
	// done counts the records that were executed; total is at most how many there
	// are.
	done, total uint64
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
	p.d.logs[r.Shard].Recovered(r.Seq)
	if err := p.worker.Apply(r.Shard, r.Payload); err != nil {
		return fmt.Errorf("record %d of shard %d: %w", r.Seq, r.Shard, err)
	}
	if p.done++; p.done%replayStep > 0 {
		return nil
	}
	n := p.d.n
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
		return &damagedError{err, filepath.Dir(d.dir()), filepath.Base(d.dir())}
	}
	return err
}

// damagedError is a log that can't be read to its end.
type damagedError struct {
	error
	dir, name string
}

// Unwrap gives what is wrong.
func (e *damagedError) Unwrap() error { return e.error }

// Hint says how to start all the same.
func (e *damagedError) Hint() string {
	return fmt.Sprintf("bowline repair --dir %s --appenddirname %s shows what would be lost by going on without the damaged part", e.dir, e.name)
}

// RepairOptions say which log is to be repaired.
type RepairOptions struct {
	// Dir is the node's directory, Name that of the log in it.
	Dir, Name string
	// Accept cuts the log at the damage; otherwise nothing is changed.
	Accept bool
}

// Damage is what [Repair] has found.
type Damage struct {
	// Found is where the log can't be read any further; nil: it is whole.
	Found *wal.CorruptError
	// Last is the number of the last record before that, by shard.
	Last []uint64
	// Lost is the size in bytes of what follows: more than what records there were
	// take, as files are larger than their content.
	Lost int64
}

// Repair looks for damage in a log that no node is writing, and cuts the log there
// if it may.
func Repair(o RepairOptions) (*Damage, error) {
	dir := filepath.Join(o.Dir, o.Name)
	lock, err := lockLog(dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	r, err := wal.Recover(vfs.OS(), dir, wal.RecoverOptions{AcceptLoss: true})
	if err != nil {
		return nil, fmt.Errorf("repair: %w", err)
	}
	d := &Damage{Found: r.Damage, Lost: r.Behind()}
	for i := range r.Shards() {
		d.Last = append(d.Last, uint64(r.Last(i)))
	}
	if d.Found == nil || !o.Accept {
		return d, nil
	}
	if err := cut(r); err != nil {
		return nil, fmt.Errorf("repair: %w", err)
	}
	return d, nil
}

// cut ends a log where reading it ended. The new end is on disk when something was
// written behind it: the starts of writers.
func cut(r *wal.Recovery) error {
	clock := wallClock()
	l, err := r.Start(wal.Options{Shards: max(r.Shards(), 1), Now: func() time.Duration { return time.Duration(clock().Mono) }, Random: random64})
	if err != nil {
		return err
	}
	for i := range max(r.Shards(), 1) {
		err = errors.Join(err, startWriter(l.Stream(i)))
	}
	return errors.Join(err, l.Close())
}
