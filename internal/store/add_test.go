package store

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestAddLeavesWhatIsThere(t *testing.T) {
	table, _ := newTestTable(t.Cleanup)
	for i := range 3000 {
		k := keyFor(i%7, numbered(i))
		if table.Has(k) || !table.Add(k, Set, []byte("first")) || !table.Has(k) {
			t.Fatalf("key %d is not added", i)
		}
		if table.Add(k, String, []byte("second")) {
			t.Fatalf("key %d is added twice", i)
		}
		if e, _ := table.Get(k); e.Type != Set || string(e.Value) != "first" || e.ExpireAt != 0 {
			t.Fatalf("key %d is %s %q, expires at %d", i, e.Type, e.Value, e.ExpireAt)
		}
	}
	if err := table.check(); err != nil || table.Len() != 3000 {
		t.Fatalf("%d keys, %v", table.Len(), err)
	}
}

// TestOverwriteKeepsTypeAndExpiry replaces packed collections in place, and refuses
// those with times and bodies.
func TestOverwriteKeepsTypeAndExpiry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, _ := newTestTable(t.Cleanup)
		k := keyFor(1, "key")
		n := Content{
			Type:     rapid.SampledFrom([]Type{List, Set, ZSet, Hash}).Draw(t, "type"),
			Value:    bytes.Repeat([]byte{'v'}, rapid.SampledFrom(sizesOfValues).Draw(t, "size")),
			ExpireAt: rapid.SampledFrom([]int64{0, 123456789}).Draw(t, "expires"),
		}
		if n.Type == Hash && rapid.Bool().Draw(t, "timed") {
			n.WakeAt = 1000
		}
		table.Put(k, &n)
		e, _ := table.Get(k)
		next := bytes.Repeat([]byte{'n'}, rapid.SampledFrom(sizesOfValues).Draw(t, "next"))
		want := n.Value
		if table.Overwrite(&e, next) {
			if n.WakeAt != 0 {
				t.Fatal("a hash with times was overwritten")
			}
			want = next
		} else if n.WakeAt == 0 && len(next) == len(n.Value) && len(next) < 1000 {
			t.Fatal("a value of the same size was refused")
		}
		if e, _ = table.Get(k); !bytes.Equal(e.Value, want) || e.Type != n.Type || e.ExpireAt != n.ExpireAt || e.Timed != (n.WakeAt != 0) {
			t.Fatalf("it is %s, %d bytes, expires at %d, timed %v", e.Type, len(e.Value), e.ExpireAt, e.Timed)
		}
		if err := table.check(); err != nil {
			t.Fatal(err)
		}
	})
}
