package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestFormsOfSets keeps what redis-server before 7.2 does not have, by hand.
func TestFormsOfSets(t *testing.T) {
	c := newConsole(t)
	c.script(`
		SADD s a b => :2
		OBJECT ENCODING s => $8 listpack
		SADD i 1 2 => :2
		OBJECT ENCODING i => $6 intset
		SADD i x => :1
		OBJECT ENCODING i => $8 listpack
		CONFIG SET set-max-listpack-entries 3
		SADD i y => :1
		OBJECT ENCODING i => $9 hashtable
		SREM i 1 2 x => :3
		OBJECT ENCODING i => $9 hashtable
		CONFIG SET set-max-listpack-value 3
		SADD s long => :1
		OBJECT ENCODING s => $9 hashtable
		CONFIG SET set-max-intset-entries 2
		SADD n 1 2 => :2
		SADD n 2 => :0
		OBJECT ENCODING n => $6 intset
		SADD n 3 => :1
		OBJECT ENCODING n => $9 hashtable
		# results choose their form anew
		SREM n 3
		SUNIONSTORE u n n => :2
		OBJECT ENCODING u => $6 intset
		SUNIONSTORE u i s => :4
		OBJECT ENCODING u => $9 hashtable
		SDIFFSTORE u i n => :1
		OBJECT ENCODING u => $8 listpack
	`)
}

// TestEffectsOfSetsAreCanonical wants what was chosen by chance as what was done.
func TestEffectsOfSetsAreCanonical(t *testing.T) {
	c := newConsole(t)
	c.script(`
		SADD s a
		SADD s a
		SREM s x
		SPOP s
		SADD s a b c
		SPOP s 5
		SPOP s
		SADD s a
		SMOVE s d x
		SMOVE s d a
		SINTERSTORE d s
		SINTERSTORE d s
		SUNIONSTORE d none
	`)
	want := []string{"SADD s a", "SREM s a", "SADD s a b c", "DEL s", "SADD s a", "SMOVE s d a", "DEL d"}
	if got := c.effects(); !slices.Equal(got, want) {
		t.Errorf("effects\n  got  %q\n  want %q", got, want)
	}
}

// TestPopTakesWhatItSays pops from sets of all forms, and finds what was popped
// gone, and in the effects.
func TestPopTakesWhatItSays(t *testing.T) {
	for _, kind := range []string{"intset", "listpack", "hashtable"} {
		for _, n := range []int{1, 3, 60, 99} {
			c := newConsole(t)
			add := []string{"SADD", "s"}
			for i := range 100 {
				add = append(add, map[string]string{"intset": "", "listpack": "m", "hashtable": strings.Repeat("m", 70)}[kind]+fmt.Sprint(i))
			}
			c.run(add...)
			popped := strings.Fields(c.run("SPOP", "s", fmt.Sprint(n)))[1:]
			if len(popped) != 2*n {
				t.Fatalf("%s: %d popped, want %d", kind, len(popped)/2, n)
			}
			for i := 1; i < len(popped); i += 2 {
				if got := c.run("SISMEMBER", "s", popped[i]); got != ":0" {
					t.Errorf("%s: %q was popped and is there", kind, popped[i])
				}
			}
			if got := c.run("SCARD", "s"); got != fmt.Sprint(":", 100-n) {
				t.Errorf("%s: %s left after %d were popped", kind, got, n)
			}
			removed := strings.Fields(c.effects()[1])
			if removed[0] != "SREM" || len(removed) != 2+n || removed[2] != popped[1] {
				t.Errorf("%s: effect %q", kind, removed)
			}
		}
	}
}

// TestCombinationsOfManySets takes the ways that gather members first.
func TestCombinationsOfManySets(t *testing.T) {
	c := newConsole(t)
	big := []string{"SADD", "big"}
	for i := range 1000 {
		big = append(big, fmt.Sprint("m", i))
	}
	c.run(big...)
	union, diff := []string{"SUNIONSTORE", "u", "big"}, []string{"SDIFFSTORE", "d", "big"}
	for i := range 50 {
		key := fmt.Sprint("small", i)
		c.run("SADD", key, fmt.Sprint("m", i), fmt.Sprint("n", i%7))
		union, diff = append(union, key), append(diff, key)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{union, ":1007"}, {diff, ":950"},
		{[]string{"SISMEMBER", "d", "m49"}, ":0"}, {[]string{"SISMEMBER", "d", "m50"}, ":1"},
		{[]string{"SINTERCARD", "2", "big", "d"}, ":950"}, {[]string{"SINTERCARD", "2", "big", "d", "LIMIT", "70"}, ":70"},
	} {
		if got := c.run(test.args...); got != test.want {
			t.Errorf("%.40q: %s, want %s", test.args, got, test.want)
		}
	}
	if n := strings.Count(c.run(append([]string{"SUNION"}, union[2:]...)...), "$"); n != 1007 {
		t.Errorf("SUNION gives %d members", n)
	}
	if n := strings.Count(c.run(append([]string{"SDIFF"}, diff[2:]...)...), "$"); n != 950 {
		t.Errorf("SDIFF gives %d members", n)
	}
}
