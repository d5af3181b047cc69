package shard

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/store"
)

// swapLog is told of changes and notes those of whole databases.
type swapLog struct {
	noHooks
	seen []string
}

func (l *swapLog) Touched(db int, key []byte, cause Cause) {
	if cause == CauseSwapped {
		l.seen = append(l.seen, fmt.Sprintf("touched %d %q", db, key))
	}
}

func (l *swapLog) Swapped(a, b int, exists func(db int, key []byte) bool) {
	l.seen = append(l.seen, fmt.Sprintf("swapped %d %d: %v %v %v", a, b,
		exists(a, []byte("k")), exists(b, []byte("k")), exists(b, []byte("over"))))
}

func TestSwapTellsWhoeverLooksAtKeys(t *testing.T) {
	log := &swapLog{}
	sp := NewSpace(Options{Databases: 4, Hooks: log})
	tx := sp.NewTx()
	tx.Now = 1000
	tx.LockAll()
	defer tx.Unlock()
	tx.DB = 1
	tx.SetString([]byte("k"), []byte("one"), 0)
	tx.SetString([]byte("over"), []byte("one"), 999)
	tx.SwapDB(1, 1)
	tx.SwapDB(1, 2)
	want := []string{`touched 1 ""`, `touched 2 ""`, "swapped 1 2: false true false"}
	if !slices.Equal(log.seen, want) {
		t.Errorf("got %q, want %q", log.seen, want)
	}
	if _, found := tx.Find([]byte("k")); found {
		t.Error("the key is still in its old database")
	}
	if e, _ := tx.FindIn(2, []byte("k")); string(e.Value) != "one" || tx.DB != 1 {
		t.Errorf("the key is %q in the other database, selected is %d", e.Value, tx.DB)
	}
}

// TestCopiesAreWholeWhereverTheyGo copies between keys of one stripe, where the
// table is changed while it is read, and of others.
func TestCopiesAreWholeWhereverTheyGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sp := NewSpace(Options{Databases: 2})
		tx := sp.NewTx()
		tx.LockAll()
		defer tx.Unlock()
		from, to := []byte("{same}from"), []byte(rapid.SampledFrom([]string{"{same}to", "{other}to"}).Draw(t, "to"))
		value := bytes.Repeat([]byte{'v'}, rapid.SampledFrom([]int{0, 10, 3000, 5000, 200_000}).Draw(t, "size"))
		before := bytes.Repeat([]byte{'b'}, rapid.SampledFrom([]int{0, 10, 3000, 200_000}).Draw(t, "before"))
		typ := rapid.SampledFrom([]store.Type{store.String, store.Hash}).Draw(t, "type")
		raw := typ == store.String && rapid.Bool().Draw(t, "raw")
		db := rapid.IntRange(0, 1).Draw(t, "db")
		tx.SetRecord(from, typ, value, 5_000_000)
		if raw {
			tx.MarkRaw(from)
		}
		if len(before) > 0 {
			tx.SetString(to, before, 0)
		}
		if !tx.CopyRecord(from, db, to) || tx.DB != 0 {
			t.Fatal("nothing was copied")
		}
		tx.DB = db
		e, ok := tx.Again(to)
		if !ok || e.Type != typ || e.Raw != raw || e.ExpireAt != 5_000_000 || !bytes.Equal(e.Value, value) {
			t.Fatalf("the copy is %v, type %s, raw %v, expires %d, %d bytes", ok, e.Type, e.Raw, e.ExpireAt, len(e.Value))
		}
		if tx.DB = 0; tx.CopyRecord([]byte("missing"), 1, to) {
			t.Error("a missing key was copied")
		}
	})
}

func TestStringsGrowInZeros(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sp := NewSpace(Options{})
		tx := sp.NewTx()
		tx.LockAll()
		defer tx.Unlock()
		key := []byte("k")
		var want []byte
		exists := false
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			at := rapid.SampledFrom([]int{0, 1, 7, 100, 4000, 5000, 70_000, 600_000}).Draw(t, "at")
			part := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "part")
			if rapid.Bool().Draw(t, "extend") {
				if changed := tx.Extend(key, at); changed != (!exists || at > len(want)) {
					t.Fatalf("extending %d bytes to %d: changed is %v", len(want), at, changed)
				}
				part = nil
			} else {
				tx.Patch(key, at, part)
			}
			exists = true
			if grown := at + len(part); grown > len(want) {
				want = append(want, make([]byte, grown-len(want))...)
			}
			copy(want[at:], part)
			if e, ok := tx.Find(key); !ok || !e.Raw || !bytes.Equal(e.Value, want) {
				t.Fatalf("%d bytes, raw %v, want %d bytes", len(e.Value), e.Raw, len(want))
			}
		}
	})
}

func TestRandomKeyPassesOverKeysWhoseTimeIsOver(t *testing.T) {
	sp := NewSpace(Options{})
	tx := sp.NewTx()
	tx.LockAll()
	for i := range 300 {
		tx.SetString(fmt.Appendf(nil, "over%d", i), nil, 1)
	}
	tx.SetString([]byte("live"), nil, 0)
	tx.Now = 2
	for range 5 {
		if key, ok := tx.RandomKey(); string(key) != "live" {
			t.Errorf("got %q, %v", key, ok)
		}
	}
	tx.Delete([]byte("live"))
	if key, ok := tx.RandomKey(); ok {
		t.Errorf("got %q where there is none", key)
	}
	tx.Unlock()
	// A replica must not delete; it looks for a live one all the same.
	sp = NewSpace(Options{})
	sp.Shards()[0].SetGate(GateReplica, true)
	tx = sp.NewTx()
	tx.LockAll()
	defer tx.Unlock()
	for i := range 300 {
		tx.SetString(fmt.Appendf(nil, "over%d", i), nil, 1)
	}
	tx.SetString([]byte("live"), nil, 0)
	tx.Now = 2
	if key, ok := tx.RandomKey(); string(key) != "live" || tx.Len() != 301 {
		t.Errorf("got %q, %v, and %d keys are left", key, ok, tx.Len())
	}
}
