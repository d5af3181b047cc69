package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

const (
	// feedKeys is how many keys the benchmarks use: far more than the caches hold
	// lines, so that a lookup costs what it costs in earnest.
	feedKeys = 100_000
	// feedStep is coprime to feedKeys, so that i*feedStep visits every key in an
	// order that no prefetcher guesses.
	feedStep = 7919
	// feedInputs is how many different pipelines are fed in turn.
	feedInputs = 2000
)

// feeder feeds pipelines to a server without a socket.
type feeder struct {
	batch *session.Batch
	space *shard.Space
	s     *session.Session
	now   func() session.Instant
}

func newFeeder(tb testing.TB) *feeder {
	tb.Helper()
	base := time.Now()
	now := func() session.Instant {
		t := time.Now()
		return session.Instant{Wall: t.UnixMicro(), Mono: int64(t.Sub(base)) + 1}
	}
	space := shard.NewSpace(shard.Options{Shards: 1, Databases: 16})
	srv := New(Options{
		Config: config.New(),
		Space:  space,
		Now:    now,
	})
	s, ok := srv.Registry().Add("client", "server", now(), 10, session.Links{Kill: func() {}, Wake: func() {}})
	if !ok {
		tb.Fatal("the session was refused")
	}
	return &feeder{batch: session.NewBatch(srv.NewExecutor()), space: space, s: s, now: now}
}

// feed runs a pipeline of whole commands and forgets the replies.
func (f *feeder) feed(in []byte) {
	f.batch.Feed(f.s, f.now(), in)
	f.s.W.B = f.s.W.B[:0]
}

// fill sets every key, counters for INCR and strings else.
func (f *feeder) fill(command string) {
	if command == "GET" {
		command = "SET"
	}
	n := feedKeys
	if command == "LPUSH" { // so that the lists are large
		n *= 6
	}
	for i := range n {
		f.feed(appendFeedCommand(nil, command, i))
	}
}

func appendFeedCommand(b []byte, command string, i int) []byte {
	key := fmt.Sprintf("key:%012d", i*feedStep%feedKeys)
	switch command {
	case "LPUSH":
		return resp.AppendCommandStrings(b, command, fmt.Sprintf("lst:%012d", i*feedStep%1000), "sixteen bytes...")
	case "SET":
		return resp.AppendCommandStrings(b, "SET", key, "sixteen bytes...")
	}
	return resp.AppendCommandStrings(b, command, key)
}

func feedPipelines(command string, pipeline, n int) [][]byte {
	inputs := make([][]byte, n)
	for i := range inputs {
		for j := range pipeline {
			inputs[i] = appendFeedCommand(inputs[i], command, i*pipeline+j)
		}
	}
	return inputs
}

var (
	feedCommands  = []string{"GET", "SET", "INCR", "LPUSH"}
	feedPipelined = []int{1, 16, 64}
)

// BenchmarkFeed tells nanoseconds per command, not per pipeline.
func BenchmarkFeed(b *testing.B) {
	for _, command := range feedCommands {
		for _, pipeline := range feedPipelined {
			b.Run(fmt.Sprintf("%s/%d", command, pipeline), func(b *testing.B) {
				f := newFeeder(b)
				f.fill(command)
				inputs := feedPipelines(command, pipeline, feedInputs)
				b.ReportAllocs()
				b.ResetTimer()
				for i, next := 0, 0; i < b.N; i += pipeline {
					f.feed(inputs[next])
					if next++; next == len(inputs) {
						next = 0
					}
				}
			})
		}
	}
}

func TestFeedAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, command := range feedCommands {
		for _, pipeline := range feedPipelined {
			t.Run(fmt.Sprintf("%s/%d", command, pipeline), func(t *testing.T) {
				f := newFeeder(t)
				f.fill(command)
				inputs := feedPipelines(command, pipeline, 64)
				next := 0
				perPipeline := testing.AllocsPerRun(500, func() {
					f.feed(inputs[next])
					next = (next + 1) % len(inputs)
				})
				if perPipeline != 0 {
					t.Errorf("%v allocations for a pipeline of %d, want 0", perPipeline, pipeline)
				}
			})
		}
	}
}
