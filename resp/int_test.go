package resp

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

var parseIntCases = []struct {
	in   string
	want int64
	ok   bool
}{
	{"0", 0, true},
	{"7", 7, true},
	{"-1", -1, true},
	{"10", 10, true},
	{"9223372036854775807", math.MaxInt64, true},
	{"-9223372036854775808", math.MinInt64, true},
	{"9223372036854775808", 0, false},
	{"-9223372036854775809", 0, false},
	{"9999999999999999999", 0, false},
	{"18446744073709551616", 0, false},
	{"10000000000000000000", 0, false},
	{"-99999999999999999999", 0, false},
	{"", 0, false},
	{"-", 0, false},
	{"+1", 0, false},
	{"-0", 0, false},
	{"00", 0, false},
	{"01", 0, false},
	{"-01", 0, false},
	{" 1", 0, false},
	{"1 ", 0, false},
	{"1x", 0, false},
	{"--1", 0, false},
	{"1\x00", 0, false},
}

func TestParseIntWantsTheCanonicalSpelling(t *testing.T) {
	for _, c := range parseIntCases {
		got, ok := ParseInt([]byte(c.in))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %d %v, want %d %v", c.in, got, ok, c.want, c.ok)
		}
	}
}

func TestAppendIntWritesWhatParseIntReads(t *testing.T) {
	check := func(n int64) {
		b := AppendInt([]byte("x"), n)
		if want := "x" + strconv.FormatInt(n, 10); string(b) != want {
			t.Fatalf("%d: %q, want %q", n, b, want)
		}
		if got, ok := ParseInt(b[1:]); !ok || got != n {
			t.Fatalf("%q: %d %v", b[1:], got, ok)
		}
	}
	for n := int64(-1100); n <= 1100; n++ {
		check(n)
	}
	for p := int64(1); p < math.MaxInt64/10; p *= 10 {
		for d := int64(-1); d <= 1; d++ {
			check(p + d)
			check(-p + d)
		}
	}
	check(math.MaxInt64)
	check(math.MinInt64)
	rapid.Check(t, func(t *rapid.T) { check(rapid.Int64().Draw(t, "n")) })
}
