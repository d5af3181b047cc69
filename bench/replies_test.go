package main

import (
	"errors"
	"testing"
)

func TestCounterCountsReplies(t *testing.T) {
	for _, c := range []struct {
		in                     string
		replies, nulls, errors int
		bad                    bool
	}{
		{in: "+OK\r\n", replies: 1},
		{in: "+OK\r\n:12\r\n$3\r\nabc\r\n", replies: 3},
		{in: "$0\r\n\r\n", replies: 1},
		{in: "$5\r\na\r\nb+\r\n", replies: 1},
		{in: "$-1\r\n_\r\n", replies: 2, nulls: 2},
		{in: "-ERR first\r\n-ERR second\r\n", replies: 2, errors: 2},
		{in: "$3\r\nab", replies: 0},
		{in: "*1\r\n", bad: true},
		{in: "\n", bad: true},
		{in: "$x\r\n", bad: true},
		{in: "$12345678901\r\n", bad: true},
	} {
		var all counter
		n, err := all.count([]byte(c.in))
		if n != c.replies || int(all.nulls) != c.nulls || int(all.errors) != c.errors || errors.Is(err, errReply) != c.bad {
			t.Errorf("count(%q) = %d, %v, %+v", c.in, n, err, all)
		}
		if c.errors > 0 && all.firstErr != "ERR first" {
			t.Errorf("the first error of %q is %q", c.in, all.firstErr)
		}
	}
}

func FuzzCounterDoesNotDependOnCuts(f *testing.F) {
	f.Add([]byte("+OK\r\n$3\r\nabc\r\n:1\r\n"), uint8(3))
	f.Add([]byte("$-1\r\n-ERR x\r\n$10\r\n0123456789\r\n"), uint8(7))
	f.Add([]byte("$1\r\n\r\n\r\n*\n"), uint8(1))
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		if len(in) > lineMax { // the bound of a line depends on the cuts
			return
		}
		var whole, parts counter
		want, wantErr := whole.count(in)
		got := 0
		var err error
		for rest := in; len(rest) > 0 && err == nil; {
			n := min(len(rest), int(step)+1)
			more := 0
			more, err = parts.count(rest[:n])
			got += more
			rest = rest[n:]
		}
		if got != want || (err == nil) != (wantErr == nil) || parts.nulls != whole.nulls || parts.errors != whole.errors || parts.skip != whole.skip {
			t.Errorf("%d, %v, %+v in parts; %d, %v, %+v at once", got, err, parts, want, wantErr, whole)
		}
	})
}
