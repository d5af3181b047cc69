package loadgen

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestBatchesFallDueAtTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := newPace(start, 1000, 10) // 100 batches a second
		ctx, cancel := context.WithDeadline(t.Context(), start.Add(2*time.Second))
		defer cancel()
		var mu sync.Mutex
		var dues []time.Duration
		var group sync.WaitGroup
		for range 7 {
			group.Go(func() {
				for {
					due, ok := p.next(ctx)
					if !ok {
						return
					}
					if late := time.Since(due); late != 0 {
						t.Errorf("a batch came %v late", late)
					}
					mu.Lock()
					dues = append(dues, due.Sub(start))
					mu.Unlock()
				}
			})
		}
		group.Wait()
		slices.Sort(dues)
		if len(dues) != 200 {
			t.Fatalf("%d batches in two seconds", len(dues))
		}
		for i, due := range dues {
			if want := time.Duration(i) * 10 * time.Millisecond; due != want {
				t.Fatalf("batch %d was due at %v, want %v", i, due, want)
			}
		}
		if n := p.dueBefore(start.Add(time.Second), start.Add(1500*time.Millisecond)); n != 50 {
			t.Errorf("%d batches were due in half a second", n)
		}
		if n := p.dueBefore(start, start); n != 0 {
			t.Errorf("%d batches were due in no time", n)
		}
	})
}

// Who comes late gets the batches that should have been sent, with their times.
func TestLateWorkersFindWhatWasDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := newPace(start, 10, 1)
		time.Sleep(time.Second)
		for i := range 10 {
			due, ok := p.next(t.Context())
			if want := start.Add(time.Duration(i) * 100 * time.Millisecond); !ok || !due.Equal(want) {
				t.Errorf("batch %d was due at %v, want %v", i, due.Sub(start), want.Sub(start))
			}
		}
		if late := time.Since(start); late != time.Second {
			t.Errorf("it took until %v", late)
		}
	})
}

func TestPaceEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, rate := range []float64{0, 0.001} {
			p := newPace(time.Now(), rate, 1)
			if _, ok := p.next(t.Context()); !ok {
				t.Errorf("rate %v: the first batch is not due", rate)
			}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			if rate == 0 {
				cancel()
			}
			if _, ok := p.next(ctx); ok {
				t.Errorf("rate %v: a batch is due", rate)
			}
		}
	})
}
