package main

import (
	"bytes"
	"strconv"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/resp"
)

func TestKeysExpireWithinTheirSpread(t *testing.T) {
	const at, spread, depth = 1_800_000_000_000, 100, 500
	tmpl := expiring.template(3)
	pipeline := tmpl.repeat(depth)
	n := numbers{order: orderOnce, expiry: at, expirySpread: spread}
	seen := map[int64]bool{}
	var r resp.CommandReader
	for i := range depth {
		tmpl.fill(pipeline, i, &n)
	}
	for rest := pipeline; len(rest) > 0; {
		args, _, consumed, err := r.Next(rest, nil)
		if err != nil {
			t.Fatal(err)
		}
		rest = rest[consumed:]
		when, err := strconv.ParseInt(string(args[4]), 10, 64)
		if err != nil || when < at || when > at+spread || !bytes.Equal(args[3], []byte("PXAT")) {
			t.Fatalf("%q expires at %d, %v", args, when, err)
		}
		seen[when] = true
	}
	if len(seen) < spread/2 {
		t.Errorf("%d moments of %d", len(seen), spread)
	}
}

func TestMemoryAndNumberAreWatchedUntilBothAreBack(t *testing.T) {
	s, y := startToy(t)
	c, err := dial(s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	y.mu.Lock()
	for i := range 10 {
		y.data[strconv.Itoa(i)] = ""
	}
	y.mu.Unlock()
	at := time.Now()
	removed := make(chan time.Duration, 1)
	go func() {
		until("it was asked", func() bool { return y.asked.Load() > 2 })
		removed <- time.Since(at)
		y.clear()
	}()
	got, err := awaitExpired(t.Context(), c, at, 4711+100, 1)
	if err != nil || got.memory == nil || got.size == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if least := (<-removed).Seconds(); *got.memory < least || *got.size < least {
		t.Errorf("back after %v and %v s, but the keys were there for %v s", *got.memory, *got.size, least)
	}
}
