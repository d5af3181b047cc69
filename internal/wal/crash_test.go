package wal

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-kv/bowline/internal/vfs"
)

var (
	crashSeeds = flag.Int("wal.seeds", 12, "how many crash histories are played")
	crashSeed  = flag.Uint64("wal.seed", 1, "the seed of the first crash history")
)

// ledger is what happened to one shard: the test's own account of it.
type ledger struct {
	mu sync.Mutex // stands for the locks of the stripes
	// live are the records that were not taken back.
	live []entry
	// states are what live amounted to at first and after each event.
	states []uint64
	// ever has the number of every payload.
	ever   map[string]Sequence
	writer uint64 // ID of the newest fork
	// floor is the sequence that a snapshot holds, which no fork goes below.
	floor Sequence
	// promised is the newest event that was seen durable.
	promised int
}

// entry is a live record: the event that wrote it, and the state up to it.
type entry struct {
	payload string
	event   int
	state   uint64
}

var hashSeed = maphash.MakeSeed()

func newLedger() *ledger { return &ledger{states: []uint64{0}, ever: map[string]Sequence{}} }

func (b *ledger) state() uint64 {
	if n := len(b.live); n > 0 {
		return b.live[n-1].state
	}
	return 0
}

// add takes in a record without saying that it was an event.
func (b *ledger) add(payload string, event int) {
	state := maphash.String(hashSeed, strconv.FormatUint(b.state(), 16)+payload)
	b.live = append(b.live, entry{payload, event, state})
	b.ever[payload] = Sequence(len(b.live))
}

func (b *ledger) append(s *Stream, payload string) Sequence {
	b.mu.Lock()
	defer b.mu.Unlock()
	payload = fmt.Sprintf("%d %s", b.writer, payload)
	seq := s.Append([]byte(payload))
	b.add(payload, len(b.states))
	if int(seq) != len(b.live) {
		panic(fmt.Sprintf("sequence %d for record %d", seq, len(b.live)))
	}
	b.states = append(b.states, b.state())
	return seq
}

// fork has a new writer take back some records.
func (b *ledger) fork(s *Stream, id uint64, back int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := Sequence(max(len(b.live)-back, int(b.floor))) + 1
	if err := s.Fork(Fork{1, id, first}); err != nil {
		panic(err)
	}
	b.live, b.writer = b.live[:first-1], id
	b.states = append(b.states, b.state())
}

// see takes note of what is durable, which no crash may take away.
func (b *ledger) see(s *Stream) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := s.Durable(); d > 0 {
		b.promised = max(b.promised, b.live[d-1].event)
	}
}

// frozen gives the account as it is.
func (b *ledger) frozen() *ledger {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &ledger{live: slices.Clone(b.live[:b.floor]), floor: b.floor, promised: b.promised, writer: b.writer, ever: maps.Clone(b.ever)}
}

// story is one history of a log on a disk that loses its power again and again.
type story struct {
	t      *testing.T
	seed   uint64
	dice   *rand.Rand
	disk   *vfs.MemFS
	shards []*ledger
	// killed: the last process was killed, on a disk that kept its power.
	killed bool
	// safe are the accounts at the moment of the crash.
	safe   []*ledger
	writer atomic.Uint64 // ID of the newest fork
	trimMu diskLock      // held while a snapshot and the log change together
}

func TestAfterACrashThereIsAPrefixWithAllThatWasPromised(t *testing.T) {
	seeds := uint64(*crashSeeds)
	if testing.Short() {
		seeds /= 10
	}
	for seed := *crashSeed; seed < *crashSeed+seeds; seed++ {
		synctest.Test(t, func(t *testing.T) {
			st := &story{t: t, seed: seed, dice: rand.New(rand.NewPCG(seed, 2)), disk: vfs.Mem(), trimMu: newDiskLock()}
			for range 1 + st.dice.IntN(3) {
				st.shards = append(st.shards, newLedger())
			}
			for round := range 4 {
				if !st.live(round) || !st.crash(round) {
					t.Logf("play it again with -wal.seed=%d -wal.seeds=1", seed)
					return
				}
			}
		})
		if t.Failed() {
			return
		}
	}
}

// troubles is a disk that fails by chance, or not at all.
func (st *story) troubles(dice *rand.Rand) vfs.FS {
	var mu sync.Mutex
	bad := dice.IntN(3) // 0: good, 1: slow, 2: failing
	chance := 1 + dice.IntN(200)
	return vfs.Faults(st.disk, func(op vfs.Op) vfs.Fault {
		mu.Lock()
		hit, short, kind := dice.IntN(chance) == 0, dice.IntN(2*pageSize), dice.IntN(4)
		mu.Unlock()
		switch {
		case op.Kind == vfs.OpSync && (bad == 1 && hit):
			time.Sleep(time.Duration(short) * time.Millisecond)
		case op.Kind == vfs.OpSync:
			time.Sleep(time.Millisecond)
		}
		if bad != 2 || !hit {
			return vfs.Fault{}
		}
		switch op.Kind {
		case vfs.OpWrite:
			return vfs.Fault{Err: vfs.ErrIO, Done: short}
		case vfs.OpSync, vfs.OpSyncDir, vfs.OpRename, vfs.OpRemove:
			return vfs.Fault{Err: vfs.ErrIO}
		case vfs.OpAllocate, vfs.OpCreate, vfs.OpSpace:
			if kind > 0 {
				return vfs.Fault{Err: vfs.ErrNoSpace}
			}
			return vfs.Fault{Err: vfs.ErrIO}
		}
		return vfs.Fault{}
	})
}

// live starts the log and lets some goroutines write to it for a while; then the
// power goes, or the process is killed.
func (st *story) live(round int) bool {
	dice := rand.New(rand.NewPCG(st.seed, uint64(round)+10))
	fs := st.troubles(rand.New(rand.NewPCG(st.seed, uint64(round)+30)))
	r, err := Recover(fs, dir, RecoverOptions{})
	if err != nil {
		st.t.Errorf("recover in round %d: %v", round, err)
		return false
	}
	zero := time.Now()
	wake := make(chan struct{}, 1)
	o := Options{
		Shards: len(st.shards), SegmentBytes: 1, BufferBytes: int64(dice.IntN(1 << 20)), Spares: dice.IntN(4),
		Now: func() time.Duration { return time.Since(zero) }, Random: rand.New(rand.NewPCG(st.seed, uint64(round)+20)).Uint64,
		Wake: func() {
			select {
			case wake <- struct{}{}:
			default:
			}
		},
	}
	if dice.IntN(2) == 0 {
		o.SyncEvery = time.Second
	}
	l, err := r.Start(o)
	if err != nil {
		// The disk failed in the middle of something. What a killed process left was not
		// yet promised again, so it needs the power.
		if st.freeze(); !st.killed {
			st.powerLoss(dice)
		}
		return true
	}
	ctx, cancel := context.WithCancel(context.Background())
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	var done sync.WaitGroup
	done.Go(func() {
		if err := l.Run(ctx, ticker.C); err != nil && !errors.Is(err, vfs.ErrIO) {
			st.t.Errorf("run ends with: %v", err)
		}
	})
	for shard, b := range st.shards {
		b.fork(l.Stream(shard), st.writer.Add(1), 0)
		done.Go(func() { st.follow(ctx, l, shard) })
	}
	for loop := range 3 {
		done.Go(func() { st.loop(ctx, l, loop, rand.New(rand.NewPCG(st.seed, uint64(100*round+loop)))) })
	}
	done.Go(func() { // who sees what is durable
		for ctx.Err() == nil {
			select {
			case <-wake:
			case <-ctx.Done():
			}
			st.see(l)
		}
	})
	time.Sleep(time.Duration(dice.IntN(2500)) * time.Millisecond)
	st.see(l)
	st.killed = dice.IntN(3) == 0
	if !st.killed {
		st.powerLoss(dice) // the goroutines go on with the old disk
	}
	cancel()
	done.Wait()
	failed := l.Err()
	if st.killed {
		st.freeze() // the disk keeps its power, and what it has is not safe yet
	} else {
		l.Close()
	}
	if failed != nil && !errors.Is(failed, vfs.ErrIO) {
		st.t.Errorf("the log failed: %v", failed)
	}
	return !st.t.Failed()
}

func (st *story) powerLoss(dice *rand.Rand) {
	st.trimMu.Lock()
	defer st.trimMu.Unlock()
	st.freeze()
	st.disk = st.disk.Crash(dice.Uint64())
}

func (st *story) freeze() {
	st.safe = nil
	for _, b := range st.shards {
		st.safe = append(st.safe, b.frozen())
	}
}

func (st *story) see(l *Log) {
	for shard, b := range st.shards {
		b.see(l.Stream(shard))
	}
}

// loop is an event loop: ticks of a few commands each.
func (st *story) loop(ctx context.Context, l *Log, loop int, dice *rand.Rand) {
	for n := 0; ctx.Err() == nil; n++ {
		for range dice.IntN(5) {
			shard := dice.IntN(len(st.shards))
			// No zeros: a page that a failed start has cleared could make a torn record whole.
			rest := strings.Repeat(".", dice.IntN(200)+dice.IntN(2)*dice.IntN(5000))
			st.shards[shard].append(l.Stream(shard), fmt.Sprintf("%d.%d.%d %s", loop, n, dice.Uint64(), rest))
		}
		err := l.EndTick()
		if err != nil && !errors.Is(err, ErrDiskFull) {
			st.silent(l)
			return
		}
		switch dice.IntN(100) {
		case 0:
			st.cutBack(l, dice)
		case 1, 2:
			st.trim(l, dice)
		case 3:
			l.Commit()
		}
		time.Sleep(time.Duration(dice.IntN(30)) * time.Millisecond)
	}
}

// silent checks that after a failure nothing becomes durable.
func (st *story) silent(l *Log) {
	for shard, b := range st.shards {
		seq := b.append(l.Stream(shard), "too late")
		l.Commit()
		if l.Stream(shard).Durable() >= seq {
			st.t.Error("a record became durable after a failure")
		}
	}
}

// cutBack is a new writer that takes back some of the last records.
func (st *story) cutBack(l *Log, dice *rand.Rand) {
	shard := dice.IntN(len(st.shards))
	st.shards[shard].fork(l.Stream(shard), st.writer.Add(1), dice.IntN(20))
}

// trim makes a snapshot of what is durable and drops the log before it.
func (st *story) trim(l *Log, dice *rand.Rand) {
	st.trimMu.Lock()
	defer st.trimMu.Unlock()
	before := map[int]Sequence{}
	for shard, b := range st.shards {
		b.mu.Lock()
		if d := l.Stream(shard).Durable(); d > b.floor && dice.IntN(2) == 0 {
			b.floor = d
		}
		before[shard] = b.floor + 1
		b.mu.Unlock()
	}
	l.TrimBefore(before, int64(dice.IntN(200000)))
}

// follow reads the log of a shard while it is written.
func (st *story) follow(ctx context.Context, l *Log, shard int) {
	b := st.shards[shard]
	for ctx.Err() == nil {
		b.mu.Lock()
		from := b.floor + 1
		b.mu.Unlock()
		c, err := l.Cursor(shard, from)
		for err == nil && ctx.Err() == nil {
			var rec Record
			rec, err = c.Next()
			switch err {
			case nil:
				b.mu.Lock()
				if seq := b.ever[string(rec.Payload)]; seq != rec.Seq || seq != from {
					st.t.Errorf("a cursor that wants %d reads %d, which was appended as %d", from, rec.Seq, seq)
				}
				b.mu.Unlock()
				from++
			case io.EOF:
				time.Sleep(20 * time.Millisecond)
				err = nil
			}
		}
		if c != nil {
			c.Close()
		}
		if err != nil && !errors.Is(err, ErrTrimmed) && !errors.Is(err, ErrTruncated) {
			st.t.Errorf("a cursor fails: %v", err)
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// crash checks what is left after a power loss, and goes on from there.
func (st *story) crash(round int) bool {
	r, err := Recover(st.disk, dir, RecoverOptions{})
	if err != nil {
		st.t.Errorf("recover after round %d: %v", round, err)
		return false
	}
	from := map[int]Sequence{}
	for shard, safe := range st.safe {
		from[shard] = safe.floor
	}
	err = r.Replay(from, func(rec Record) error {
		safe := st.safe[rec.Shard]
		var id uint64
		fmt.Sscan(string(rec.Payload), &id)
		if int(rec.Seq) != len(safe.live)+1 || !r.History(rec.Shard).Contains(rec.Seq, id) {
			return fmt.Errorf("record %d of shard %d, by writer %d, comes after %d", rec.Seq, rec.Shard, id, len(safe.live))
		}
		safe.add(string(rec.Payload), 0)
		return nil
	})
	if err != nil {
		st.t.Errorf("replay after round %d: %v", round, err)
		return false
	}
	for shard, safe := range st.safe {
		states := st.shards[shard].states
		if r.Last(shard) != Sequence(len(safe.live)) || !slices.Contains(states[safe.promised:], safe.state()) {
			st.t.Errorf("round %d, shard %d: %d records (last %d) are not what was there between event %d and %d",
				round, shard, len(safe.live), r.Last(shard), safe.promised, len(states)-1)
			return false
		}
		safe.promised, safe.states = 0, []uint64{safe.state()}
		for i := range safe.live {
			safe.live[i].event = 0
		}
		st.shards[shard] = safe
	}
	return true
}
