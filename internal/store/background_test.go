package store

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bowline-kv/bowline/internal/page"
	"github.com/bowline-kv/bowline/slot"
)

// TestMemoryComesBack deletes nine keys in ten and lets the background work run.
func TestMemoryComesBack(t *testing.T) {
	m := newModel(t.Cleanup)
	const keys = 200_000
	value := make([]byte, 100)
	for i := range keys {
		at := int64(0)
		if i%3 == 0 {
			at = m.now + int64(i)
		}
		m.set(keyFor(i%SlotsPerTable, numbered(i)), String, value, at)
	}
	// One that can move, and one that can't, as it is being read.
	m.set(keyFor(0, "large"), String, make([]byte, 20_000), 0)
	m.set(keyFor(1, "larger"), String, make([]byte, PinnedMin), 0)
	if err := m.pin(keyFor(1, "larger")); err != nil {
		t.Fatal(err)
	}
	peak := m.pool.Stats()
	random := rand.New(rand.NewPCG(3, 4))
	for i := range keys {
		if random.IntN(10) > 0 {
			if err := m.delete(keyFor(i%SlotsPerTable, numbered(i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	rounds := 0
	for quiet := 0; quiet < 3; rounds++ {
		more := m.table.Step(500)
		if m.pool.Trim() == 0 && !more {
			quiet++
		} else {
			quiet = 0
		}
		if rounds%20 == 0 {
			if err := m.table.check(); err != nil {
				t.Fatal(err)
			}
		}
	}
	mustCheck(t, m)
	now := m.pool.Stats()
	if now.InUse > peak.InUse/5 || now.Mapped > peak.Mapped*3/10 {
		t.Errorf("after %d rounds: %+v of %+v", rounds, now, peak)
	}
	m.now += keys
	if err := m.due(); err != nil {
		t.Fatal(err)
	}
	if err := m.unpin(0); err != nil {
		t.Fatal(err)
	}
	mustCheck(t, m)
}

func TestADroppedTableIsGivenBackInSteps(t *testing.T) {
	m := newModel(t.Cleanup)
	for i := range 20_000 {
		m.set(keyFor(i%SlotsPerTable, numbered(i)), String, make([]byte, 50), m.now)
	}
	for i := range 100 {
		m.set(keyFor(i, "large"), String, make([]byte, 5000), 0)
	}
	old := m.pool.Stats().InUse
	d := m.table.Release()
	clear(m.keys)
	if m.table.Len() != 0 || m.pool.Stats().InUse != old {
		t.Fatal("releasing is not what it says")
	}
	m.set(keyFor(1, "new"), String, []byte("v"), 0)
	steps := 0
	for d.Step(10) {
		steps++
	}
	if steps < 5 {
		t.Errorf("only %d steps", steps)
	}
	mustCheck(t, m)
}

func TestSamplesAreEven(t *testing.T) {
	m := newModel(t.Cleanup)
	// A skewed table: one slot has nearly everything.
	const keys = 8000
	index := map[string]int{}
	for i := range keys {
		p := 9
		if i%8 == 0 {
			p = i % SlotsPerTable
		}
		k := keyFor(p, numbered(i))
		index[string(k.Name)] = i
		m.set(k, String, nil, 0)
	}
	counts := make([]int, keys)
	const each = 100
	m.table.Sample(1, keys*each, func(k Key, _ Entry) { counts[index[string(k.Name)]]++ })
	// The sum of squares of a Poisson distribution over its mean is the number
	// of keys, give or take its root twice.
	chi := 0.0
	for _, n := range counts {
		chi += float64((n - each) * (n - each))
	}
	if chi /= each; chi > keys*1.15 {
		t.Errorf("chi square %.0f for %d keys", chi, keys)
	}
}

func TestOnlyExpiringKeysAreSampledAsSuch(t *testing.T) {
	m := newModel(t.Cleanup)
	m.table.SampleExpiring(1, 1, func(Key, Entry) { t.Error("a key of an empty table") })
	for i := range 5000 {
		m.set(keyFor(i%SlotsPerTable, numbered(i)), String, nil, 0)
	}
	for _, every := range []int{1000, 3} { // few, then many
		for i := 0; i < 5000; i += every {
			if err := m.expire(keyFor(i%SlotsPerTable, numbered(i)), m.now+int64(i)); err != nil {
				t.Fatal(err)
			}
		}
		seen := map[string]bool{}
		for random := range uint64(300) {
			m.table.SampleExpiring(random, 2, func(k Key, e Entry) {
				seen[string(k.Name)] = true
				if e.ExpireAt == 0 {
					t.Fatalf("key %q never expires", k.Name)
				}
			})
		}
		if want := min(m.table.Expiring(), 200); len(seen) < want {
			t.Errorf("%d keys seen of %d", len(seen), m.table.Expiring())
		}
	}
}

func TestRandomKeyFindsTheLastOne(t *testing.T) {
	m := newModel(t.Cleanup)
	if _, ok := m.table.RandomKey(1); ok {
		t.Fatal("a key of an empty table")
	}
	for i := range 30_000 {
		m.set(keyFor(i%SlotsPerTable, numbered(i)), String, nil, 0)
	}
	for i := range 29_999 {
		if err := m.delete(keyFor(i%SlotsPerTable, numbered(i))); err != nil {
			t.Fatal(err)
		}
	}
	for random := range uint64(100) {
		if k, ok := m.table.RandomKey(random); !ok || m.keys[string(k.Name)] == nil {
			t.Fatalf("random key %q, %v", k.Name, ok)
		}
	}
}

func TestAccessBitsAreKept(t *testing.T) {
	m := newModel(t.Cleanup)
	k := keyFor(0, "k")
	m.set(k, String, nil, 0)
	e, _ := m.table.Get(k)
	m.table.Touch(e, 5)
	if e, _ = m.table.Get(k); e.Access != 0 {
		t.Errorf("a record without room has access bits %d", e.Access)
	}
	m.table.KeepAccess(true)
	m.table.Stamp(1<<24 - 2)
	m.set(k, String, []byte("v"), 9)
	if e, _ = m.table.Get(k); e.Access != 1<<24-2 {
		t.Errorf("a new record is stamped %x", e.Access)
	}
	m.table.Touch(e, 0x123456)
	for _, change := range []func(){
		func() { m.set(k, String, make([]byte, 50), 9) },
		func() { _ = m.expire(k, 0) },
		func() { _ = m.append(k, make([]byte, 9000)) },
		func() { _ = m.expire(k, 10) },
	} {
		change()
		if e, _ = m.table.Get(k); e.Access != 0x123456 {
			t.Errorf("access bits became %x", e.Access)
		}
		mustCheck(t, m)
	}
}

func TestSizesAddUp(t *testing.T) {
	m := newModel(t.Cleanup)
	var sum int64
	for i := range 1000 {
		k := keyFor(i%SlotsPerTable, numbered(i))
		m.set(k, String, make([]byte, i*7), 0)
		sum += m.table.Size(k) - m.table.indexShare()
	}
	bySlot := int64(0)
	for p := range SlotsPerTable {
		bySlot += m.table.SlotBytes(slot.ID(p * Stripes))
	}
	if bySlot != sum {
		t.Errorf("keys have %d bytes, slots %d", sum, bySlot)
	}
	sum += m.table.indexPages * page.Size
	if sum != m.table.Bytes() || sum > m.table.Footprint() {
		t.Errorf("keys have %d bytes, the table %d of %d", sum, m.table.Bytes(), m.table.Footprint())
	}
	if m.table.Size(keyFor(0, "none")) != 0 {
		t.Error("a missing key has a size")
	}
}

func TestTheFarthestTimeIsKept(t *testing.T) {
	m := newModel(t.Cleanup)
	k := keyFor(0, "k")
	for at, want := range map[int64]int64{-5: 0, 0: 0, 1: 1, 1 << 48: 1 << 48, math.MaxInt64: math.MaxInt64} {
		m.table.SetRecord(k, String, nil, at)
		if e, _ := m.table.Get(k); e.ExpireAt != want {
			t.Errorf("%d became %d", at, e.ExpireAt)
		}
	}
}

// TestTheClockMayGoBack: what is overdue then is no more, and nothing is lost.
func TestTheClockMayGoBack(t *testing.T) {
	m := newModel(t.Cleanup)
	for i := range 100 {
		m.set(keyFor(i, "k"), String, nil, m.now+int64(i)*7)
	}
	start := m.now
	for _, now := range []int64{0, 300, 100, 50, 310, 100, 1000} {
		m.now = start + now
		// Ask without deleting, so that some are known as overdue.
		m.table.Due(m.now + 100)
		if err := m.due(); err != nil {
			t.Fatal(err)
		}
		mustCheck(t, m)
	}
	if m.table.Len() != 0 {
		t.Fatalf("%d keys never expire", m.table.Len())
	}
}
