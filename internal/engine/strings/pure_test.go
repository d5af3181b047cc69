package strings

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// naiveLength is the length of the longest common subsequence by its definition.
func naiveLength(a, b []byte, known map[[2]int]int) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	at := [2]int{len(a), len(b)}
	if n, ok := known[at]; ok {
		return n
	}
	n := 0
	if a[0] == b[0] {
		n = 1 + naiveLength(a[1:], b[1:], known)
	} else {
		n = max(naiveLength(a[1:], b, known), naiveLength(a, b[1:], known))
	}
	known[at] = n
	return n
}

func contains(text, subsequence []byte) bool {
	for _, c := range subsequence {
		i := bytes.IndexByte(text, c)
		if i < 0 {
			return false
		}
		text = text[i+1:]
	}
	return true
}

func TestSubsequenceIsCommonAndLongest(t *testing.T) {
	some := rapid.SliceOfN(rapid.SampledFrom([]byte("abc")), 0, 40)
	rapid.Check(t, func(t *rapid.T) {
		a, b := some.Draw(t, "a"), some.Draw(t, "b")
		s := newSubsequence(a, b, true)
		if want := naiveLength(a, b, map[[2]int]int{}); s.length != want {
			t.Fatalf("length %d, want %d", s.length, want)
		}
		if short := newSubsequence(a, b, false); short.length != s.length {
			t.Fatalf("length %d without the way back, %d with it", short.length, s.length)
		}
		if text := s.text(); len(text) != s.length || !contains(a, text) || !contains(b, text) {
			t.Fatalf("%q is no common subsequence of length %d", text, s.length)
		}
		total, lastA, lastB := 0, len(a), len(b)
		s.matches(func(m match) {
			if !bytes.Equal(a[m.a:m.a+m.n], b[m.b:m.b+m.n]) || m.a+m.n > lastA || m.b+m.n > lastB {
				t.Fatalf("%+v does not match, or not before the one listed before", m)
			}
			total, lastA, lastB = total+m.n, m.a, m.b
		})
		if total != s.length {
			t.Fatalf("the runs have %d bytes together, want %d", total, s.length)
		}
	})
}

func TestPartTakesWhatGetrangeTakes(t *testing.T) {
	for _, c := range []struct {
		start, end int64
		want       string
	}{
		{0, 1, "he"}, {-2, -1, "lo"}, {-100, 0, "h"}, {0, -100, "h"}, {1, 100, "ello"}, {5, 9, ""}, {3, 2, ""},
		{-1, -2, ""}, {-1 << 63, 1<<63 - 1, "hello"}, {1<<63 - 1, -1 << 63, ""},
	} {
		if got := part([]byte("hello"), c.start, c.end); string(got) != c.want {
			t.Errorf("from %d to %d: %q, want %q", c.start, c.end, got, c.want)
		}
	}
	if got := part(nil, 0, -1); len(got) != 0 {
		t.Errorf("%q is a part of nothing", got)
	}
}
