package shard

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/wal"
)

// Snapshot gives the content of a space as of one cut, in steps, while commands
// go on:
//
//	cut     all stripes are locked once, for a moment: from here on each stripe
//	        has a capture, which knows how far the walk has come in it
//	walk    stripe after stripe, some keys at a time under its lock
//	change  a command that is about to change a key that the walk has not come to
//	        hands its old value over first, and the walk leaves it out
//	open    of a large collection, which is written in pieces, a change hands over
//	        only the members or nodes that it touches; see [store.Image]
//	flush   the tables of an emptied database go to the snapshot as they are, and
//	        so do large collections that are removed
//
// So each key that was there at the cut is written once, with its value then, and
// MSET and transactions are whole. Its methods belong to one goroutine, but for
// [Snapshot.Progress].
type Snapshot struct {
	space *Space
	tx    *Tx
	o     SnapshotOptions
	cut   []Sequence
	forks []wal.History // by shard, at the cut
	usage []Usage       // of the databases at the cut
	timed bool          // a hash had fields that expire
	next  int           // the stripe to walk, counted through all shards
	db    int           // that is selected in the file; -1: none yet
	sized []bool        // databases whose sizes are written
	batch pieces
	half  bool // what is written ends inside a value: of the first of opened
	// openFrom and stepBytes are the constants of these names, but in tests.
	openFrom, stepBytes int
	// memory is how keys were judged at the cut.
	memory Memory

	mu       sync.Mutex
	kept     pieces    // what commands handed over; guarded by mu, like all below
	opened   []*opened // large collections that are not complete
	released []*part   // tables that nobody else has any more
	// held are such tables that are done, but may have collections of others: they
	// are given back when nothing is opened.
	held   []*store.Table
	closed bool

	written, total  atomic.Int64 // keys
	handed, waiting atomic.Int64 // bytes that commands handed over in all, and that are not written yet
}

// SnapshotOptions say what a snapshot is like.
type SnapshotOptions struct {
	// Compress asks for long strings to be compressed.
	Compress bool
	// Now is the time in unix milliseconds, for how long keys were not used.
	Now int64
}

// BeginSnapshot makes a snapshot of this moment; nil while there is another one.
// No goroutine may hold locks of the space that waits for the caller. The caller
// ends it with [Snapshot.Close].
func (sp *Space) BeginSnapshot(o SnapshotOptions) *Snapshot {
	s := &Snapshot{space: sp, tx: sp.NewTx(), o: o, db: -1, openFrom: openFrom, stepBytes: stepBytes}
	if !sp.snapshot.CompareAndSwap(nil, s) {
		return nil
	}
	s.usage, s.sized = make([]Usage, sp.databases), make([]bool, sp.databases)
	// Before the locks, which are for a moment only.
	captures := make([]capture, len(sp.shards)*Stripes)
	for i := range captures {
		captures[i] = capture{snapshot: s, parts: make([]*part, sp.databases)}
	}
	s.tx.LockAll()
	defer s.tx.release()
	s.memory = *sp.memory.Load()
	for i, sh := range sp.shards {
		s.cut, s.forks = append(s.cut, sh.log.Last()), append(s.forks, sh.log.History())
		for n := range sh.stripes {
			s.begin(&sh.stripes[n], &captures[i*Stripes+n])
		}
	}
	return s
}

// begin makes the capture of a stripe.
func (s *Snapshot) begin(st *stripe, c *capture) {
	for db, t := range st.tables {
		if t == nil || t.Len() == 0 {
			continue
		}
		c.parts[db] = &part{db: db, table: t}
		s.usage[db].Keys += t.Len()
		s.usage[db].Expiring += t.Expiring()
		s.usage[db].Bytes += t.Bytes()
		s.timed = s.timed || t.Timed() > 0
		s.total.Add(int64(t.Len()))
	}
	st.capture = c
}

// Cut gives, for each shard, the number of the newest record whose effects are in
// the snapshot.
func (s *Snapshot) Cut() []Sequence { return s.cut }

// Histories gives, for each shard, the chain of its log's writers at the cut; nil
// for a log in memory.
func (s *Snapshot) Histories() []wal.History { return s.forks }

// Databases tells what was in each database at the cut; without Footprint.
func (s *Snapshot) Databases() []Usage { return s.usage }

// Version is the version of the file format that the content needs.
func (s *Snapshot) Version() int {
	if s.timed {
		return rdb.Version
	}
	return rdb.VersionWritten
}

// Progress is how far a snapshot has come.
type Progress struct {
	Written, Total int64 // keys
	Handed         int64 // bytes that commands handed over before a change
	Waiting        int64 // of these, those that are still in memory
}

// Progress may be called from any goroutine.
func (s *Snapshot) Progress() Progress {
	return Progress{s.written.Load(), s.total.Load(), s.handed.Load(), s.waiting.Load()}
}

// What one step does under a stripe's lock, at most, but for one key.
const (
	stepBytes = 16 << 10
	stepKeys  = 200
)

// Step writes the next keys, some hundred at most and whatever was handed over
// meanwhile; more is false when all are written. No lock is held while it writes.
func (s *Snapshot) Step(w *rdb.Writer) (more bool, err error) {
	if !s.half {
		if err := s.writeKept(w); err != nil {
			return false, err
		}
	}
	if o := s.nextOpened(); o != nil {
		s.walkOpened(o)
	} else if p := s.nextReleased(); p != nil {
		s.walkReleased(p)
	} else if s.next < len(s.space.shards)*Stripes {
		s.walkStripe()
	} else {
		// Each stripe is done, so that nothing can be handed over any more, but it may
		// have been since the look above.
		return false, s.writeKept(w)
	}
	// A command that waits for the lock is awake by now, but would not run before the
	// next step has the lock again: it would wait for some milliseconds, not for a step.
	runtime.Gosched()
	err = s.write(w, &s.batch)
	s.batch.reset()
	return true, err
}

// walkStripe does a step in a stripe, and goes on to the next after the last.
func (s *Snapshot) walkStripe() {
	sh, n := s.space.shards[s.next/Stripes], s.next%Stripes
	s.tx.lock(sh, 1<<n)
	st := &sh.stripes[n]
	p := st.capture.next()
	if p != nil {
		p.walk(s, &s.batch)
		if !p.at.Over() {
			p = nil
		}
	}
	if st.capture.forget(p) {
		st.capture = nil
		s.next++
	}
	s.tx.release()
	p.drop()
}

// nextReleased gives a table that was given to the snapshot; nil: none.
func (s *Snapshot) nextReleased() *part {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.released) == 0 {
		return nil
	}
	return s.released[0]
}

// giveBack has the memory of tables given back that wait for it; mu is held.
func (s *Snapshot) giveBack() {
	for _, t := range s.held {
		s.space.dropped.add(t.Release())
	}
	s.held = nil
}

// walkReleased does a step in such a table. It needs no lock: nobody else knows
// of the table.
func (s *Snapshot) walkReleased(p *part) {
	p.walk(s, &s.batch)
	if !p.at.Over() {
		return
	}
	s.mu.Lock()
	s.released = slices.DeleteFunc(s.released, func(o *part) bool { return o == p })
	s.held = append(s.held, p.table)
	s.mu.Unlock()
	p.drop()
}

// hold gives the snapshot a table that nobody else has any more, in which it has
// opened collections, maybe; false: it is closed.
func (s *Snapshot) hold(t *store.Table) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.held = append(s.held, t)
	}
	return !s.closed
}

// writeKept writes what commands handed over.
func (s *Snapshot) writeKept(w *rdb.Writer) error {
	s.mu.Lock()
	kept := s.kept
	s.kept = pieces{}
	s.mu.Unlock()
	err := s.write(w, &kept)
	s.waiting.Add(-int64(kept.size))
	kept.reset()
	return err
}

// Close ends the snapshot, complete or not. It may be called twice.
func (s *Snapshot) Close() {
	if s.space == nil {
		return
	}
	for ; s.next < len(s.space.shards)*Stripes; s.next++ {
		sh, n := s.space.shards[s.next/Stripes], s.next%Stripes
		s.tx.lock(sh, 1<<n)
		c := sh.stripes[n].capture
		sh.stripes[n].capture = nil
		s.tx.release()
		for _, p := range c.parts {
			p.drop()
		}
	}
	// No stripe hands anything over any more.
	s.closeOpened()
	s.mu.Lock()
	for _, p := range s.released {
		s.held = append(s.held, p.table)
		p.drop()
	}
	s.released, s.closed = nil, true
	s.giveBack()
	s.mu.Unlock()
	s.kept.reset()
	s.batch.reset()
	s.waiting.Store(0)
	s.space.snapshot.Store(nil)
	s.space = nil
}
