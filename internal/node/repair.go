package node

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/vfs"
	"github.com/bowline-kv/bowline/internal/wal"
)

// RepairOptions say which log is to be repaired.
type RepairOptions struct {
	// Dir is the node's directory, Name that of the log in it.
	Dir, Name string
	// Snapshot is the name of the snapshot file in Dir.
	Snapshot string
	// Accept cuts the log at the damage; otherwise nothing is changed.
	Accept bool
}

// Damage is what [Repair] has found.
type Damage struct {
	// Base is the path of the snapshot from which a start goes on; "": there is none.
	Base string
	// Passed is damage where the snapshot has what was there: a start passes over it.
	Passed []*wal.CorruptError
	// Found is why a start does not read the log to its end; nil: it does.
	Found error
	// Last is the number of the last record that is kept, in the log or the snapshot, by
	// shard.
	Last []uint64
	// Seen is the number of the last record that is seen behind the damage, by shard; 0:
	// none is. What is above Last is lost.
	Seen []uint64
	// Lost is the size in bytes of what follows the end: more than what records there were
	// take, as files are larger than their content.
	Lost int64
	// Unusable are snapshots that can't be loaded, and would not fit the log that was cut. They
	// get the suffix .damaged then.
	Unusable []string
}

// Repair looks for damage in a log that no node is writing, and cuts the log there
// if it may. What a snapshot has is not lost by that.
func Repair(o RepairOptions) (*Damage, error) {
	dir := filepath.Join(o.Dir, o.Name)
	lock, err := lockLog(dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	snapshot := filepath.Join(o.Dir, o.Snapshot)
	snapshotLock, err := lockSnapshot(snapshot)
	if err != nil {
		return nil, err
	}
	defer snapshotLock.Close()
	d, err := repair(vfs.OS(), dir, snapshot, o.Accept)
	if err != nil {
		return nil, fmt.Errorf("repair: %w", err)
	}
	if d.Found == nil && len(d.Last) == 0 {
		return nil, fmt.Errorf("repair: there is no log in %s", dir)
	}
	return d, nil
}

func repair(fs vfs.FS, dir, snapshot string, accept bool) (*Damage, error) {
	r, b, broken, err := findBase(fs, dir, snapshot)
	if err != nil {
		return nil, err
	}
	d := &Damage{Base: b.path, Passed: r.Passed, Lost: r.Behind()}
	if r.Damage != nil {
		d.Found = r.Damage
	}
	for _, b := range append(broken, b) { // a start looks at what they say of themselves
		if err := b.reached(r); err != nil && d.Found == nil {
			d.Found = err
		}
	}
	for i := range max(r.Shards(), len(b.cut)) {
		last := r.Last(i)
		if i < len(b.cut) {
			last = max(last, b.cut[i])
		}
		d.Last = append(d.Last, uint64(last))
	}
	if d.Found == nil {
		return d, lacks(r, b)
	}
	seen, err := r.Seen()
	if err != nil {
		return nil, err
	}
	for shard := range seen {
		d.Last = append(d.Last, make([]uint64, max(0, shard+1-len(d.Last)))...)
	}
	for i := range d.Last {
		d.Seen = append(d.Seen, uint64(seen[i]))
	}
	for _, b := range broken {
		for i, cut := range b.cut {
			if i >= len(d.Last) || uint64(cut) > d.Last[i] {
				d.Unusable = append(d.Unusable, b.path)
				break
			}
		}
	}
	if accept {
		err = errors.Join(setAside(fs, d.Unusable), cut(r, b))
	}
	return d, err
}

// lacks finds out whether records are missing between a snapshot and the log, which no
// repair brings back.
func lacks(r *wal.Recovery, b *base) error {
	from := b.after()
	for i := range r.Shards() {
		if begin := r.Begin(i); from[i] < begin {
			return &wal.MissingError{Shard: i, After: from[i], Last: begin}
		}
	}
	return nil
}

// setAside gives files another name.
func setAside(fs vfs.FS, paths []string) error {
	for _, path := range paths {
		if err := fs.Rename(path, path+".damaged"); err != nil {
			return err
		}
		if err := fs.SyncDir(filepath.Dir(path)); err != nil {
			return err
		}
	}
	return nil
}

// findBase reads a log up to the first damage that loses something, with the newest snapshot
// that is whole and of this log; when there is none, with one without a path. broken are those
// that are of this log and not whole.
func findBase(fs vfs.FS, dir, snapshot string) (r *wal.Recovery, b *base, broken []*base, err error) {
	f := &snapshots{fs: fs}
	for _, path := range []string{snapshot, snapshot + previousSuffix} {
		b, err := f.header(path)
		if err != nil || b == nil || b.cut == nil {
			continue
		}
		r, err := wal.Recover(fs, dir, wal.RecoverOptions{AcceptLoss: true, Base: b.points()})
		switch {
		case err != nil:
			return nil, nil, nil, err
		case b.fits(r) != nil:
		case f.whole(path) != nil:
			broken = append(broken, b)
		default:
			return r, b, broken, nil
		}
	}
	r, err = wal.Recover(fs, dir, wal.RecoverOptions{AcceptLoss: true})
	return r, &base{}, broken, err
}

// whole reads a snapshot file to its end.
func (f *snapshots) whole(path string) error {
	file, err := f.fs.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return err
	}
	if err := rdb.Read(io.NewSectionReader(file, 0, size), anyKeys{}, rdb.Options{}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// anyKeys reads keys and does nothing with them.
type anyKeys struct{}

func (anyKeys) Key(*rdb.Key) error           { return nil }
func (anyKeys) Begin(rdb.Kind, uint64) error { return nil }
func (anyKeys) Element(*rdb.Element) error   { return nil }
func (anyKeys) End() error                   { return nil }

// cut ends a log where reading it ended, or behind the snapshot where that has more. The
// new end is on disk when something was written behind it: the starts of writers.
func cut(r *wal.Recovery, b *base) error {
	clock, shards := wallClock(), max(r.Shards(), len(b.cut))
	l, err := r.Start(wal.Options{Shards: max(shards, 1), Now: func() time.Duration { return time.Duration(clock().Mono) }, Random: random64})
	if err != nil {
		return err
	}
	for i := range shards {
		err = errors.Join(err, b.goOn(l.Stream(i), i))
	}
	return errors.Join(err, l.Close())
}
