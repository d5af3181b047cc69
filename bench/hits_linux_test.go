package main

import (
	"testing"
)

func TestTheTraceIsTheSameEachTimeAndSkewed(t *testing.T) {
	const keys, n = 1000, 10_000
	one, other := newTrace(keys), newTrace(keys)
	first := 0
	for range n {
		key := one.next()
		if key != other.next() || key >= keys {
			t.Fatalf("key %d differs or is out of range", key)
		}
		if key < keys/5 {
			first++
		}
	}
	if first < n/2 || first == n {
		t.Errorf("%d of %d accesses are to the first fifth of the keys", first, n)
	}
}

func playerOf(t *testing.T, volatile bool) (*tracePlayer, *toy) {
	t.Helper()
	s, y := startToy(t)
	c, err := dial(s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return newTracePlayer(c, volatile), y
}

func TestTheMemoryIsThatOfTheKeys(t *testing.T) {
	p, y := playerOf(t, false)
	if got, err := p.memoryFor(500); err != nil || got != 4711+100*500 {
		t.Errorf("memory %v, %v", got, err)
	}
	if got := y.len(); got != 0 {
		t.Errorf("%d keys are left", got)
	}
	if _, err := p.memoryFor(0); err == nil {
		t.Error("no error when the memory does not grow")
	}
}

func TestHitsAreCountedAfterTheFirstThird(t *testing.T) {
	const keys, accesses = 50, 6000
	p, y := playerOf(t, true)
	got, err := p.play(t.Context(), newTrace(keys), accesses)
	if err != nil || got != 100 {
		t.Errorf("with room for all keys %v %% are hits, %v", got, err)
	}
	y.mu.Lock()
	clear(y.data)
	y.limit = keys / 5
	y.mu.Unlock()
	if got, err = p.play(t.Context(), newTrace(keys), accesses); err != nil || got <= 5 || got >= 95 {
		t.Errorf("with room for a fifth %v %% are hits, %v", got, err)
	}
}
