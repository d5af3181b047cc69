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

// fuzzedLong is longer than what is packed.
var fuzzedLong = strings.Repeat("long", 50)

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
	f.Add("hset", "h\nf\n1\nnew\n2")
	f.Add("hincrbyfloat", "h\nf\n1e300")
	f.Add("hexpire", "h\n100\nGT\nFIELDS\n2\nf\ng")
	f.Add("hgetex", "h\nPXAT\n1900000000001\nFIELDS\n1\nf")
	f.Add("hsetex", "H\nFXX\nKEEPTTL\nFIELDS\n1\nf\nv")
	f.Add("hrandfield", "H\n-5\nWITHVALUES")
	f.Add("hscan", "H\n18446744073709551615\nCOUNT\n1\nMATCH\n*\nNOVALUES")
	f.Add("sadd", "i\n9223372036854775807\nx")
	f.Add("spop", "S\n2")
	f.Add("srandmember", "S\n-3")
	f.Add("smove", "i\nS\n1")
	f.Add("sintercard", "2\ni\nS\nLIMIT\n1")
	f.Add("sdiffstore", "h\nS\ni")
	f.Add("zadd", "z\nGT\nCH\n1e400\nm\n-inf\n7")
	f.Add("zincrby", "Z\n-inf\nm")
	f.Add("zrange", "z\n(1\n+inf\nBYSCORE\nREV\nLIMIT\n-1\n9223372036854775807\nWITHSCORES")
	f.Add("zrange", "Z\n+\n[m\nBYLEX\nLIMIT\n1\n-9223372036854775808")
	f.Add("zrevrangebylex", "z\n[7\n-")
	f.Add("zremrangebylex", "z\n(7\n+")
	f.Add("zremrangebyrank", "Z\n-1\n9223372036854775807")
	f.Add("zrangestore", "h\nZ\n0\n-1\nREV")
	f.Add("zmpop", "2\ns\nZ\nMAX\nCOUNT\n9223372036854775807")
	f.Add("zpopmin", "z\n9223372036854775807")
	f.Add("zunionstore", "Z\n3\nZ\nS\ni\nWEIGHTS\n0\ninf\n-1\nAGGREGATE\nMIN")
	f.Add("zinter", "2\nz\nz\nWITHSCORES\nAGGREGATE\nMAX")
	f.Add("zdiff", "2\nS\nZ\nWITHSCORES")
	f.Add("zintercard", "2\nZ\nz\nLIMIT\n1")
	f.Add("zrandmember", "Z\n-5\nWITHSCORES")
	f.Add("zscan", "Z\n18446744073709551615\nCOUNT\n1\nMATCH\n*\nNOSCORES")
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
		// Hashes, sets and sorted sets in each of their forms.
		batch.Feed(s, now, resp.AppendCommandStrings(nil, "HSET", "h", "f", "1", "g", "v", "e", "2.5"))
		batch.Feed(s, now, resp.AppendCommandStrings(nil, "HPEXPIREAT", "h", "1900000000000", "FIELDS", "1", "g"))
		batch.Feed(s, now, resp.AppendCommandStrings(nil, "HSET", "H", "f", fuzzedLong, "g", "v"))
		batch.Feed(s, now, resp.AppendCommandStrings(nil, "HPEXPIREAT", "H", "1900000000000", "FIELDS", "1", "g"))
		batch.Feed(s, now, resp.AppendCommandStrings(nil, "SADD", "i", "1", "300", "-70000"))
		batch.Feed(s, now, resp.AppendCommandStrings(nil, "SADD", "s", "1", "x"))
		batch.Feed(s, now, resp.AppendCommandStrings(nil, "SADD", "S", "1", "x", fuzzedLong))
		batch.Feed(s, now, resp.AppendCommandStrings(nil, "ZADD", "z", "1", "m", "2.5", "7", "inf", "x"))
		batch.Feed(s, now, resp.AppendCommandStrings(nil, "ZADD", "Z", "1", "m", "-2.5", "7", "inf", "x", "0", fuzzedLong))
		s.W.B = s.W.B[:0]
		chosen := chosen(srv, name)
		batch.Feed(s, now, resp.AppendCommandStrings(nil, append([]string{chosen}, strings.Split(args, "\n")...)...))
		if command.ByName(chosen).Flags&command.FlagBlocking != 0 && len(s.W.B) == 0 {
			return // it waits
		}
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
