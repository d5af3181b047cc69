package store

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestPatchOverwritesAndReadersKeepWhatTheyPinned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, _ := newTestTable(t.Cleanup)
		k := keyFor(1, "key")
		n := rapid.SampledFrom(sizesOfValues).Draw(t, "size")
		want := bytes.Repeat([]byte{'v'}, n)
		table.SetRecord(k, String, want, 123456789)
		e, _ := table.Get(k)
		pinned, isPinned := Pinned{}, false
		if rapid.Bool().Draw(t, "pin") {
			pinned, isPinned = table.Pin(e)
		}
		before := bytes.Clone(want)
		at := rapid.IntRange(0, n).Draw(t, "at")
		part := bytes.Repeat([]byte{'p'}, rapid.IntRange(0, n-at).Draw(t, "length"))
		table.Patch(k, at, part)
		copy(want[at:], part)
		e, ok := table.Get(k)
		if !ok || !bytes.Equal(e.Value, want) || !e.Raw || e.ExpireAt != 123456789 || e.Type != String {
			t.Fatalf("%d bytes patched at %d: raw %v, expires %d, type %s", len(part), at, e.Raw, e.ExpireAt, e.Type)
		}
		if isPinned {
			if !bytes.Equal(pinned.Bytes, before) {
				t.Fatal("a pinned value has changed")
			}
			pinned.Release()
		}
		if err := table.check(); err != nil {
			t.Fatal(err)
		}
	})
}
