package redisc_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/client/redisc"
)

func TestSlot(t *testing.T) {
	for key, want := range map[string]int{"": 0, "foo": 12182, "{foo}bar": 12182, "x{foo}": 12182, "bar": 5061, "{}foo": redisc.Slot("{}foo"), "123456789": 12739} {
		if got := redisc.Slot(key); got != want {
			t.Errorf("%q is in slot %d, not %d", key, got, want)
		}
	}
	if redisc.HashSlots != 16384 {
		t.Error("HashSlots")
	}
}

func TestSplitBySlot(t *testing.T) {
	got := redisc.SplitBySlot("foo", "a", "{foo}1", "bar", "{a}2", "foo")
	want := [][]string{{"bar"}, {"foo", "{foo}1", "foo"}, {"a", "{a}2"}} // slots 5061, 12182, 15495
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if got := redisc.SplitBySlot(); len(got) != 0 {
		t.Errorf("no keys: %q", got)
	}
}

// TestSplitBySlotKeepsEveryKey: each group has one slot, no slot has two groups, and every
// key is where it was among those of its slot.
func TestSplitBySlotKeepsEveryKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOf(rapid.StringMatching(`(\{[ab]\})?[a-d]{1,2}`)).Draw(t, "keys")
		want := map[int][]string{}
		for _, key := range keys {
			want[redisc.Slot(key)] = append(want[redisc.Slot(key)], key)
		}
		last := -1
		groups := redisc.SplitBySlot(keys...)
		for _, g := range groups {
			at := redisc.Slot(g[0])
			if at <= last || !reflect.DeepEqual(g, want[at]) {
				t.Fatalf("slot %d after %d: %q, want %q", at, last, g, want[at])
			}
			last = at
		}
		if len(groups) != len(want) {
			t.Fatalf("%d groups of %d slots", len(groups), len(want))
		}
	})
}
