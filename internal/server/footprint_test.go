package server

import (
	"fmt"
	"testing"

	"github.com/bowline-kv/bowline/resp"
)

// footprint is the memory of all pages of the key space, in bytes.
func (f *feeder) footprint() (bytes int64) {
	for _, u := range f.space.NewTx().Overview().Databases {
		bytes += u.Footprint
	}
	return bytes
}

// TestMemoryOfCollections holds what a hash and a member may cost.
func TestMemoryOfCollections(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("it takes memory, and the race detector more")
	}
	for _, test := range []struct {
		name    string
		n       int
		most    int64 // bytes each
		command func(i int) []string
	}{
		{"hashes of 5 small fields", 100_000, 120, func(i int) []string {
			return []string{"HSET", fmt.Sprintf("user:%07d", i), "name", "johndoe", "age", "42", "city", "Oslo", "visits", fmt.Sprint(i % 1000), "score", "17"}
		}},
		{"members of 16 bytes of one set", 200_000, 43, func(i int) []string {
			return []string{"SADD", "set", fmt.Sprintf("%016d", i*7919)}
		}},
	} {
		f := newFeeder(t)
		for i := range test.n {
			f.feed(resp.AppendCommandStrings(nil, test.command(i)...))
		}
		each := f.footprint() / int64(test.n)
		t.Logf("%s: %d bytes each", test.name, each)
		if each > test.most {
			t.Errorf("%s: %d bytes each, want at most %d", test.name, each, test.most)
		}
	}
}
