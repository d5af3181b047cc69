package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/resp"
)

func TestMetersSeeWhatASlowMomentCosts(t *testing.T) {
	s, y := startToy(t)
	meters, err := startMeters(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer closeMeters(meters)
	for range 2 { // a meter can be used again
		var held time.Duration
		results, err := during(meters, func() error {
			y.mu.Lock()
			defer y.mu.Unlock()
			err := until("both meters wait", func() bool { return y.waiting.Load() == int64(len(meters)) })
			began := time.Now()
			time.Sleep(5 * time.Millisecond)
			held = time.Since(began)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range results {
			// Their GETs were sent before began and answered after the lock's release.
			if r.MaxNanos < int64(held) || r.Latency.Max() < held {
				t.Errorf("meter %s saw %v at most, but the server stood still for %v", places[i].name, time.Duration(r.MaxNanos), held)
			}
		}
	}
}

func TestAFailingCauseStillEndsTheMeters(t *testing.T) {
	s, _ := startToy(t)
	meters, err := startMeters(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer closeMeters(meters)
	broken := errors.New("broken")
	if _, err := during(meters, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if _, err := during(meters, func() error { return nil }); err != nil {
		t.Errorf("the meters can't be used again: %v", err)
	}
}

func TestCausesHaveNamesOfTheirOwn(t *testing.T) {
	b := bench{plan: defaultPlan()}
	seen := map[string]bool{}
	for _, c := range b.causes() {
		if seen[c.name] || c.act == nil {
			t.Errorf("%s comes twice or does nothing", c.name)
		}
		seen[c.name] = true
	}
	for _, want := range []string{"del-256MiB", "unlink-256MiB", "expire-1M", "flushall-async-1M", "flushdb-sync-1M", "grow-set-1M", "grow-mset-1M", "del-most-1M"} {
		if !seen[want] {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestCausesDoWhatTheySay(t *testing.T) {
	s, y := startToy(t)
	b := toyBench()
	b.plan.stallKeys, b.plan.stallBytes = 2000, 3<<20
	kept := b.plan.stallKeys - countMost(b.plan.stallKeys)
	for _, c := range []struct {
		name                       string
		wantPrepared, wantInTheEnd int64
	}{
		{"del-3MiB", 3, 2},
		{"flushall-async-2k", 2002, 0},
		{"grow-set-2k", 2, 2002},
		{"del-most-2k", 2002, kept + 2},
	} {
		y.clear()
		st, err := b.prepare(t.Context(), b.cause(t, c.name), s)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := y.len(); got != c.wantPrepared {
			t.Errorf("%s begins with %d keys, want %d", c.name, got, c.wantPrepared)
		}
		if err := b.cause(t, c.name).act(t.Context(), st); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := y.len(); got != c.wantInTheEnd {
			t.Errorf("%s ends with %d keys, want %d", c.name, got, c.wantInTheEnd)
		}
		st.close()
	}
}

func (b *bench) cause(t *testing.T, name string) cause {
	t.Helper()
	for _, c := range b.causes() {
		if c.name == name {
			return c
		}
	}
	t.Fatalf("there is no cause %s", name)
	return cause{}
}

func (y *toy) clear() {
	y.mu.Lock()
	defer y.mu.Unlock()
	clear(y.data)
}

func TestABigValueArrivesWhole(t *testing.T) {
	s, y := startToy(t)
	c, err := dial(s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	const size = 2<<20 + 17
	if err := c.setBig(bigKey, size); err != nil {
		t.Fatal(err)
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if got := y.data[bigKey]; got != strings.Repeat("v", size) {
		t.Errorf("%d bytes arrived of %d", len(got), size)
	}
}

func TestPauseEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if err := pause(ctx, time.Hour); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
}

func TestRepliesOfAPipelineComeInOrder(t *testing.T) {
	s, _ := startToy(t)
	c, err := dial(s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	var wire []byte
	for _, value := range []string{"a", "b", "c"} {
		wire = resp.AppendCommandStrings(wire, "SET", "key", value)
		wire = resp.AppendCommandStrings(wire, "GET", "key")
	}
	got := ""
	err = c.exchange(wire, 6, func(i int, v resp.Value) error {
		if i%2 == 1 {
			got += string(v.Str)
		}
		return v.Err()
	})
	if err != nil || got != "abc" {
		t.Errorf("replies %q, %v", got, err)
	}
}
