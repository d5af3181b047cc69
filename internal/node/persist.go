package node

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/server"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/vfs"
	"github.com/bowline-kv/bowline/internal/wal"
)

// snapshots keeps the snapshot file of a node; it implements [server.Snapshots].
// A file is written beside the one before, and takes its place once it is on the
// disk, so that no crash leaves a part of one.
type snapshots struct {
	fs  vfs.FS
	cfg *config.Config
	log *slog.Logger
	now func() time.Time
	// ended says that loading is to be given up; it is asked often.
	ended func() bool
	// running counts what Go has started.
	running sync.WaitGroup
	durable *durable
	locks   snapshotLocks
}

// errGivenUp is why a snapshot was not written to its end.
var errGivenUp = errors.New("it was given up")

func (f *snapshots) path() string {
	return filepath.Join(f.cfg.String(config.Dir), f.cfg.String(config.DBFilename))
}

// Go implements [server.Snapshots].
func (f *snapshots) Go(run func()) { f.running.Go(run) }

// Write implements [server.Snapshots].
func (f *snapshots) Write(s *shard.Snapshot, stop func() bool) error {
	path := f.path()
	began := f.now()
	mark := f.durable.appended() // a little behind the cut
	err := f.take(path)
	var bytes int64
	if err == nil {
		bytes, err = f.replace(path, s, stop)
	}
	if err == nil {
		f.release(path, f.path())
		err = f.durable.based(&base{path, bytes, s.Cut(), s.Histories()}, mark)
	}
	p := s.Progress()
	switch {
	case errors.Is(err, errGivenUp):
		f.log.Info("snapshot given up", "file", path, "keys", p.Written, "of", p.Total)
	case err != nil:
		f.log.Error("snapshot failed", "file", path, "error", err)
	default:
		f.log.Info("snapshot written", "file", path, "keys", p.Written, "bytes", bytes, "handed_over", p.Handed, "took", f.now().Sub(began))
	}
	return err
}

// replace writes the file under another name and renames it. The log reaches to the
// cut before that, so that it never ends before its base.
func (f *snapshots) replace(path string, s *shard.Snapshot, stop func() bool) (bytes int64, err error) {
	unfinished := path + ".tmp"
	file, err := f.fs.Create(unfinished)
	if err != nil {
		return 0, fmt.Errorf("create the snapshot file: %w", err)
	}
	out := &writer{file: file}
	if f.cfg.Bool(config.RDBSaveIncrementalFsync) {
		out.syncEach = syncBytes
	}
	err = f.content(out, s, stop)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = f.durable.reach(s.Histories())
	}
	if err == nil {
		err = f.fs.Rename(unfinished, path)
	}
	if err != nil {
		if removeErr := f.fs.Remove(unfinished); removeErr != nil {
			err = fmt.Errorf("%w; and then: %w", err, removeErr)
		}
		return out.at, fmt.Errorf("write the snapshot file: %w", err)
	}
	if err := f.fs.SyncDir(filepath.Dir(path)); err != nil {
		return out.at, fmt.Errorf("sync the directory of the snapshot file: %w", err)
	}
	return out.at, nil
}

// content writes everything.
func (f *snapshots) content(out io.Writer, s *shard.Snapshot, stop func() bool) error {
	w := rdb.NewWriter(out, s.Version())
	w.NoChecksum = !f.cfg.Bool(config.RDBChecksum)
	used := int64(0)
	for _, d := range s.Databases() {
		used += d.Bytes
	}
	fields := [][2]string{
		{"redis-ver", server.RedisVersion},
		{"redis-bits", strconv.Itoa(strconv.IntSize)},
		{"ctime", strconv.FormatInt(f.now().Unix(), 10)},
		{"used-mem", strconv.FormatInt(used, 10)},
		{"aof-base", "0"},
	}
	if ofLog(s.Histories()) {
		fields = append(fields, [2]string{auxCut, cutText(s.Cut())}, [2]string{auxHistory, historiesText(s.Histories())})
	}
	for _, field := range fields {
		if err := w.Aux(field[0], field[1]); err != nil {
			return err
		}
	}
	rested := f.now()
	for more := true; more; {
		if stop() {
			return errGivenUp
		}
		var err error
		if more, err = s.Step(w); err != nil {
			return err
		}
		if now := f.now(); now.Sub(rested) >= restAfter {
			rest()
			rested = now
		} else {
			runtime.Gosched() // whoever waits for the stripe has it before the next step
		}
	}
	return w.Close()
}

// restAfter is for how long a snapshot works before it lets others have its
// processor. One that never rests makes clients wait for as long as the system lets
// a busy thread go on, which is milliseconds.
const restAfter = 300 * time.Microsecond

// syncBytes is after how much a file is synced while it is written, so that the
// sync at the end, and others of the disk meanwhile, don't wait for all of it.
const syncBytes = 16 << 20

// writer writes a file from its beginning.
type writer struct {
	file     vfs.File
	at       int64
	syncEach int64 // 0: never
	synced   int64
}

func (w *writer) Write(b []byte) (int, error) {
	n, err := w.file.WriteAt(b, w.at)
	w.at += int64(n)
	if err == nil && w.syncEach > 0 && w.at-w.synced >= w.syncEach {
		w.synced = w.at
		err = w.file.Sync()
	}
	return n, err
}

// Read implements [server.Snapshots].
func (f *snapshots) Read(l *shard.Loader) (unsaved bool, err error) {
	f.durable.mu.Lock()
	defer f.durable.mu.Unlock()
	if err := f.load(f.path(), l); err != nil {
		return false, err
	}
	return f.durable.restart()
}

// Recover implements [server.Snapshots].
func (f *snapshots) Recover(newLoader func() *shard.Loader) (unsaved bool, err error) {
	if err := vfs.MakeDir(f.fs, filepath.Dir(f.path())); err != nil {
		return false, fmt.Errorf("make the directory of the snapshot file: %w", err)
	}
	if f.durable.wanted() || f.durable.n.server.SavesOnStop() {
		if err := f.take(f.path()); err != nil {
			return false, err
		}
	}
	if f.durable.wanted() {
		return f.durable.recover(newLoader)
	}
	if err := errors.Join(f.durable.unread(), f.durable.redisLogUnread()); err != nil {
		return false, err
	}
	return false, f.load(f.path(), newLoader())
}

// unread warns of the data of an earlier run, which a node that keeps everything in
// memory leaves alone.
func (f *snapshots) unread() {
	path := f.path()
	if file, err := f.fs.Open(path); err == nil {
		file.Close()
	} else if path = f.durable.dir(); !wal.Exists(f.fs, path) {
		if path, err = f.durable.redisLog(); path == "" || err != nil {
			return
		}
	}
	f.log.Warn("what an earlier run has left is not loaded: no setting says that data is kept", "path", path,
		"settings", strings.Join([]string{config.Dir.Name, config.Save.Name, config.AppendOnly.Name, config.Durability.Name}, " "))
}

// RecoverAgain implements [server.Snapshots].
func (f *snapshots) RecoverAgain(forget func(), newLoader func() *shard.Loader) error {
	return f.durable.recoverAgain(forget, newLoader)
}

// load loads a snapshot file; nothing is done when there is none.
func (f *snapshots) load(path string, l *shard.Loader) error {
	file, err := f.fs.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("open the snapshot file: %w", err)
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return fmt.Errorf("read the size of %s: %w", path, err)
	}
	began := f.now()
	in := &progress{from: io.NewSectionReader(file, 0, size), size: size, f: f, l: l, told: began}
	f.log.Info("loading the snapshot", "file", path, "bytes", size)
	err = rdb.Read(in, l, rdb.Options{NoChecksum: !f.cfg.Bool(config.RDBChecksum), Aux: f.aux})
	if err = errors.Join(err, l.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	f.log.Info("snapshot loaded", "file", path, "keys", l.Loaded, "expired", l.Expired, "empty", l.Empty, "took", f.now().Sub(began))
	return nil
}

// aux tells who wrote the file.
func (f *snapshots) aux(name, value []byte) error {
	if string(name) == "redis-ver" {
		f.log.Info("the snapshot was written by a server", "version", string(value))
	}
	return nil
}

// tellEach is how often the log tells how far loading has come.
const tellEach = 2 * time.Second

// progress tells how far reading has come.
type progress struct {
	from io.Reader
	at   int64
	size int64
	f    *snapshots
	l    *shard.Loader
	told time.Time
}

func (p *progress) Read(b []byte) (int, error) {
	if p.f.ended() {
		return 0, errGivenUp
	}
	n, err := p.from.Read(b)
	p.at += int64(n)
	if now := p.f.now(); now.Sub(p.told) >= tellEach {
		p.told = now
		p.f.log.Info("loading", "percent", 100*p.at/max(1, p.size), "keys", p.l.Loaded)
	}
	return n, err
}
