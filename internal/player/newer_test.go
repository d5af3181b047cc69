package player

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

const redis8Version = "8.0"

// newerPair starts Bowline and a server that is newer than Debian's, with the same
// settings, and connects to both in a protocol version.
func newerPair(t *testing.T, server redistest.Newer, proto int, settings ...string) Pair {
	t.Helper()
	p := pairWith(t, server.Start, proto, settings...)
	p.Newer = true
	return p
}

// TestNewerScriptsAnswerAsRedis8 plays the files of testdata/newer that begin with
// the name of a server.
func TestNewerScriptsAnswerAsRedis8(t *testing.T) { playNewer(t, redistest.Redis8, "redis8") }

func TestNewerScriptsAnswerAsValkey8(t *testing.T) { playNewer(t, redistest.Valkey8, "valkey8") }

func TestNewerRandomProgramsAnswerAsRedis8(t *testing.T) {
	forBothProtocols(t, func(t *testing.T, proto int) {
		newerPair(t, redistest.Redis8, proto).playAll(t, NewGenerator(redis8Version))
	})
}

// TestNewerRandomProgramsAnswerAsValkey8 leaves out what Redis added after the fork.
func TestNewerRandomProgramsAnswerAsValkey8(t *testing.T) {
	forBothProtocols(t, func(t *testing.T, proto int) {
		p := newerPair(t, redistest.Valkey8, proto)
		p.Subject.Do("CONFIG", "SET", "compatibility", "valkey")
		p.playAll(t, NewGenerator("7.2"))
	})
}

// newerFamilies are what is played against Redis 8.
var newerFamilies = []playedFamily{
	{
		group:    "hash",
		hidden:   true,
		read:     [][]string{{"HGETALL"}, {"HLEN"}, slices.Concat([]string{"HPEXPIRETIME", "FIELDS", strconv.Itoa(len(someFields))}, someFields)},
		settings: map[string][]string{"hash-max-listpack-entries": {"0", "2", "4", "512"}, "hash-max-listpack-value": {"0", "3", "64"}},
	},
	{
		group:  "set",
		hidden: true,
		read:   [][]string{{"SMEMBERS"}, {"SCARD"}},
		settings: map[string][]string{
			"set-max-intset-entries": {"0", "2", "4", "512"}, "set-max-listpack-entries": {"0", "2", "4", "128"}, "set-max-listpack-value": {"0", "3", "64"},
		},
	},
}

func TestNewerFamiliesAnswerAsRedis8(t *testing.T) {
	for _, f := range newerFamilies {
		t.Run(f.group, func(t *testing.T) {
			forBothProtocols(t, func(t *testing.T, proto int) {
				newerPair(t, redistest.Redis8, proto, "enable-debug-command", "yes").playFamily(t, &f, NewFamily(redis8Version, f.group))
			})
		})
	}
}

func TestNewerFamiliesNotifyAsRedis8(t *testing.T) {
	for _, f := range newerFamilies {
		t.Run(f.group, func(t *testing.T) {
			notifyAsRedis(t, NewFamily(redis8Version, f.group), func(t *testing.T, proto int, settings ...string) Pair {
				return newerPair(t, redistest.Redis8, proto, settings...)
			})
		})
	}
}

// timedHashes are hashes with fields that expire, in each form.
var timedHashes = []dumped{
	{[]string{"HSET k f v g 7 h w", "HPEXPIREAT k 33177117420000 FIELDS 1 f", "HPEXPIREAT k 33177117520000 FIELDS 1 g"},
		[]string{"HGETALL k", "HPEXPIRETIME k FIELDS 3 f g h", "OBJECT ENCODING k"}},
	{[]string{"HSET k f v", "HPEXPIREAT k 33177117420000 FIELDS 1 f", "HPERSIST k FIELDS 1 f"},
		[]string{"HGETALL k", "HPEXPIRETIME k FIELDS 1 f"}},
	{append(manyTimes("HSET k field:%d v", 1000), "HPEXPIREAT k 33177117420000 FIELDS 1 field:7", "HPEXPIREAT k 33177117520000 FIELDS 2 field:8 field:9"),
		[]string{"HLEN k", "HMGET k field:1 field:7 field:999", "HPEXPIRETIME k FIELDS 5 field:1 field:7 field:8 field:9 field:10"}},
	{manyTimes("HSETEX k PXAT 33177%[1]d00000 FIELDS 1 field:%[1]d v", 900)[100:],
		[]string{"HLEN k", "HMGET k field:100 field:899", "HPEXPIRETIME k FIELDS 3 field:100 field:500 field:899"}},
}

func TestNewerDumpsTravelToAndFromRedis8(t *testing.T) {
	newerPair(t, redistest.Redis8, 2).travel(t, slices.Concat(dumpedValues, timedHashes))
}

func TestNewerDumpsTravelToAndFromValkey8(t *testing.T) {
	newerPair(t, redistest.Valkey8, 2).travel(t, dumpedValues)
}

// TestNewerFieldsExpireAsInRedis8 waits for fields to expire, and compares what is left
// and what was told of it.
func TestNewerFieldsExpireAsInRedis8(t *testing.T) {
	for _, entries := range []string{"128", "1"} { // packed, and not
		forBothProtocols(t, func(t *testing.T, proto int) {
			p := newerPair(t, redistest.Redis8, proto, "notify-keyspace-events", "KEA", "hash-max-listpack-entries", entries)
			want := listen(t, p.Oracle.Another(), proto, "PSUBSCRIBE", "__keyspace*")
			got := listen(t, p.Subject.Another(), proto, "PSUBSCRIBE", "__keyspace*")
			for _, step := range []struct {
				program [][]string
				last    string // is told
			}{
				{[][]string{{"HSET", "h", "a", "1", "b", "2", "c", "3", "d", "4"}, {"HPEXPIRE", "h", "100", "FIELDS", "2", "a", "b"}}, "hexpired"},
				{[][]string{{"HLEN", "h"}, {"HGETALL", "h"}, {"HTTL", "h", "FIELDS", "3", "a", "c", "d"}, {"HPEXPIRE", "h", "100", "FIELDS", "1", "c"}}, "hexpired"},
				{[][]string{{"HLEN", "h"}, {"HGETALL", "h"}, {"HSETNX", "h", "a", "1"}, {"HPEXPIRE", "h", "100", "FIELDS", "2", "a", "d"}}, "del"},
				{[][]string{{"EXISTS", "h"}, {"HSETEX", "h", "PX", "100", "FIELDS", "1", "a", "1"}}, "del"},
				{[][]string{{"EXISTS", "h"}, {"HSET", "h", "a", "1"}, {"PEXPIRE", "h", "100"}}, "expired"},
			} {
				if difference := p.Play(step.program); difference != "" {
					t.Fatal(difference)
				}
				if a, b := heard(t, want, step.last), heard(t, got, step.last); a != b {
					t.Fatalf("after %q redis-server says\n%s\nbowline says\n%s", step.program, a, b)
				}
			}
		})
	}
}

func playNewer(t *testing.T, server redistest.Newer, name string) {
	files, err := filepath.Glob("testdata/newer/" + name + "-*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts found: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			s := readScript(t, file)
			forBothProtocols(t, func(t *testing.T, proto int) {
				newerPair(t, server, proto, s.settings...).playScript(t, s)
			})
		})
	}
}
