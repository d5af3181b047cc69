package resp

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// commandCases are streams of requests, what is read from them, and the error at their
// end. The test beside redis-server runs those of PING through it as well.
var commandCases = []struct {
	wire     string
	commands [][]string
	err      string
}{
	{"*1\r\n$4\r\nPING\r\n", [][]string{{"PING"}}, ""},
	{"*2\r\n$4\r\nPING\r\n$3\r\na\r\n\r\n*1\r\n$4\r\nPING\r\n", [][]string{{"PING", "a\r\n"}, {"PING"}}, ""},
	{"*2\r\n$4\r\nPING\r\n$0\r\n\r\n", [][]string{{"PING", ""}}, ""},
	{"*2\r\n$4\r\nPING\r\n$12\r\nabcdefghijkl\r\n", [][]string{{"PING", "abcdefghijkl"}}, ""},
	{"*2\r\n$4\r\nPING\r\n$100\r\n" + strings.Repeat("y", 100) + "\r\n", [][]string{{"PING", strings.Repeat("y", 100)}}, ""},
	// The two bytes after an argument and the byte after a header's CR are skipped.
	{"*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n", [][]string{{"PING"}, {"PING"}}, ""},
	{"*1\rX$4\rXPING\r\n", [][]string{{"PING"}}, ""},
	// Nothing to do.
	{"*0\r\n*1\r\n$4\r\nPING\r\n", [][]string{nil, {"PING"}}, ""},
	{"*-1\r\nPING\r\n", [][]string{nil, {"PING"}}, ""},
	{"*-9223372036854775808\r\nPING\r\n", [][]string{nil, {"PING"}}, ""},
	{"\r\n\n  \r\nPING\r\n", [][]string{nil, nil, nil, {"PING"}}, ""},
	// A mixture.
	{"PING\n*1\r\n$4\r\nPING\r\nPING a\r\n", [][]string{{"PING"}, {"PING"}, {"PING", "a"}}, ""},
	// Counts.
	{"*2147483647\r\nx\r\n", nil, "Protocol error: expected '$', got 'x'"},
	{"*2147483648\r\n", nil, "Protocol error: invalid multibulk length"},
	{"*99999999999999999999\r\n", nil, "Protocol error: invalid multibulk length"},
	{"*\r\n", nil, "Protocol error: invalid multibulk length"},
	{"*01\r\n", nil, "Protocol error: invalid multibulk length"},
	{"*+1\r\n", nil, "Protocol error: invalid multibulk length"},
	{"*-0\r\n", nil, "Protocol error: invalid multibulk length"},
	{"* 1\r\n", nil, "Protocol error: invalid multibulk length"},
	{"*1x\r\n", nil, "Protocol error: invalid multibulk length"},
	{"*1\n$4\r\nPING\r\n", nil, "Protocol error: invalid multibulk length"},
	{"PING\r\n*x\r\n", [][]string{{"PING"}}, "Protocol error: invalid multibulk length"},
	// Lengths.
	{"*1\r\n$-1\r\n", nil, "Protocol error: invalid bulk length"},
	{"*1\r\n$536870913\r\n", nil, "Protocol error: invalid bulk length"},
	{"*1\r\n$99999999999999999999\r\n", nil, "Protocol error: invalid bulk length"},
	{"*1\r\n$04\r\nPING\r\n", nil, "Protocol error: invalid bulk length"},
	{"*1\r\n$\r\n", nil, "Protocol error: invalid bulk length"},
	{"*1\r\n$a\r\n", nil, "Protocol error: invalid bulk length"},
	{"*2\r\n$4\r\nPING\r\n$1a\r\n", nil, "Protocol error: invalid bulk length"},
	// Something else in an argument's place; a line end is shown as a space.
	{"*1\r\nPING\r\n", nil, "Protocol error: expected '$', got 'P'"},
	{"*1\r\n\r\n", nil, "Protocol error: expected '$', got ' '"},
	{"*1\r\n\n\r\n", nil, "Protocol error: expected '$', got ' '"},
	{"*1\r\n\xff\r\n", nil, "Protocol error: expected '$', got '\xff'"},
	{"*2\r\n$4\r\nPING\r\n*1\r\n", nil, "Protocol error: expected '$', got '*'"},
	// Lines that never end.
	{"*" + strings.Repeat("1", 65536), nil, "Protocol error: too big mbulk count string"},
	{"*1\r\n$" + strings.Repeat("1", 65536), nil, "Protocol error: too big bulk count string"},
	{strings.Repeat("a", 65537), nil, "Protocol error: too big inline request"},
	{"PING " + strings.Repeat("a", 65531) + "\n", [][]string{{"PING", strings.Repeat("a", 65531)}}, ""},
	// Quotes.
	{"PING \"a\n", nil, "Protocol error: unbalanced quotes in request"},
	{"\"PING\"x\n", nil, "Protocol error: unbalanced quotes in request"},
}

func TestRequestsAreReadAsRedisReadsThem(t *testing.T) {
	for _, c := range commandCases {
		want := outcome{commands: c.commands, err: c.err}
		for _, ends := range [][]int{{len(c.wire)}, pieces(len(c.wire), 7)} {
			got := readCommands(t, c.wire, Limits{}, ends)
			want.consumed = got.consumed
			if !sameOutcome(got, want) {
				t.Errorf("%.60q\n got %.200q %q\nwant %.200q %q", c.wire, got.commands, got.err, c.commands, c.err)
			}
			if c.err == "" && got.consumed != len(c.wire) {
				t.Errorf("%.60q: %d of %d bytes consumed", c.wire, got.consumed, len(c.wire))
			}
		}
		if len(c.wire) < 2000 {
			checkCommands(t, c.wire, 3)
		}
	}
}

func TestZeroBytesInLinesAreOrdinary(t *testing.T) {
	got := readCommands(t, "PI\x00NG 'a\x00'\r\n", Limits{}, []int{12})
	if want := (outcome{commands: [][]string{{"PI\x00NG", "a\x00"}}, consumed: 12}); !sameOutcome(got, want) {
		t.Errorf("got %+v", got)
	}
	got = readCommands(t, "*1\x00\r\n", Limits{}, []int{5})
	if got.err != errMultibulkLength.Error() {
		t.Errorf("got %+v", got)
	}
}

func TestLimitsAreInclusive(t *testing.T) {
	limits := Limits{MaxBulk: 5, MaxArgs: 3, MaxInline: 20}
	low := limits
	low.Unauthenticated = true
	for _, c := range []struct {
		wire string
		l    Limits
		err  string
	}{
		{"*1\r\n$5\r\nabcde\r\n", limits, ""},
		{"*1\r\n$6\r\nabcdef\r\n", limits, "Protocol error: invalid bulk length"},
		{"*1\r\n$16\r\n", limits, "Protocol error: invalid bulk length"},
		{"*1\r\n$6\r\nabcdef\r\n", low, "Protocol error: unauthenticated bulk length"},
		{"*1\r\n$536870913\r\n", low, "Protocol error: invalid bulk length"},
		{"*3\r\n$0\r\n\r\n$0\r\n\r\n$0\r\n\r\n", limits, ""},
		{"*4\r\n", limits, "Protocol error: invalid multibulk length"},
		{"*4\r\n", low, "Protocol error: unauthenticated multibulk length"},
		{"*44\r\n", low, "Protocol error: unauthenticated multibulk length"},
		{"*2147483648\r\n", low, "Protocol error: invalid multibulk length"},
		{strings.Repeat("a", 20) + "\n", limits, ""},
		{strings.Repeat("a", 21) + "\n", limits, "Protocol error: too big inline request"},
		{"*" + strings.Repeat("1", 19), limits, ""},
		{"*" + strings.Repeat("1", 20), limits, "Protocol error: too big mbulk count string"},
		{"*1\r\n$" + strings.Repeat("1", 19), limits, ""},
		{"*1\r\n$" + strings.Repeat("1", 20), limits, "Protocol error: too big bulk count string"},
		{"*10\r\n", UnauthenticatedLimits, ""},
		{"*11\r\n", UnauthenticatedLimits, "Protocol error: unauthenticated multibulk length"},
		{"*1\r\n$16384\r\n", UnauthenticatedLimits, ""},
		{"*1\r\n$16385\r\n", UnauthenticatedLimits, "Protocol error: unauthenticated bulk length"},
		{"*1\r\n$536870912\r\n", DefaultLimits, ""},
		{"*1\r\n$536870913\r\n", Limits{MaxBulk: 1 << 30}, ""},
		{"*1\r\n$9223372036854775807\r\n", Limits{MaxBulk: math.MaxInt, MaxInline: math.MaxInt}, "Protocol error: invalid bulk length"},
	} {
		got := readCommands(t, c.wire, c.l, []int{len(c.wire)})
		if got.err != c.err {
			t.Errorf("%q with %+v: %q, want %q", c.wire, c.l, got.err, c.err)
		}
	}
}

// Whatever is cut off, the reader asks for more, for no more than is missing, and goes
// on when it comes.
func TestMissingIsALowerBound(t *testing.T) {
	for _, c := range commandCases {
		if c.err != "" || len(c.wire) > 2000 {
			continue
		}
		var r CommandReader
		_, _, first, err := r.Next([]byte(c.wire), nil)
		if err != nil {
			t.Fatalf("%q: %v", c.wire, err)
		}
		for cut := range first {
			r.Reset()
			args, rest, n, err := r.Next([]byte(c.wire[:cut]), nil)
			if !errors.Is(err, ErrIncomplete) || n != 0 || args != nil || len(rest) != 0 {
				t.Fatalf("%q: %q %d %v", c.wire[:cut], args, n, err)
			}
			if r.Missing() < 1 || r.Missing() > first-cut {
				t.Fatalf("%q: %d bytes are said to be missing, it is %d", c.wire[:cut], r.Missing(), first-cut)
			}
			if _, _, n, err = r.Next([]byte(c.wire), nil); err != nil || n != first {
				t.Fatalf("%q after %q: %d %v", c.wire, c.wire[:cut], n, err)
			}
		}
	}
}

func TestClaimsReserveNothing(t *testing.T) {
	for _, wire := range []string{"*2147483647\r\n", "*2147483647\r\n$536870912\r\nabc"} {
		var r CommandReader
		buf := []byte(wire)
		if n := testing.AllocsPerRun(10, func() {
			r.Reset()
			r.Next(buf, nil)
		}); n != 0 {
			t.Errorf("%q: %v allocations", wire, n)
		}
		if r.Missing() != MissingMax {
			t.Errorf("%q: missing %d", wire, r.Missing())
		}
	}
}

func TestReadingCommandsAllocatesNothing(t *testing.T) {
	wire := AppendCommandStrings(nil, "SET", "key:000000000001", "value")
	wire = append(wire, "PING \"a\\x41\"\r\n"...)
	buf := make([]byte, len(wire))
	arena := make([][]byte, 0, 16)
	var r CommandReader
	n := testing.AllocsPerRun(100, func() {
		copy(buf, wire)
		_, rest, n, err := r.Next(buf, arena)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, err = r.Next(buf[n:len(buf)-3], rest); err != ErrIncomplete {
			t.Fatal(err)
		}
		if _, _, _, err = r.Next(buf[n:], rest); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestArgumentsHaveNoSpareCapacity(t *testing.T) {
	buf := []byte("*1\r\n$1\r\na\r\nGET 'b' c\r\n")
	var r CommandReader
	args, rest, n, _ := r.Next(buf, make([][]byte, 0, 8))
	more, _, _, _ := r.Next(buf[n:], rest)
	_ = append(args, []byte("overwrites the next command?"))
	for _, a := range append(args, more...) {
		_ = append(a, "overwrites what follows?"...)
	}
	if !bytes.Equal(more[0], []byte("GET")) || !bytes.Equal(more[2], []byte("c")) || string(args[0]) != "a" {
		t.Errorf("args %q, more %q", args, more)
	}
}

// A caller that breaks the rule of the same start gets nonsense, never a crash.
func TestAnotherBufferAfterIncompleteIsHarmless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r CommandReader
		var rr ReplyReader
		gen := rapid.SliceOfN(rapid.StringMatching(`[*$%|]?[0-9a]\r\n|PING\r\n|[*$%|][0-3]\r\n`), 0, 8)
		for range 6 {
			buf := []byte(strings.Join(gen.Draw(t, "buf"), ""))
			r.Next(buf, nil)
			rr.Next(buf)
		}
	})
}

func TestAppendedCommandsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batch := rapid.SliceOfN(rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 1, 12), 0, 5).Draw(t, "batch")
		var wire, same []byte
		for _, args := range batch {
			wire = AppendCommand(wire, args...)
			same = AppendCommandStrings(same, asStrings(args)...)
		}
		if !bytes.Equal(wire, same) {
			t.Fatalf("%q and %q", wire, same)
		}
		var r CommandReader
		var arena [][]byte
		for i := range batch {
			args, rest, n, err := r.Next(wire, arena)
			if err != nil || len(args) != len(batch[i]) {
				t.Fatalf("%q, %v", args, err)
			}
			for j := range args {
				if !bytes.Equal(args[j], batch[i][j]) {
					t.Fatalf("got %q, want %q", args, batch[i])
				}
			}
			arena, wire = rest, wire[n:]
		}
		if len(wire) > 0 {
			t.Fatalf("%q is left", wire)
		}
	})
}
