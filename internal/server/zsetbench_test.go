package server

import (
	"fmt"
	"testing"

	"github.com/bowline-kv/bowline/resp"
)

// sortedMembers is how many members the large sorted set of the benchmarks has.
const sortedMembers = 100_000

// sortedCommands are commands on sorted sets, each for a number that is another one
// each time. "z" is large, and "p:" with two digits are packed.
var sortedCommands = map[string]func(i int) []string{
	"ZADD": func(i int) []string {
		return []string{"ZADD", "z", fmt.Sprint(i * feedStep % sortedMembers), member(i * 31 % sortedMembers)}
	},
	"ZADDpacked": func(i int) []string {
		return []string{"ZADD", fmt.Sprintf("p:%02d", i%100), fmt.Sprint(i % 60), member(i % 50)}
	},
	"ZINCRBY": func(i int) []string { return []string{"ZINCRBY", "z", "1.5", member(i * feedStep % sortedMembers)} },
	"ZSCORE":  func(i int) []string { return []string{"ZSCORE", "z", member(i * feedStep % sortedMembers)} },
	"ZRANK":   func(i int) []string { return []string{"ZRANK", "z", member(i * feedStep % sortedMembers)} },
	"ZRANGE": func(i int) []string {
		n := i * feedStep % sortedMembers
		return []string{"ZRANGE", "z", fmt.Sprint(n), fmt.Sprint(n + 9), "WITHSCORES"}
	},
	"ZRANGEBYSCORE": func(i int) []string {
		return []string{"ZRANGEBYSCORE", "z", fmt.Sprint("(", i*feedStep%sortedMembers), "+inf", "LIMIT", "0", "10"}
	},
	"ZRANGEpacked": func(i int) []string { return []string{"ZRANGE", fmt.Sprintf("p:%02d", i%100), "0", "9"} },
	"ZCOUNT":       func(i int) []string { return []string{"ZCOUNT", "z", fmt.Sprint(i * feedStep % sortedMembers), "+inf"} },
}

func newSortedFeeder(tb testing.TB) *feeder {
	f := newFeeder(tb)
	for i := range sortedMembers {
		f.feed(resp.AppendCommandStrings(nil, "ZADD", "z", fmt.Sprint(i), member(i)))
	}
	for i := range 5000 {
		f.feed(resp.AppendCommandStrings(nil, "ZADD", fmt.Sprintf("p:%02d", i%100), fmt.Sprint(i/100), member(i/100)))
	}
	return f
}

func sortedPipelines(command string, pipeline, n int) [][]byte {
	inputs := make([][]byte, n)
	for i := range inputs {
		for j := range pipeline {
			inputs[i] = resp.AppendCommandStrings(inputs[i], sortedCommands[command](i*pipeline+j)...)
		}
	}
	return inputs
}

// BenchmarkSortedSets tells nanoseconds per command, in pipelines of 16.
func BenchmarkSortedSets(b *testing.B) {
	const pipeline = 16
	for command := range sortedCommands {
		b.Run(command, func(b *testing.B) {
			f := newSortedFeeder(b)
			inputs := sortedPipelines(command, pipeline, feedInputs)
			b.ReportAllocs()
			b.ResetTimer()
			for i, next := 0, 0; i < b.N; i += pipeline {
				f.feed(inputs[next])
				next = (next + 1) % len(inputs)
			}
		})
	}
}

func TestSortedSetsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	f := newSortedFeeder(t)
	for command := range sortedCommands {
		inputs := sortedPipelines(command, 16, 64)
		next := 0
		if n := testing.AllocsPerRun(200, func() {
			f.feed(inputs[next])
			next = (next + 1) % len(inputs)
		}); n != 0 {
			t.Errorf("%s: %v allocations for a pipeline of 16, want 0", command, n)
		}
	}
}
