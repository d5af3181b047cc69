package node

import (
	"fmt"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/vfs"
	"github.com/bowline-kv/bowline/internal/wal"
)

// followSettings makes CONFIG SET begin, end and change the log.
func (d *durable) followSettings() {
	d.n.cfg.OnChange(config.AppendFsync, func() error {
		d.follow()
		return nil
	})
	d.n.cfg.OnChange(config.AppendOnly, func() error {
		if d.wanted() {
			if err := vfs.MakeDir(d.fs, d.n.cfg.String(config.Dir)); err != nil {
				return fmt.Errorf("make the directory of the log: %w", err)
			}
		}
		// The rest needs all locks, some of which the caller may have.
		d.n.snapshots.Go(d.settle)
		return nil
	})
}

// settle begins or ends the log as the settings say.
func (d *durable) settle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	var err error
	switch on := d.log.Load() != nil; {
	case d.wanted() && !on:
		if err = d.begin(); err == nil {
			d.n.server.WantSnapshot()
		}
	case !d.wanted() && on:
		err = d.leave()
	}
	d.broken.Store(err != nil)
	if err != nil {
		d.n.log.Error("the log does not follow the setting", "directory", d.dir(), "setting", config.AppendOnly.Name, "error", err)
	}
}

// begin begins a log of a node that has data already: it is of use when a snapshot
// was written. What there was of a log is of the past.
func (d *durable) begin() error {
	if err := d.take(); err != nil {
		return err
	}
	if err := d.markUnfinished(); err != nil {
		return err
	}
	if err := wal.Discard(d.fs, d.dir()); err != nil {
		return err
	}
	r, err := wal.Recover(d.fs, d.dir(), wal.RecoverOptions{})
	if err != nil {
		return err
	}
	d.ground.begin(&base{}, nil, d.appended())
	if err := d.start(r, d.attachHere); err != nil {
		return err
	}
	return d.unmark(d.leftPath())
}

// restart makes a log go on from the data as it is, which was loaded from elsewhere;
// it is of use when a snapshot was written. Nothing is done when none is kept. mu is
// held, and no command changes anything.
func (d *durable) restart() (unsaved bool, err error) {
	l := d.log.Load()
	if l == nil {
		return false, nil
	}
	if err := d.markUnfinished(); err != nil {
		return false, err
	}
	d.ground.begin(&base{}, nil, d.appended())
	if err := d.attachHere(l); err != nil {
		return false, err
	}
	return true, l.Commit()
}

// attachHere lets the streams begin with the next record of each shard.
func (d *durable) attachHere(l *wal.Log) error {
	tx := d.n.space.NewTx()
	tx.LockAll()
	defer tx.Unlock()
	for i, log := range d.logs {
		if err := attachBehind(l.Stream(i), log, log.Last()); err != nil {
			return err
		}
	}
	return nil
}

// attachBehind lets a stream begin behind data that no log has. That counts as one
// record at least, so that the log never seems to be all that there is.
func attachBehind(s *wal.Stream, log *shard.DiskLog, last wal.Sequence) error {
	// Who wrote the records before is not known.
	if err := s.Reset(max(last, 1), wal.History{{Epoch: 1, ID: random64(), First: 1}}); err != nil {
		return err
	}
	if err := startWriter(s); err != nil {
		return err
	}
	log.Attach(s)
	return nil
}

// leave ends the log of a node that goes on without.
func (d *durable) leave() error {
	d.n.space.SetWaits(false)
	tx := d.n.space.NewTx()
	tx.LockAll()
	for _, log := range d.logs {
		log.Detach()
	}
	tx.Unlock()
	err := d.stop()
	if err == nil {
		err = d.mark(d.leftPath())
	}
	d.setFull(false)
	d.n.driver.WakeHeld()
	return err
}
