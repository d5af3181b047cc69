package store

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestWalkOnceTellsByAKeyWhereItIs changes a table between the steps of a walk and
// keeps what a reader of one moment needs: a key that is changed before the walk
// has come to it is set aside first.
func TestWalkOnceTellsByAKeyWhereItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, _ := newTestTable(t.Cleanup)
		slots := rapid.SampledFrom([]int{1, 2, 256}).Draw(t, "slots")
		space := rapid.SampledFrom([]int{40, 1500, 5000}).Draw(t, "names")
		key := func(i int) Key { return keyFor(i%slots, numbered(i)) }
		want := map[string]string{}
		for i := range rapid.IntRange(0, space).Draw(t, "keys") {
			table.SetRecord(key(i), String, []byte("old"), 0)
			want[string(key(i).Name)] = "old"
		}
		var at Place
		got, aside := map[string]string{}, map[string]bool{}
		take := func(name []byte, value []byte) {
			if _, twice := got[string(name)]; twice {
				t.Fatalf("%q comes twice", name)
			}
			got[string(name)] = string(value)
		}
		change := func(i int, remove bool) {
			k := key(i)
			if !at.Passed(&k) && !aside[string(k.Name)] {
				aside[string(k.Name)] = true
				if e, ok := table.Get(k); ok {
					take(k.Name, e.Value)
				}
			}
			if remove {
				table.Delete(k)
			} else {
				table.SetRecord(k, String, []byte("new and longer"), 0)
			}
		}
		for done := false; !done; {
			left := rapid.IntRange(1, 4000).Draw(t, "step")
			done = table.WalkOnce(&at, func(k Key, e Entry) {
				if !at.over && at.Passed(&k) {
					t.Fatalf("%q was passed before", k.Name)
				}
				left--
				if !aside[string(k.Name)] {
					take(k.Name, e.Value)
				}
			}, func() bool { return left <= 0 })
			from, n := rapid.IntRange(0, space).Draw(t, "from"), rapid.IntRange(0, space).Draw(t, "changes")
			remove := rapid.Bool().Draw(t, "remove")
			for i := range n {
				change((from+i)%(2*space), remove)
			}
			if rapid.Bool().Draw(t, "tidy") {
				table.Step(500)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%d keys were met, want %d", len(got), len(want))
		}
	})
}
