package wal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-kv/bowline/internal/vfs"
)

// slowDisk takes a settable time for each sync of a file.
type slowDisk struct {
	vfs.FS
	mem  *vfs.MemFS
	took atomic.Int64 // nanoseconds
	fail atomic.Pointer[error]
}

func newSlowDisk() *slowDisk {
	d := &slowDisk{mem: vfs.Mem()}
	d.FS = vfs.Faults(d.mem, func(op vfs.Op) vfs.Fault {
		if op.Kind != vfs.OpSync {
			return vfs.Fault{}
		}
		time.Sleep(time.Duration(d.took.Load()))
		if err := d.fail.Load(); err != nil {
			return vfs.Fault{Err: *err}
		}
		return vfs.Fault{}
	})
	return d
}

// running starts a log and its Run, which end with the test.
func running(t *testing.T, fs vfs.FS, o Options) *Log {
	t.Helper()
	l := start(t, fs, o)
	ctx, cancel := context.WithCancel(context.Background())
	ticker := time.NewTicker(100 * time.Millisecond)
	var done sync.WaitGroup
	done.Go(func() {
		if err := l.Run(ctx, ticker.C); err != nil && !errors.Is(err, vfs.ErrIO) {
			t.Errorf("run: %v", err)
		}
	})
	t.Cleanup(func() { cancel(); done.Wait(); ticker.Stop(); l.Close() })
	return l
}

func TestLoopCommitsAtTheEndOfItsTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wakes := 0
		o := options(1, 1)
		o.Wake = func() { wakes++ }
		l := start(t, newSlowDisk(), o)
		must(t, l.EndTick())
		if wakes != 0 || l.writer.seg != nil {
			t.Error("a tick without writes wrote")
		}
		add(t, l, 0, "a")
		must(t, l.EndTick())
		if d := l.Stream(0).Durable(); d != 1 || wakes != 1 {
			t.Errorf("durable is %d, woken %d times", d, wakes)
		}
	})
}

func TestLoopDoesNotWaitForAnotherOnesCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newSlowDisk()
		o := options(1, 1)
		woken := make(chan struct{}, 10)
		o.Wake = func() { woken <- struct{}{} }
		l := start(t, disk, o)
		disk.took.Store(int64(time.Second))
		go func() {
			add(t, l, 0, "a")
			if err := l.EndTick(); err != nil {
				t.Error(err)
			}
		}()
		time.Sleep(100 * time.Millisecond)
		before := time.Now()
		add(t, l, 0, "b")
		must(t, l.EndTick())
		if took := time.Since(before); took != 0 || l.Stream(0).Durable() != 0 {
			t.Errorf("the second loop waited for %v, durable %d", took, l.Stream(0).Durable())
		}
		<-woken
		if d := l.Stream(0).Durable(); d != 1 {
			t.Errorf("after the first commit durable is %d", d)
		}
		must(t, l.EndTick()) // of the second loop, which was woken
		<-woken
		if d := l.Stream(0).Durable(); d != 2 {
			t.Errorf("after the second commit durable is %d", d)
		}
	})
}

func TestManyCommitsShareASync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newSlowDisk()
		l := start(t, disk, options(1, 1))
		disk.took.Store(int64(time.Second))
		before := time.Now()
		var done sync.WaitGroup
		for range 50 {
			done.Go(func() {
				add(t, l, 0, "x")
				seq := l.Stream(0).Last()
				if err := l.Commit(); err != nil || l.Stream(0).Durable() < seq {
					t.Errorf("after Commit %d of %d is durable, %v", l.Stream(0).Durable(), seq, err)
				}
			})
		}
		done.Wait()
		if took := time.Since(before); took > 2*time.Second {
			t.Errorf("50 commits took %v", took)
		}
	})
}

func TestSlowDiskIsLeftToRunUntilItIsFastAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newSlowDisk()
		l := running(t, disk, options(1, 1))
		tick := func() time.Duration {
			before := time.Now()
			add(t, l, 0, "x")
			must(t, l.EndTick())
			return time.Since(before)
		}
		disk.took.Store(int64(10 * time.Millisecond))
		for range 2 {
			if tick() == 0 {
				t.Error("a loop did not sync though the disk was fast before")
			}
		}
		for range 10 {
			if took := tick(); took != 0 {
				t.Fatalf("a loop waited %v for a slow disk", took)
			}
			time.Sleep(time.Second)
			if d, last := l.Stream(0).Durable(), l.Stream(0).Last(); d != last {
				t.Fatalf("Run left durable at %d of %d", d, last)
			}
		}
		disk.took.Store(int64(time.Millisecond))
		for range 130 {
			tick()
			time.Sleep(time.Second)
		}
		if tick() == 0 {
			t.Error("the loops do not sync by themselves again")
		}
	})
}

func TestSyncsByTimeKeepWhatIsOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newSlowDisk()
		o := options(1, 1)
		o.SyncEvery = time.Second
		l := running(t, disk, o)
		disk.took.Store(int64(4 * time.Millisecond))
		type mark struct {
			at  time.Time
			seq Sequence
		}
		var marks []mark
		syncs := map[Sequence]bool{}
		for range 1000 {
			add(t, l, 0, "x")
			marks = append(marks, mark{time.Now(), l.Stream(0).Last()})
			before := time.Now()
			must(t, l.EndTick())
			if took := time.Since(before); took != 0 {
				t.Fatalf("a loop waited for %v", took)
			}
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
			d := l.Stream(0).Durable()
			syncs[d] = true
			for len(marks) > 0 && time.Since(marks[0].at) > 1300*time.Millisecond {
				if marks[0].seq > d {
					t.Fatalf("record %d is not safe after %v", marks[0].seq, time.Since(marks[0].at))
				}
				marks = marks[1:]
			}
		}
		if len(syncs) > 13 {
			t.Errorf("%d syncs in 10 seconds", len(syncs))
		}
		// The end of the process alone loses no more than the last tick's records.
		if r := recovery(t, disk.mem); r.Last(0) < l.Stream(0).Last()-15 {
			t.Errorf("of %d records %d are in the file", l.Stream(0).Last(), r.Last(0))
		}
		l.SetSyncEvery(0)
		add(t, l, 0, "y")
		must(t, l.EndTick())
		if l.Stream(0).Durable() != l.Stream(0).Last() {
			t.Error("with SetSyncEvery(0) a tick does not commit")
		}
	})
}

func TestOnlyAFullBufferMakesALoopWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newSlowDisk()
		o := options(1, 1)
		o.SyncEvery, o.BufferBytes = time.Hour, chunkBytes
		l := start(t, disk, o) // no Run: nobody else writes
		add(t, l, 0, strings.Repeat("x", 1000))
		must(t, l.EndTick())
		if l.Full() || l.writer.seg != nil {
			t.Error("full after one record")
		}
		for !l.Full() {
			add(t, l, 0, strings.Repeat("x", 1000))
		}
		if l.Backlog() <= chunkBytes {
			t.Errorf("full at %d bytes", l.Backlog())
		}
		must(t, l.EndTick())
		if l.Full() || l.Backlog() != 0 {
			t.Errorf("%d bytes are left", l.Backlog())
		}
		if r := recovery(t, disk.mem); r.Last(0) != l.Stream(0).Last() {
			t.Error("it was not written")
		}
	})
}

func TestNothingIsDurableAfterAFailedSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newSlowDisk()
		o := options(1, 1)
		wakes := 0
		o.Wake = func() { wakes++ }
		l := running(t, disk, o)
		add(t, l, 0, "a")
		must(t, l.EndTick())
		wakes = 0
		disk.fail.Store(&vfs.ErrIO)
		add(t, l, 0, "b")
		if err := l.EndTick(); !errors.Is(err, vfs.ErrIO) {
			t.Errorf("the tick ends with %v", err)
		}
		if wakes != 1 {
			t.Errorf("woken %d times", wakes)
		}
		disk.fail.Store(nil)
		time.Sleep(time.Second)
		for range 10 {
			l.Stream(0).Append(make([]byte, 200<<10))
		}
		for _, err := range []error{l.EndTick(), l.Commit(), l.Err(), l.Run(context.Background(), time.After(1))} {
			if !errors.Is(err, vfs.ErrIO) {
				t.Errorf("later the error is %v", err)
			}
		}
		if s := l.Stream(0); s.Durable() != 1 || s.Last() != 12 {
			t.Errorf("durable is %d, last %d", s.Durable(), s.Last())
		}
		if l.Backlog() > 2*chunkBytes {
			t.Errorf("a log that failed keeps %d bytes", l.Backlog())
		}
	})
}

func TestShortWriteEndsTheLog(t *testing.T) {
	m := vfs.Mem()
	failing := false
	fs := vfs.Faults(m, func(op vfs.Op) vfs.Fault {
		if failing && op.Kind == vfs.OpWrite {
			return vfs.Fault{Err: vfs.ErrIO, Done: 100}
		}
		return vfs.Fault{}
	})
	l := start(t, fs, options(1, 1))
	add(t, l, 0, "a")
	must(t, l.Commit())
	failing = true
	add(t, l, 0, strings.Repeat("b", 300))
	if err := l.Commit(); !errors.Is(err, vfs.ErrIO) {
		t.Errorf("the commit ends with %v", err)
	}
	failing = false
	if err := l.Commit(); !errors.Is(err, vfs.ErrIO) {
		t.Errorf("the next commit ends with %v", err)
	}
	expect(t, replayed(t, recovery(t, m), nil), "0/1:a")
}

func TestFullDiskIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := vfs.Mem()
		o := options(1, 2)
		m.SetCapacity(200 << 10)
		l := running(t, m, o)
		var want []string
		write := func() error {
			for shard := range 2 {
				p := fmt.Sprint(len(want), strings.Repeat(".", 900))
				seq := l.Stream(shard).Append([]byte(p))
				want = append(want, fmt.Sprintf("%d/%d:%s", shard, seq, p))
			}
			synctest.Wait() // else Run may be at work, and EndTick leaves it to that
			return l.EndTick()
		}
		var err error
		for n := 0; err == nil; n++ {
			if err = write(); n > 1000 {
				t.Fatal("the disk does not get full")
			}
		}
		if !errors.Is(err, ErrDiskFull) || !vfs.IsNoSpace(err) || !l.DiskFull() || l.Err() != nil {
			t.Fatalf("the error is %v, full: %t, failed: %v", err, l.DiskFull(), l.Err())
		}
		if s, _ := m.Space("/"); s.Free == 0 {
			t.Error("the disk was filled to the brim")
		}
		write()
		if l.Stream(1).Durable() == l.Stream(1).Last() {
			t.Error("what found no room is called durable")
		}
		time.Sleep(time.Second)
		m.SetCapacity(1 << 20)
		time.Sleep(time.Second) // Run finds out
		if l.DiskFull() || l.Stream(0).Durable() != l.Stream(0).Last() || l.Stream(1).Durable() != l.Stream(1).Last() {
			t.Errorf("with space again full is %t, durable %d of %d", l.DiskFull(), l.Stream(1).Durable(), l.Stream(1).Last())
		}
		must(t, write())
		got := replayed(t, recovery(t, m), nil)
		if len(got) != len(want) {
			t.Errorf("%d records of %d", len(got), len(want))
		}
	})
}

func TestNextSegmentIsMadeAheadOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newSlowDisk()
		l := running(t, disk, options(1, 1))
		disk.took.Store(int64(time.Millisecond))
		for len(l.segments) < 5 {
			add(t, l, 0, strings.Repeat("x", 1000))
			before := time.Now()
			must(t, l.EndTick())
			// Its own sync, and one that ends a segment; none to make a segment.
			if took := time.Since(before); took > 2*time.Millisecond {
				t.Fatalf("a tick took %v", took)
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
}

func TestPaceIsTheSecondSlowestOf128(t *testing.T) {
	var p pace
	if p.note(true) {
		t.Error("one slow sync is enough")
	}
	for range 126 {
		if p.note(false) {
			t.Fatal("one slow sync is enough after others")
		}
	}
	if !p.note(true) {
		t.Error("two of 128 are not slow")
	}
	if p.note(false) {
		t.Error("the first one is not forgotten")
	}
}
