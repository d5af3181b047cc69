package client

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/slot"
)

// A split is used again, by commands of other sizes.
func TestSplitsKeepTheOrderOfKeys(t *testing.T) {
	x, y := "x", "{y}1"
	for _, c := range []struct{ args, parts []string }{
		{[]string{"DEL", "a", "b", "a", "{a}x"}, []string{"DEL a a {a}x", "DEL b"}},
		{[]string{"MSET", x, "1", y, "2", x, "3"}, []string{"MSET x 1 x 3", "MSET {y}1 2"}},
		{[]string{"mget", "a", "b", "c", "a"}, []string{"mget a a", "mget b", "mget c"}},
		{[]string{"EXISTS", "", "a"}, []string{"EXISTS ", "EXISTS a"}},
	} {
		q := newCall()
		q.fill(c.args...)
		s := newSplit(q)
		var got []string
		for i := range s.parts {
			args, err := readRequest(bufio.NewReader(bytes.NewReader(s.parts[i].call.wire)))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.Join(args, " "))
		}
		if !slices.Equal(got, c.parts) {
			t.Errorf("%q: got %q, want %q", c.args, got, c.parts)
		}
		s.release()
		q.release()
	}
}

func TestSplitIntoAllSlots(t *testing.T) {
	const n = 200_000
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprint(i)
	}
	q := newCall()
	if err := q.encode([]any{"MGET", keys}); err != nil {
		t.Fatal(err)
	}
	s := newSplit(q)
	seen := 0
	for i := range s.parts {
		p := &s.parts[i]
		for _, k := range p.keys {
			if int(slot.OfString(keys[k])) != p.call.slot {
				t.Fatalf("key %d is not of slot %d", k, p.call.slot)
			}
		}
		seen += len(p.keys)
	}
	if seen != n || len(s.parts) != slot.Count {
		t.Errorf("%d keys in %d parts", seen, len(s.parts))
	}
}

// What the server says beside a value is not overwritten by the next command.
func TestSplitRepliesWithAttributesStandOnTheirOwn(t *testing.T) {
	f, c := cluster3(t, Options{})
	for _, n := range f.nodes {
		n.script(withMap(map3, func(r *request) string {
			if !r.is("MGET") {
				return pass
			}
			return "*1\r\n|1\r\n+about\r\n" + bulk(r.args[1]) + bulk("v")
		}))
	}
	keys := []any{"MGET", keyA, keyB, keyC}
	first := c.Do(t.Context(), keys...)
	want := first.v.Clone()
	for range 10 {
		keys[1], keys[3] = keys[3], keys[1]
		c.Do(t.Context(), keys...)
	}
	if !first.v.Equal(&want) || len(want.Elems) != 3 || string(want.Elems[2].Attributes()[1].Str) != keyC {
		t.Errorf("got %v, want %v", first.v, want)
	}
}
