package store

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/slot"
)

func mustCheck(t *testing.T, m *model) {
	t.Helper()
	if err := m.check(); err != nil {
		t.Fatal(err)
	}
}

// TestOneSlotMayHoldEverything grows the directory of a single slot and takes it
// down again, with walks on the way.
func TestOneSlotMayHoldEverything(t *testing.T) {
	m := newModel(t.Cleanup)
	const keys = 30_000
	for i := range keys {
		m.set(keyFor(7, numbered(i)), String, []byte("v"), 0)
		if i%500 == 0 {
			m.set(keyFor(200, numbered(i)), String, []byte("w"), 0)
		}
	}
	mustCheck(t, m)
	if len(m.table.dir.subs) != 1 || m.table.dir.subs[0].bits < 3 {
		t.Fatalf("the slot has no deep directory of its own: %d", len(m.table.dir.subs))
	}
	next := 0
	drop := func() error {
		for range 400 {
			if next < keys {
				if err := m.delete(keyFor(7, numbered(next))); err != nil {
					return err
				}
				next++
			}
		}
		return nil
	}
	for next < keys {
		if err := m.walkSlot(7, 700, drop); err != nil {
			t.Fatal(err)
		}
		if err := m.walkTable(900, drop); err != nil {
			t.Fatal(err)
		}
		mustCheck(t, m)
	}
	if len(m.table.dir.unused) != 1 {
		t.Fatal("the directory of the slot was not given up")
	}
	for i := 0; i < keys; i += 500 {
		if err := m.delete(keyFor(200, numbered(i))); err != nil {
			t.Fatal(err)
		}
	}
	mustCheck(t, m)
	if m.table.dir.bits != 0 || m.table.Footprint() != 0 {
		t.Fatalf("an empty table has %d bits and %d bytes", m.table.dir.bits, m.table.Footprint())
	}
	// What was given up is used again.
	segments := len(m.table.segs)
	for i := range keys {
		m.set(keyFor(100+i%2, numbered(i)), String, nil, 0)
	}
	mustCheck(t, m)
	if got := len(m.table.segs); got > segments+2 || len(m.table.dir.subs) != 2 {
		t.Fatalf("%d segments, %d before; %d directories of slots", got, segments, len(m.table.dir.subs))
	}
}

// keysOfOneHash makes n keys of the first eight slots whose hashes are all the
// same, which takes knowing the seed: the second half of a name cancels what the
// first one did to the hash.
func keysOfOneHash(n int) (keys []Key) {
	length := uint64(16)
	start := testSeed ^ length*hashMul1
	for i := uint64(0); len(keys) < n; i++ {
		name := make([]byte, 16)
		binary.LittleEndian.PutUint64(name, i*hashMul1)
		binary.LittleEndian.PutUint64(name[8:], fold(start^i*hashMul1, hashMul0))
		k := Key{Name: name, Hash: HashOf(testSeed, name), Slot: slot.Of(name)}
		if StripeOf(k.Slot) == 0 && place(k.Slot) < 8 {
			keys = append(keys, k)
		}
	}
	return keys
}

// TestKeysOfOneHashAreKept: nobody who does not know the seed can make them, but
// nothing may break or grow without bound.
func TestKeysOfOneHashAreKept(t *testing.T) {
	m := newModel(t.Cleanup)
	keys := keysOfOneHash(2000)
	if keys[0].Hash != keys[1999].Hash {
		t.Fatal("the keys have different hashes")
	}
	for _, k := range keys {
		m.set(k, String, k.Name[:5], m.now)
	}
	mustCheck(t, m)
	// More of one hash and slot than a segment holds, for the splits.
	for i := range 20_000 {
		m.set(keyFor(i%8, numbered(i)), String, nil, 0)
	}
	mustCheck(t, m)
	nothing := func() error { return nil }
	for p := range 8 {
		if err := m.walkSlot(p, 5, nothing); err != nil {
			t.Fatal(err)
		}
	}
	for i, k := range keys {
		if i%4 != 0 {
			if err := m.delete(k); err != nil {
				t.Fatal(err)
			}
		}
	}
	for m.table.Step(100) {
	}
	mustCheck(t, m)
	if err := m.due(); err != nil {
		t.Fatal(err)
	}
	mustCheck(t, m)
}

func TestLoadStaysHigh(t *testing.T) {
	table, _ := newTestTable(t.Cleanup)
	over := 0
	for i := range 200_000 {
		table.SetRecord(keyFor(i%SlotsPerTable, numbered(i)), String, nil, 0)
		if i > 20_000 && i%10_000 == 0 {
			var pages, cells int
			for _, s := range table.segs {
				pages += int(s.pages)
				cells += int(s.count)
				over += len(s.over)
			}
			if load := float64(cells) / float64(pages*cellsPerPage); load < 0.6 || load > 0.87 {
				t.Errorf("load %.2f at %d keys", load, i)
			}
		}
	}
	if over > 0 {
		t.Errorf("%d cells went to overflow lists", over)
	}
}

func TestKeysOfAnyLength(t *testing.T) {
	m := newModel(t.Cleanup)
	for _, n := range []int{0, 1, 50, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 255, 256, 4000, 4070, 4095, 4096, 5000, 70_000, 3 << 20} {
		k := keyFor(1, strings.Repeat("k", n))
		m.set(k, String, []byte("v"), 5)
		mustCheck(t, m)
		if err := m.append(k, []byte("more")); err != nil {
			t.Fatal(err)
		}
		m.set(k, List, bytes.Repeat([]byte("x"), n), 0)
		mustCheck(t, m)
	}
	empty := Key{Hash: HashOf(testSeed, nil)} // slot 0 is of stripe 0
	m.set(empty, String, nil, 0)
	mustCheck(t, m)
}

func TestEveryTypeIsKept(t *testing.T) {
	m := newModel(t.Cleanup)
	for typ := String; typ <= Stream; typ++ {
		m.set(keyFor(int(typ), "k"), typ, []byte(typ.String()), 0)
	}
	mustCheck(t, m)
}

// TestAppendingIsNotQuadratic counts the runs of pages that a growing value had.
func TestAppendingIsNotQuadratic(t *testing.T) {
	m := newModel(t.Cleanup)
	k := keyFor(0, "log")
	m.set(k, String, nil, 0)
	moved, last := 0, new(byte)
	suffix := bytes.Repeat([]byte("0123456789"), 500)
	for range 1000 {
		if err := m.append(k, suffix); err != nil {
			t.Fatal(err)
		}
		if e, _ := m.table.Get(k); &e.Value[0] != last {
			moved, last = moved+1, &e.Value[0]
		}
	}
	if moved > 80 {
		t.Errorf("5 MB were copied %d times", moved)
	}
	mustCheck(t, m)
}

func TestAPinnedValueNeverChanges(t *testing.T) {
	m := newModel(t.Cleanup)
	k := keyFor(0, "big")
	big := func(c byte, n int) []byte { return bytes.Repeat([]byte{c}, n) }
	m.set(k, String, big('a', 100_000), 0)
	for _, change := range []func() error{
		func() error { m.set(k, String, big('b', 100_000), 0); return nil },
		func() error { return m.append(k, big('c', 10)) },
		func() error { return m.append(k, big('d', 1)) },
		func() error { m.set(k, String, big('e', 99_000), 7); return nil },
		func() error { return m.expire(k, 0) },
		func() error { return m.delete(k) },
	} {
		if err := m.pin(k); err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		mustCheck(t, m)
	}
	for len(m.pins) > 0 {
		if err := m.unpin(0); err != nil {
			t.Fatal(err)
		}
	}
	mustCheck(t, m)
	// Without readers, the same length is written in place.
	m.set(k, String, big('f', 100_000), 0)
	before, _ := m.table.Get(k)
	m.set(k, String, big('g', 99_000), 0)
	if after, _ := m.table.Get(k); &after.Value[0] != &before.Value[0] {
		t.Error("a value nobody reads was written elsewhere")
	}
	mustCheck(t, m)
}

func TestNextSlotAndEach(t *testing.T) {
	m := newModel(t.Cleanup)
	for _, p := range []int{5, 63, 64, 200, 255} {
		m.set(keyFor(p, "k"), String, nil, 0)
	}
	var got []int
	for s, ok := m.table.NextSlot(0); ok; s, ok = m.table.NextSlot(s + Stripes) {
		got = append(got, place(s))
		if place(s) == SlotsPerTable-1 {
			break
		}
	}
	if len(got) != 5 || got[0] != 5 || got[4] != 255 {
		t.Errorf("slots with keys: %v", got)
	}
	n := 0
	m.table.Each(func(k Key, e Entry) {
		if err := m.same(k, e); err != nil {
			t.Error(err)
		}
		n++
	})
	if n != 5 {
		t.Errorf("Each visited %d keys", n)
	}
}

func TestAnyCursorIsSafe(t *testing.T) {
	m := newModel(t.Cleanup)
	for i := range 30_000 {
		m.set(keyFor(i%3, numbered(i)), String, nil, 0)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		k := keyFor(random.IntN(4), "")
		c := Cursor(random.Uint64() >> (64 - CursorBits))
		m.table.Scan(k.Slot, c, 1, func(Key, Entry) {})
		for s, c, done := m.table.ScanTable(k.Slot, c, 3000, func(Key, Entry) {}); !done; {
			s, c, done = m.table.ScanTable(s, c, 3000, func(Key, Entry) {})
		}
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	table, _ := newTestTable(t.Cleanup)
	var keys []Key
	for i := range 5000 {
		keys = append(keys, keyFor(i%SlotsPerTable, numbered(i)))
		table.SetRecord(keys[i], String, make([]byte, 20), 1_000_000)
	}
	value, i := make([]byte, 24), 0
	for name, f := range map[string]func(k Key){
		"get":           func(k Key) { table.Get(k) },
		"set":           func(k Key) { table.SetRecord(k, String, value, 0) },
		"set larger":    func(k Key) { table.SetRecord(k, String, value[:i%24], int64(i)) },
		"delete, set":   func(k Key) { table.Delete(k); table.SetRecord(k, String, value, 2_000_000) },
		"append, set":   func(k Key) { table.Append(k, value); table.SetRecord(k, String, value, 0) },
		"expire, never": func(k Key) { table.SetExpiry(k, 77); table.SetExpiry(k, 0) },
		"due":           func(k Key) { table.Due(int64(i)) },
		"prepare, load": func(k Key) { table.Prepare(&k); table.Load(&k) },
	} {
		if n := testing.AllocsPerRun(3000, func() { i++; f(keys[i%len(keys)]) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
