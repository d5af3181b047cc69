package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/resp"
)

// collectionLoad is traffic on hashes and sets, small ones and one that is large.
type collectionLoad struct {
	name string
	// command makes the command for key number i; members of the large ones are as
	// many.
	command func(i int) []string
}

func small(kind string, i int) string { return fmt.Sprintf("%s:%06d", kind, i) }
func member(i int) string             { return fmt.Sprintf("member:%09d", i) }

var collectionLoads = []collectionLoad{
	{"HSET small", func(i int) []string { return []string{"HSET", small("h", i), "field1", "value"} }},
	{"HSET large", func(i int) []string { return []string{"HSET", "H", member(i), "value"} }},
	{"HGET small", func(i int) []string { return []string{"HGET", small("h", i), "field1"} }},
	{"HGET large", func(i int) []string { return []string{"HGET", "H", member(i)} }},
	{"HMGET small", func(i int) []string { return []string{"HMGET", small("h", i), "field1", "field3"} }},
	{"HGETALL small", func(i int) []string { return []string{"HGETALL", small("h", i)} }},
	{"HINCRBY small", func(i int) []string { return []string{"HINCRBY", small("h", i), "count", "1"} }},
	{"HSCAN large", func(i int) []string { return []string{"HSCAN", "H", "0"} }},
	{"SADD small", func(i int) []string { return []string{"SADD", small("s", i), "member1"} }},
	{"SADD large", func(i int) []string { return []string{"SADD", "S", member(i)} }},
	{"SREM and SADD", func(i int) []string { return []string{[]string{"SREM", "SADD"}[i%2], small("s", i/2), "member2"} }},
	{"SISMEMBER small", func(i int) []string { return []string{"SISMEMBER", small("s", i), "member1"} }},
	{"SISMEMBER large", func(i int) []string { return []string{"SISMEMBER", "S", member(i)} }},
	{"SMEMBERS small", func(i int) []string { return []string{"SMEMBERS", small("s", i)} }},
	{"SPOP and SADD", func(i int) []string {
		if i%2 == 0 {
			return []string{"SPOP", "S"}
		}
		return []string{"SADD", "S", member(i)}
	}},
}

// fillCollections makes n small hashes and sets, and two large ones of n members.
func (f *feeder) fillCollections(n int) {
	for i := range n {
		f.feed(resp.AppendCommandStrings(nil, "HSET", small("h", i), "field1", "value1", "field2", "value2", "field3", "value3", "count", "1"))
		f.feed(resp.AppendCommandStrings(nil, "SADD", small("s", i), "member1", "member2", "member3"))
		f.feed(resp.AppendCommandStrings(nil, "HSET", "H", member(i), "value"))
		f.feed(resp.AppendCommandStrings(nil, "SADD", "S", member(i)))
	}
}

func (l *collectionLoad) pipelines(pipeline, n, keys int) [][]byte {
	inputs := make([][]byte, n)
	for i := range inputs {
		for j := range pipeline {
			inputs[i] = resp.AppendCommandStrings(inputs[i], l.command((i*pipeline+j)*feedStep%keys)...)
		}
	}
	return inputs
}

// BenchmarkCollections tells nanoseconds per command.
func BenchmarkCollections(b *testing.B) {
	const keys = 100_000
	for _, l := range collectionLoads {
		for _, pipeline := range feedPipelined {
			b.Run(fmt.Sprintf("%s/%d", l.name, pipeline), func(b *testing.B) {
				f := newFeeder(b)
				f.fillCollections(keys)
				inputs := l.pipelines(pipeline, feedInputs, keys)
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

func TestCommandsOnCollectionsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const keys, pipeline = 2000, 16
	for _, l := range collectionLoads {
		t.Run(l.name, func(t *testing.T) {
			f := newFeeder(t)
			f.fillCollections(keys)
			inputs := l.pipelines(pipeline, 64, keys)
			for _, in := range inputs { // buffers grow
				f.feed(in)
			}
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

func TestDebugDescribesCollections(t *testing.T) {
	s := startSubject(t, first, 1, "enable-debug-command", "yes")
	c := s.dial(t)
	c.Do("RPUSH", "list", "a", "b")
	c.Do("SET", "string", "v")
	c.Do("CONFIG", "SET", "set-max-listpack-entries", "0")
	c.Do("SADD", "set", "a", "b")
	for want, args := range map[string][]string{
		"A packed list of 8 bytes":           {"LISTPACK", "list"},
		"ERR Not a listpack encoded object.": {"LISTPACK", "set"},
		"ERR no such key":                    {"LISTPACK", "none"},
		"OK":                                 {"QUICKLIST-PACKED-THRESHOLD", "100b"},
		"ERR The value stored at the specified key is not represented using an hash table": {"HTSTATS-KEY", "string"},
	} {
		expect(t, c, want, append([]string{"DEBUG"}, args...)...)
	}
	if got := fmt.Sprint(c.Do("DEBUG", "HTSTATS-KEY", "set")); !strings.HasPrefix(got, "number of elements: 2\n") {
		t.Errorf("a set is described as %q", got)
	}
	if got := fmt.Sprint(c.Do("DEBUG", "OBJECT", "set")); !strings.Contains(got, "encoding:hashtable serializedlength:") || strings.Contains(got, "serializedlength:4 ") {
		t.Errorf("a set is described as %q", got)
	}
}
