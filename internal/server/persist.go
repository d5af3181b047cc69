package server

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
)

// Snapshots writes and reads the node's files.
type Snapshots interface {
	// Write writes a snapshot, puts the file in the place of the one before when it is
	// on the disk, and says so in the log. It gives up with an error soon after stop
	// says so, which it asks often.
	Write(s *shard.Snapshot, stop func() bool) error
	// Read loads the file, and says so in the log; nothing is done when there is none.
	// unsaved says that a log on disk does not fit to what was loaded: another snapshot
	// has to be written before clients are served.
	Read(l *shard.Loader) (unsaved bool, err error)
	// Recover loads what a start does: the snapshot file and, where a log is kept, what
	// the log has beyond it. newLoader makes a loader for each file that is tried.
	Recover(newLoader func() *shard.Loader) (unsaved bool, err error)
	// RecoverAgain is Recover for a node that has data, which forget throws away. It is
	// not called when the error is [ErrNoLog], or the log can't be made safe. After a
	// later error only the files have all of the data, and the node ends.
	RecoverAgain(forget func(), newLoader func() *shard.Loader) error
	// Go runs a function that the node waits for when it stops.
	Go(f func())
}

// saving is what is known of snapshots.
type saving struct {
	// state is what speaks against commands, a set of bits; see unavailable.
	state atomic.Uint32

	// mu is taken under the locks of the space, so that none of these may be taken
	// while it is held.
	mu       sync.Mutex
	current  *save // nil: none; guarded by mu, like all below
	begins   bool  // one is about to be current
	wanted   bool  // another one is to follow
	rewrites bool  // that one is to make the log shorter
	failed   bool  // the last one did
	tried    int64 // Instant.Mono of the last one's begin; 0: none
	lastWall int64 // unix seconds of the last success, or of the start
	seconds  int64 // that the last one took; -1: there was none
	handed   int64 // bytes that it was handed
	saves    int64 // successes
	changes  uint64
	loaded   int64
	expired  int64
	stopped  bool // none begins any more
	partial  bool // the newest load failed, or was given up
	onStop   onStop
	rewrite  rewrites
}

// rewrites is what is known of snapshots that were to make the log shorter.
type rewrites struct {
	successes, failures int64 // failures: since the last success
	seconds             int64 // that the last one took; -1: there was none
}

// save is a snapshot in progress.
type save struct {
	snapshot *shard.Snapshot
	began    session.Instant
	changes  uint64 // of the space at the cut, or a little before
	rewrites bool   // it is to make the log shorter
	done     chan struct{}
	stop     atomic.Bool
}

// onStop says whether the node saves when it stops.
type onStop uint8

const (
	bySettings onStop = iota
	always
	never
)

// The bits of saving.state.
const (
	stateLoading = 1 << iota
	stateUnsaved // the last snapshot failed
)

var (
	errNoFiles = errors.New("this node has no files")
	errBusy    = errors.New("a snapshot is in progress")
)

// ErrNoLog says that there is no log from which all data could be recovered.
var ErrNoLog = errors.New("there is no log that has all of the data")

// beginSave makes a snapshot of this moment. No lock is held.
func (srv *Server) beginSave() (*save, error) {
	s := &srv.saving
	if srv.process.Snapshots == nil {
		return nil, errNoFiles
	}
	s.mu.Lock()
	busy := s.current != nil || s.begins || s.stopped
	s.begins = s.begins || !busy
	s.mu.Unlock()
	if busy {
		return nil, errBusy
	}
	// Without saving.mu, which is taken under the locks of the space by INFO.
	now := srv.now()
	n := &save{began: now, changes: srv.changes(), done: make(chan struct{})}
	n.snapshot = srv.space.BeginSnapshot(shard.SnapshotOptions{Compress: srv.cfg.Bool(config.RDBCompression), Now: now.Millis()})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begins = false
	if n.snapshot == nil {
		return nil, errBusy
	}
	n.rewrites = s.rewrites
	s.current, s.wanted, s.rewrites, s.tried = n, false, false, now.Mono
	return n, nil
}

// changes counts those of the whole space.
func (srv *Server) changes() uint64 { return srv.space.NewTx().Overview().Stats.Changes }

// finish writes a snapshot that has begun, and notes what became of it.
func (srv *Server) finish(n *save) error {
	err := srv.process.Snapshots.Write(n.snapshot, n.stop.Load)
	handed := n.snapshot.Progress().Handed
	n.snapshot.Close()
	now := srv.now()
	s := &srv.saving
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.seconds, s.handed = nil, (now.Mono-n.began.Mono)/1e9, handed
	switch {
	case err == nil:
		s.failed, s.lastWall, s.changes = false, now.Wall/1e6, n.changes
		s.saves++
	case !n.stop.Load():
		s.failed = true
	}
	if n.rewrites {
		s.noteRewrite(err == nil)
	}
	srv.setState(stateUnsaved, s.failed)
	close(n.done)
	return err
}

// noteRewrite notes the end of a snapshot that was to make the log shorter; mu is
// held.
func (s *saving) noteRewrite(success bool) {
	s.rewrite.seconds = s.seconds
	if success {
		s.rewrite.successes++
		s.rewrite.failures = 0
	} else {
		s.rewrite.failures++
	}
}

func (srv *Server) setState(bit uint32, on bool) {
	if on {
		srv.saving.state.Or(bit)
	} else {
		srv.saving.state.And(^bit)
	}
}

// saveNow writes a snapshot of this moment and waits for it.
func (srv *Server) saveNow() error {
	n, err := srv.beginSave()
	if err != nil {
		return err
	}
	return srv.finish(n)
}

// saveInBackground begins a snapshot of this moment.
func (srv *Server) saveInBackground() error {
	n, err := srv.beginSave()
	if err != nil {
		return err
	}
	srv.process.Snapshots.Go(func() { _ = srv.finish(n) }) // Write has told the log
	return nil
}

// endSave gives up a snapshot in progress, and waits for its end.
func (srv *Server) endSave() {
	s := &srv.saving
	s.mu.Lock()
	n := s.current
	s.mu.Unlock()
	if n != nil {
		n.stop.Store(true)
		<-n.done
	}
}

// saveRetry is for how long the points of the setting save wait after a failure,
// in nanoseconds.
const saveRetry = 5e9

// tickSaves begins a snapshot when one is wanted, or the setting asks for it.
func (srv *Server) tickSaves(changes uint64, now session.Instant) {
	s := &srv.saving
	s.mu.Lock()
	due := false
	// What is being written, or is to be at the end of loading, may be all that is due.
	if s.current == nil && srv.process.Snapshots != nil && s.state.Load()&stateLoading == 0 {
		s.rewrites = s.rewrites || srv.rewriteDue(now)
		due = s.wanted || s.rewrites || srv.saveDue(changes, now)
	}
	s.mu.Unlock()
	if due {
		_ = srv.saveInBackground() // Write tells the log
	}
}

// saveDue says whether one of the save points is reached; saving.mu is held.
func (srv *Server) saveDue(changes uint64, now session.Instant) bool {
	s := &srv.saving
	if !srv.KeepsSnapshots() || s.failed && now.Mono-s.tried < saveRetry {
		return false
	}
	for _, p := range srv.cfg.SavePoints(config.Save) {
		if int64(changes-s.changes) >= p.Changes && now.Wall/1e6-s.lastWall > p.Seconds {
			return true
		}
	}
	return false
}

// rewriteDue says whether the log has grown so that it is to be made shorter;
// saving.mu is held.
func (srv *Server) rewriteDue(now session.Instant) bool {
	s := &srv.saving
	return srv.logState().Due && !(s.failed && now.Mono-s.tried < saveRetry)
}

// WantSnapshot asks for a snapshot, of which the log on disk has need; it begins
// soon.
func (srv *Server) WantSnapshot() {
	srv.saving.mu.Lock()
	defer srv.saving.mu.Unlock()
	srv.saving.wanted, srv.saving.rewrites = true, true
}

// KeepsSnapshots says whether the node is to keep its data in a snapshot file by
// itself: it is told so by the setting durability, or by another one about files.
func (srv *Server) KeepsSnapshots() bool {
	given := func(p *config.Param) bool { return srv.cfg.Origin(p) != "default" }
	if given(config.Durability) {
		return srv.cfg.String(config.Durability) != "memory"
	}
	return given(config.Dir) || given(config.Save) && len(srv.cfg.SavePoints(config.Save)) > 0
}

// SavesOnStop says whether the settings ask for a snapshot at the end.
func (srv *Server) SavesOnStop() bool {
	return srv.KeepsSnapshots() && len(srv.cfg.SavePoints(config.Save)) > 0
}

// ExpectLoad makes clients be told that the node is loading, until [Server.Load] has
// returned.
func (srv *Server) ExpectLoad() { srv.setState(stateLoading, true) }

// Load recovers the data from the files of the node. After an error, which may have
// left a part of the data behind, no snapshot is written any more, and clients are told
// that the node is loading until it has ended.
func (srv *Server) Load() error {
	if srv.process.Snapshots == nil {
		return errNoFiles
	}
	srv.ExpectLoad()
	if err := srv.load(false, srv.process.Snapshots.Recover); err != nil {
		srv.saving.mu.Lock()
		srv.saving.stopped = true
		srv.saving.mu.Unlock()
		return err
	}
	srv.setState(stateLoading, false)
	return nil
}

// load lets the data be read, by loaders that replace keys which are there or
// refuse them. Clients are told meanwhile that the node is loading.
func (srv *Server) load(replace bool, read func(newLoader func() *shard.Loader) (unsaved bool, err error)) error {
	var l *shard.Loader
	unsaved, err := read(func() *shard.Loader {
		l = srv.space.NewLoader(srv.now().Millis(), engine.Limits(srv.cfg))
		l.Replace = replace
		for _, sh := range srv.space.Shards() {
			l.KeepExpired = l.KeepExpired || sh.Gate()&shard.GateReplica != 0
		}
		return l
	})
	srv.space.SetMemory(srv.space.Memory()) // which counts what is there
	if l != nil {
		srv.saving.mu.Lock()
		srv.saving.loaded, srv.saving.expired = l.Loaded, l.Expired
		srv.saving.mu.Unlock()
	}
	if err == nil && unsaved {
		err = srv.saveNow()
	}
	if !errors.Is(err, ErrNoLog) { // then the data is as it was
		srv.saving.mu.Lock()
		srv.saving.partial = err != nil
		srv.saving.mu.Unlock()
	}
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	return nil
}
