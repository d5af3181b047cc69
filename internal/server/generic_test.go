package server

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/engine/bitmaps"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/resp"
)

// TestWhatRedis70DoesNotHave holds the replies of commands and options that came
// later, so that they can't be compared with redis-server.
func TestWhatRedis70DoesNotHave(t *testing.T) {
	s := startSubject(t, first, 1)
	c := s.dial(t)
	for _, step := range []struct {
		want string
		args []string
	}{
		// SET IFEQ
		{"<nil>", []string{"SET", "a", "1", "IFEQ", "0"}},
		{"0", []string{"EXISTS", "a"}},
		{"<nil>", []string{"SET", "a", "1", "IFEQ", "0", "GET"}},
		{"OK", []string{"SET", "a", "1"}},
		{"<nil>", []string{"SET", "a", "2", "IFEQ", "0"}},
		{"OK", []string{"SET", "a", "2", "ifeq", "1"}},
		{"2", []string{"SET", "a", "3", "IFEQ", "1", "GET"}},
		{"2", []string{"SET", "a", "3", "GET", "IFEQ", "2"}},
		{"3", []string{"GET", "a"}},
		{"OK", []string{"SET", "a", "4", "IFEQ", "3", "EX", "1000"}},
		{"1000", []string{"TTL", "a"}},
		{"OK", []string{"SET", "a", "", "KEEPTTL", "IFEQ", "4"}},
		{"1000", []string{"TTL", "a"}},
		{"OK", []string{"SET", "a", "5", "IFEQ", ""}},
		{"-1", []string{"TTL", "a"}},
		{reply.Syntax, []string{"SET", "a", "6", "IFEQ"}},
		{reply.Syntax, []string{"SET", "a", "6", "IFEQ", "5", "NX"}},
		{reply.Syntax, []string{"SET", "a", "6", "XX", "IFEQ", "5"}},
		{reply.Syntax, []string{"SET", "a", "6", "IFEQ", "5", "IFEQ", "5"}},
		{reply.Syntax, []string{"GETEX", "a", "IFEQ", "5"}},
		// DELIFEQ
		{"0", []string{"DELIFEQ", "a", "4"}},
		{"1", []string{"DELIFEQ", "a", "5"}},
		{"0", []string{"DELIFEQ", "a", "5"}},
		{reply.WrongArgs("delifeq"), []string{"DELIFEQ", "a"}},
		// BITCOUNT and BITPOS judge their arguments before they look for the key
		{reply.Syntax, []string{"BITCOUNT", "none", "0"}},
		{reply.NotInteger, []string{"BITCOUNT", "none", "x", "1"}},
		{reply.Syntax, []string{"BITCOUNT", "none", "0", "1", "FOO"}},
		{reply.NotInteger, []string{"BITPOS", "none", "1", "x"}},
		{reply.Syntax, []string{"BITPOS", "none", "1", "0", "1", "FOO"}},
		// The operations of Redis 8.2; x 1100, y 1010, z 1001 in the upper half
		{"OK", []string{"MSET", "x", "\xc0\x01", "y", "\xa0", "z", "\x90\x00\x0f"}},
		{"2", []string{"BITOP", "DIFF", "d", "x", "y"}},
		{"@\x01", []string{"GET", "d"}},
		{"3", []string{"BITOP", "diff1", "d", "x", "y", "z"}},
		{"0\x00\x0f", []string{"GET", "d"}},
		{"3", []string{"BITOP", "ANDOR", "d", "x", "y", "z"}},
		{"\x80\x00\x00", []string{"GET", "d"}},
		{"3", []string{"BITOP", "ONE", "d", "x", "y", "z"}},
		{"p\x01\x0f", []string{"GET", "d"}},
		{"2", []string{"BITOP", "ONE", "d", "x"}},
		{"\xc0\x01", []string{"GET", "d"}},
		{"0", []string{"BITOP", "DIFF", "d", "none", "none"}},
		{"0", []string{"EXISTS", "d"}},
		{reply.BitopSources("DIFF"), []string{"BITOP", "DIFF", "d", "x"}},
		{reply.BitopSources("DIFF1"), []string{"BITOP", "diff1", "d", "x"}},
		{reply.BitopSources("ANDOR"), []string{"BITOP", "ANDOR", "d", "x"}},
		{reply.BitopNot, []string{"BITOP", "NOT", "d", "x", "y"}},
	} {
		expect(t, c, step.want, step.args...)
	}
	putList(s, "l")
	expect(t, c, reply.WrongType, "SET", "l", "x", "IFEQ", "any bytes")
	expect(t, c, "list", "TYPE", "l")
}

func TestValkeyCountsBitsFromAStart(t *testing.T) {
	c := startSubject(t, first, 1, "compatibility", "valkey").dial(t)
	expect(t, c, "OK", "SET", "s", "foobar")
	expect(t, c, "10", "BITCOUNT", "s", "-3")
	expect(t, c, "26", "BITCOUNT", "s", "0")
	expect(t, c, "0", "BITCOUNT", "s", "6")
	expect(t, c, "0", "BITCOUNT", "none", "0")
	expect(t, c, reply.NotInteger, "BITCOUNT", "s", "x")
}

func TestBitCommandsRefuseOtherTypes(t *testing.T) {
	answers := map[string][]string{
		"bitcount": {"l"}, "bitfield": {"l", "SET", "u8", "0", "1"}, "bitfield_ro": {"l", "GET", "u8", "0"},
		"bitop": {"OR", "d", "s", "l"}, "bitpos": {"l", "1"}, "getbit": {"l", "1"}, "setbit": {"l", "1", "1"},
	}
	s := startSubject(t, first, 1)
	c := s.dial(t)
	putList(s, "l")
	expect(t, c, "OK", "SET", "s", "text")
	for name := range bitmaps.Handlers {
		if answers[name] == nil {
			t.Errorf("%s is not in the table", name)
			continue
		}
		expect(t, c, reply.WrongType, append([]string{name}, answers[name]...)...)
		expect(t, c, "list", "TYPE", "l")
	}
	expect(t, c, reply.WrongType, "BITFIELD", "l", "GET", "u8", "0")
	expect(t, c, "0", "EXISTS", "d")
	expect(t, c, "4", "BITOP", "OR", "l", "s") // the target may be anything
	expect(t, c, "string", "TYPE", "l")
}

func TestKeysOfEveryTypeAreMovedWithTheirExpiry(t *testing.T) {
	s := startSubject(t, first, 1)
	c := s.dial(t)
	putList(s, "l")
	expect(t, c, "1", "PEXPIREAT", "l", "33177117420000")
	expect(t, c, "OK", "RENAME", "l", "renamed")
	expect(t, c, "1", "COPY", "renamed", "copied")
	expect(t, c, "1", "COPY", "renamed", "renamed", "DB", "5")
	expect(t, c, "1", "MOVE", "copied", "5")
	expect(t, c, "0", "EXISTS", "l", "copied")
	expect(t, c, "OK", "SWAPDB", "0", "5")
	for _, key := range []string{"renamed", "copied"} {
		expect(t, c, "list", "TYPE", key)
		expect(t, c, "33177117420000", "PEXPIRETIME", key)
	}
}

func TestOneDatabaseInACluster(t *testing.T) {
	s, c := startMember(t, clusterMap(t, 16383), first)
	_ = s
	expect(t, c, "OK", "SET", "{hello}a", "1")
	expect(t, c, reply.ClusterMove, "MOVE", "{hello}a", "1")
	expect(t, c, reply.ClusterMove, "MOVE", "{hello}a", "x")
	expect(t, c, reply.ClusterSwapDB, "SWAPDB", "0", "1")
	expect(t, c, reply.ClusterSwapDB, "SWAPDB", "x", "1")
	expect(t, c, reply.ClusterCopy, "COPY", "{hello}a", "{hello}a", "DB", "1")
	expect(t, c, reply.DBIndex, "COPY", "{hello}a", "{hello}a", "DB", "16")
	expect(t, c, reply.NotInteger, "COPY", "{hello}a", "{hello}a", "DB", "x")
	expect(t, c, reply.SameObject, "COPY", "{hello}a", "{hello}a", "DB", "0")
	expect(t, c, "1", "COPY", "{hello}a", "{hello}b", "DB", "0")
	expect(t, c, "OK", "RENAME", "{hello}b", "{hello}c")
	expect(t, c, "1", "GET", "{hello}c")
	expect(t, c, "2", "DBSIZE")
}

func TestRandomKeyFindsEveryLiveKey(t *testing.T) {
	c := startSubject(t, first, 1).dial(t)
	want := map[string]bool{}
	for i := range 20 {
		key := fmt.Sprint("key", i)
		expect(t, c, "OK", "SET", key, "v")
		want[key] = true
	}
	for range 2000 {
		delete(want, fmt.Sprint(c.Do("RANDOMKEY")))
	}
	if len(want) > 0 {
		t.Errorf("in 2000 tries these keys never came: %v", want)
	}
}

func TestOffsetsFollowProtoMaxBulkLen(t *testing.T) {
	c := startSubject(t, first, 1, "proto-max-bulk-len", "1mb").dial(t)
	expect(t, c, "0", "SETBIT", "b", "8388607", "1")
	expect(t, c, "1048576", "STRLEN", "b")
	expect(t, c, "1", "BITCOUNT", "b")
	expect(t, c, reply.BitOffset, "SETBIT", "b", "8388608", "1")
	expect(t, c, reply.BitOffset, "GETBIT", "b", "8388608")
	expect(t, c, "1048576", "SETRANGE", "r", "1048575", "x")
	expect(t, c, reply.StringTooLong, "SETRANGE", "r", "1048576", "x")
	expect(t, c, reply.StringTooLong, "APPEND", "r", "x")
	expect(t, c, reply.LCSMemory, "LCS", "r", "b")
	expect(t, c, reply.BitOffset, "BITFIELD", "b", "GET", "u8", "#1048576")
}

// smallFeeds are commands on short strings; those of a line are fed together.
var smallFeeds = []string{
	"SETBIT bits 100 1", "SETBIT bits 100 0 ; SETBIT bits 100 1", "GETBIT bits 100", "BITCOUNT bits 1 -2", "BITPOS bits 1",
	"BITFIELD bits INCRBY u8 #3 1 GET i5 3", "BITFIELD_RO bits GET u8 0", "BITOP XOR d bits s", "SETRANGE bits 3 xyz",
	"GETRANGE s 1 -2", "COPY s copied REPLACE", "COPY s copied REPLACE ; RENAME copied renamed", "RENAMENX renamed s",
	"OBJECT ENCODING s", "SET s text IFEQ text", "DELIFEQ s other", "RANDOMKEY",
}

func smallFeed(line string) (wire []byte, commands int) {
	for command := range strings.SplitSeq(line, ";") {
		wire = resp.AppendCommandStrings(wire, strings.Fields(command)...)
		commands++
	}
	return wire, commands
}

func newSmallFeeder(tb testing.TB) *feeder {
	f := newFeeder(tb)
	for _, line := range []string{"SET s text", "SETBIT bits 100 1"} {
		wire, _ := smallFeed(line)
		f.feed(wire)
	}
	return f
}

func TestSmallCommandsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	f := newSmallFeeder(t)
	for _, line := range smallFeeds {
		wire, _ := smallFeed(line)
		if n := testing.AllocsPerRun(500, func() { f.feed(wire) }); n != 0 {
			t.Errorf("%v allocations for %s, want 0", n, line)
		}
	}
}

// BenchmarkSmallCommands tells nanoseconds per command.
func BenchmarkSmallCommands(b *testing.B) {
	for _, line := range smallFeeds {
		b.Run(line, func(b *testing.B) {
			f := newSmallFeeder(b)
			one, commands := smallFeed(line)
			wire := bytes.Repeat(one, 16)
			for i := 0; i < b.N; i += 16 * commands {
				f.feed(wire)
			}
		})
	}
}

// BenchmarkSetBitOfALargeString must not depend on the size of the string.
func BenchmarkSetBitOfALargeString(b *testing.B) {
	f := newFeeder(b)
	f.feed(resp.AppendCommandStrings(nil, "SETBIT", "bits", "80000000", "1"))
	var wire []byte
	for i := range 16 {
		wire = resp.AppendCommandStrings(wire, "SETBIT", "bits", fmt.Sprint(i*4_000_000), fmt.Sprint(i%2))
	}
	for i := 0; i < b.N; i += 16 {
		f.feed(wire)
	}
}
