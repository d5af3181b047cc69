package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

// fuzzedBulkMax keeps strings short: a fuzzer soon asks for the longest.
const fuzzedBulkMax = "1mb"

// FuzzCommands runs any of the commands on keys with any arguments, separated by
// newlines, on strings that are there: nothing panics, and there is one reply.
func FuzzCommands(f *testing.F) {
	f.Add("set", "a\n1\nIFEQ\n2\nGET")
	f.Add("bitfield", "a\nOVERFLOW\nSAT\nINCRBY\ni64\n#1\n-9223372036854775808\nGET\nu63\n7")
	f.Add("bitop", "ONE\nd\na\nb\nc")
	f.Add("bitcount", "a\n-5\n9223372036854775807\nBIT")
	f.Add("bitpos", "b\n0\n-1\n-1\nBYTE")
	f.Add("setrange", "a\n4000\nxyz")
	f.Add("getrange", "a\n-1\n-9223372036854775808")
	f.Add("lcs", "a\nb\nIDX\nMINMATCHLEN\n1\nWITHMATCHLEN")
	f.Add("copy", "a\nb\nDB\n3\nREPLACE")
	f.Add("swapdb", "0\n1")
	f.Add("object", "encoding\na")
	f.Add("expire", "a\n1\nGT")
	f.Add("scan", "18446744073709551615\nCOUNT\n1")
	f.Fuzz(func(t *testing.T, name, args string) {
		cfg := config.New()
		if err := cfg.Load("proto-max-bulk-len", []string{fuzzedBulkMax}, "test"); err != nil {
			t.Fatal(err)
		}
		now := session.Instant{Wall: 1_800_000_000_000_000, Mono: 1}
		srv := New(Options{
			Config: cfg, Now: func() session.Instant { return now },
			Space: shard.NewSpace(shard.Options{Databases: 4, LogBytes: 64 << 10}),
		})
		s, _ := srv.Registry().Add("", "", now, 10, session.Links{Kill: func() {}, Wake: func() {}})
		batch := session.NewBatch(srv.NewExecutor())
		batch.Feed(s, now, resp.AppendCommandStrings(nil, "MSET", "a", "hello world", "b", "\xff\xff\xff", "c", "12"))
		batch.Feed(s, now, resp.AppendCommandStrings(nil, "PEXPIREAT", "c", "1900000000000"))
		s.W.B = s.W.B[:0]
		batch.Feed(s, now, resp.AppendCommandStrings(nil, append([]string{chosen(srv, name)}, strings.Split(args, "\n")...)...))
		var r resp.ReplyReader
		if _, n, err := r.Next(s.W.B); err != nil || n != len(s.W.B) {
			t.Errorf("one reply was to be read from %q: %d bytes, %v", s.W.B, n, err)
		}
	})
}

// chosen gives the command of a name if it is one on keys, else any of these.
func chosen(srv *Server, name string) string {
	var known []string
	for spec := range command.All() {
		if spec.Parent == nil && (srv.routes[spec.ID].keys != nil || spec.ID == command.IDObject) {
			known = append(known, spec.Name)
		}
	}
	if slices.Contains(known, name) || name == "" {
		return known[max(0, slices.Index(known, name))]
	}
	return known[int(name[0])%len(known)]
}
