package shard

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/slot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func lockKey(tx *Tx, name []byte) { tx.LockKeys([]store.Key{tx.Key(name)}) }

// write sets a key in a Tx of its own, as a server does; false when the gate
// is closed.
func write(tx *Tx, key, value string) bool {
	name := []byte(key)
	lockKey(tx, name)
	defer tx.Unlock()
	if tx.Gate() != 0 {
		return false
	}
	tx.SetString(name, []byte(value), 0)
	tx.EmitSet(name, []byte(value), 0)
	return true
}

func TestNoWriteAfterTheGateClosed(t *testing.T) {
	sp := NewSpace(Options{})
	sh := sp.Shards()[0]
	for round := range 20 {
		var stop atomic.Bool
		var writers sync.WaitGroup
		for w := range 8 {
			tx := sp.NewTx()
			writers.Go(func() {
				for i := 0; !stop.Load(); i++ {
					write(tx, fmt.Sprintf("key:%d:%d", w, i%1000), "v")
				}
			})
		}
		for sh.Last() < Sequence(100*(round+1)) { // until they are under way
			sp.NewTx().Overview()
		}
		sh.SetGate(GateReplica, true)
		last := sh.Last()
		for range 50 {
			sp.NewTx().Overview() // takes every lock: the writers run on
		}
		if now := sh.Last(); now != last {
			t.Fatalf("round %d: the last sequence was %d when the gate had closed, and %d later", round, last, now)
		}
		stop.Store(true)
		writers.Wait()
		if write(sp.NewTx(), "a", "1") {
			t.Fatal("a write passed the closed gate")
		}
		sh.SetGate(GateReplica, false)
		if !write(sp.NewTx(), "a", "1") {
			t.Fatal("the gate did not open again")
		}
	}
}

func TestGateKeepsOtherReasons(t *testing.T) {
	sh := NewSpace(Options{}).Shards()[0]
	sh.SetGate(GateReplica|GateUnsynced, true)
	sh.SetGate(GateUnsynced, false)
	if g := Gate(sh.gate.Load()); g != GateReplica {
		t.Errorf("gate is %b, want only GateReplica", g)
	}
}

// TestLogHasTheOrderOfExecution lets writers count in keys of all stripes and
// checks that the log holds every number once, without gap, and for each key
// in the order in which it was written.
func TestLogHasTheOrderOfExecution(t *testing.T) {
	const writers, each = 8, 2000
	sp := NewSpace(Options{LogBytes: 16 << 20})
	var wait sync.WaitGroup
	for w := range writers {
		tx := sp.NewTx()
		wait.Go(func() {
			for i := range each {
				// Two keys in two stripes: the locks overlap between writers.
				a, b := fmt.Appendf(nil, "k%d", i%7), fmt.Appendf(nil, "k%d", (i+w)%7)
				tx.LockSlots([]slot.ID{slot.Of(a), slot.Of(b)})
				for _, k := range [][]byte{a, b} {
					e, _ := tx.Find(k)
					next := append(slices.Clone(e.Value), 'x')
					if len(next) > 20 {
						next = next[:1]
					}
					tx.SetString(k, next, 0)
					tx.EmitSet(k, next, 0)
				}
				tx.Unlock()
			}
		})
	}
	wait.Wait()
	sh := sp.Shards()[0]
	if sh.Last() != writers*each {
		t.Fatalf("last sequence %d after %d records", sh.Last(), writers*each)
	}
	records, ok := sh.ReadLog(1, writers*each+1)
	if !ok || len(records) != writers*each {
		t.Fatalf("read %d records of %d (%v)", len(records), writers*each, ok)
	}
	length := map[string]int{}
	for seq, payload := range records {
		err := DecodeEffects(payload, func(_ int, args [][]byte) error {
			key, n := string(args[1]), len(args[2])
			if want := length[key]%20 + 1; n != want {
				return fmt.Errorf("record %d sets %s to length %d, want %d", seq+1, key, n, want)
			}
			length[key] = n
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestStripeKnowsItsLastSequence(t *testing.T) {
	sp := NewSpace(Options{})
	tx := sp.NewTx()
	write(tx, "a", "1")
	write(tx, "b", "1")
	sh := sp.Shards()[0]
	if a, b := sh.stripes[stripeOf(slot.OfString("a"))].last, sh.stripes[stripeOf(slot.OfString("b"))].last; a != 1 || b != 2 {
		t.Errorf("stripes have seen sequences %d and %d, want 1 and 2", a, b)
	}
}

func TestRingKeepsTheNewestRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(8, 200).Draw(t, "size")
		l := newRingLog(size)
		var all [][]byte
		for range rapid.IntRange(0, 60).Draw(t, "records") {
			p := rapid.SliceOfN(rapid.Byte(), 1, 60).Draw(t, "payload")
			all = append(all, p)
			if got := l.Append(p); got != Sequence(len(all)) {
				t.Fatalf("record %d got number %d", len(all), got)
			}
			kept, ok := l.Read(l.first, 1000)
			if !ok || !slices.EqualFunc(kept, all[l.first-1:], slices.Equal) {
				t.Fatalf("after %d records the ring gives %d from %d on, which differ", len(all), len(kept), l.first)
			}
			used := 0
			for _, r := range kept {
				used += ringHeader + len(r)
			}
			if used > size || uint64(used) != l.tail-l.head {
				t.Fatalf("%d bytes in a ring of %d", used, size)
			}
			if l.first > 1 {
				if _, ok := l.Read(l.first-1, 1); ok {
					t.Fatal("a record that was dropped can be read")
				}
			}
		}
	})
}

func FuzzDecodeEffects(f *testing.F) {
	good := appendEffectHead(nil, 3, 2)
	good = appendEffectArg(appendEffectArg(good, "DEL"), "key")
	f.Add(good)
	f.Add([]byte{0, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, payload []byte) {
		var again []byte
		err := DecodeEffects(payload, func(db int, args [][]byte) error {
			again = appendEffectHead(again, db, len(args))
			for _, a := range args {
				again = appendEffectArg(again, a)
			}
			return nil
		})
		if err == nil && len(again) > len(payload) {
			t.Errorf("%d bytes decode to effects of %d", len(payload), len(again))
		}
	})
}

// recorder is told of changes.
type recorder struct {
	mu     sync.Mutex
	events []string
}

func (r *recorder) Touched(db int, key []byte, cause Cause) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf("%d %q cause %d", db, key, cause))
}

func (r *recorder) Notify(db int, _ NotifyClass, event string, key []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf("%d %q %s", db, key, event))
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.events
	r.events = nil
	return e
}

func TestHooksHearOfEveryChange(t *testing.T) {
	var r recorder
	sp := NewSpace(Options{Databases: 2, Hooks: &r})
	tx := sp.NewTx()
	tx.Now, tx.DB = 1000, 1
	key := []byte("a")
	in := func(f func()) {
		lockKey(tx, key)
		defer tx.Unlock()
		f()
	}
	steps := []struct {
		name string
		do   func()
		want []string
	}{
		{"write", func() { in(func() { tx.SetString(key, []byte("1"), 0) }) }, []string{`1 "a" new`, `1 "a" cause 0`}},
		{"append", func() { in(func() { tx.Append(key, []byte("2")) }) }, []string{`1 "a" cause 0`}},
		{"expiry", func() { in(func() { tx.SetExpiry(key, 5000) }) }, []string{`1 "a" cause 0`}},
		{"read", func() { in(func() { tx.Lookup(key) }) }, nil},
		{"lazy expiry", func() { tx.Now = 5000; in(func() { tx.Lookup(key) }) },
			[]string{`1 "a" cause 1`, `1 "a" expired`, `1 "a" keymiss`}},
		{"write again", func() { in(func() { tx.SetString(key, nil, 6000) }) }, []string{`1 "a" new`, `1 "a" cause 0`}},
		{"nothing due", func() { tx.ExpireStep(5999, 10) }, nil},
		{"active expiry", func() { tx.ExpireStep(6000, 10) }, []string{`1 "a" cause 1`, `1 "a" expired`}},
		{"delete of nothing", func() { in(func() { tx.Delete(key) }) }, nil},
		{"write a third time", func() { in(func() { tx.SetString(key, nil, 0) }) }, []string{`1 "a" new`, `1 "a" cause 0`}},
		{"delete", func() { in(func() { tx.Delete(key) }) }, []string{`1 "a" cause 0`}},
		{"flush", func() { tx.LockAll(); tx.FlushAll(); tx.Unlock() }, []string{`0 "" cause 3`, `1 "" cause 3`}},
	}
	for _, s := range steps {
		s.do()
		if got := r.take(); !slices.Equal(got, s.want) {
			t.Errorf("%s: %q, want %q", s.name, got, s.want)
		}
	}
}

func keysIn(sp *Space) int { return sp.NewTx().Overview().Databases[0].Keys }

func TestOnlyTheWriterExpires(t *testing.T) {
	sp := NewSpace(Options{})
	tx := sp.NewTx()
	tx.Now = 1000
	key := []byte("a")
	lockKey(tx, key)
	tx.SetString(key, []byte("1"), 2000)
	tx.Unlock()
	sh := sp.Shards()[0]
	sh.SetGate(GateReplica, true)
	tx.Now = 3000
	lockKey(tx, key)
	if _, ok := tx.Lookup(key); ok {
		t.Error("a replica shows an expired key")
	}
	tx.Unlock()
	tx.ExpireStep(3000, 10)
	if n := keysIn(sp); n != 1 || sh.Last() != 0 {
		t.Errorf("a replica has %d keys and wrote %d records, want 1 and 0", n, sh.Last())
	}
	sh.SetGate(GateReplica, false)
	if tx.ExpireStep(3000, 10); keysIn(sp) != 0 || sh.Last() != 1 {
		t.Error("the writer did not expire the key and write it down")
	}
}

func TestExpireStepIsBounded(t *testing.T) {
	sp := NewSpace(Options{})
	tx := sp.NewTx()
	tx.Now = 1
	for i := range 100 {
		key := fmt.Appendf(nil, "{a}%d", i) // one stripe
		lockKey(tx, key)
		tx.SetString(key, nil, 10)
		tx.Unlock()
	}
	for want := 70; want >= 10; want -= 30 {
		if more := tx.ExpireStep(10, 30); !more || keysIn(sp) != want {
			t.Fatalf("%d keys left, more is %v; want %d and true", keysIn(sp), more, want)
		}
	}
	if more := tx.ExpireStep(10, 30); more || keysIn(sp) != 0 {
		t.Errorf("%d keys left, more is %v", keysIn(sp), more)
	}
}

// TestScanFindsWhatStays walks with changes between the calls, over several
// shards.
func TestScanFindsWhatStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sp := NewSpace(Options{Shards: 3, Seed: rapid.Uint64().Draw(t, "seed")})
		for id := range slot.ID(slot.Count) {
			sp.Assign(id, int(id)%3, SlotServed)
		}
		tx := sp.NewTx()
		stay := map[string]bool{}
		for i := range rapid.IntRange(0, 300).Draw(t, "keys") {
			key := fmt.Sprintf("stay%d", i)
			if i%2 == 0 {
				key = "{same}" + key
			}
			stay[key] = true
			write(tx, key, "v")
		}
		churn := 0
		cursor := uint64(0)
		for calls := 0; ; calls++ {
			if calls > 100000 {
				t.Fatal("the walk does not end")
			}
			cursor = tx.Scan(cursor, rapid.IntRange(1, 40).Draw(t, "count"), func(key []byte, _ store.Entry) { delete(stay, string(key)) })
			if cursor == 0 {
				break
			}
			if cursor >= 1<<53 {
				t.Fatalf("cursor %d has more bits than a client can carry", cursor)
			}
			for range rapid.IntRange(0, 60).Draw(t, "changes") {
				churn++
				write(tx, fmt.Sprintf("{same}churn%d", churn), "v")
				gone := fmt.Appendf(nil, "{same}churn%d", churn-rapid.IntRange(0, 100).Draw(t, "age"))
				lockKey(tx, gone)
				tx.Delete(gone)
				tx.Unlock()
			}
		}
		if len(stay) > 0 {
			t.Fatalf("%d keys that were there all the time were not found", len(stay))
		}
	})
}

func TestSlotCountsAndWalks(t *testing.T) {
	sp := NewSpace(Options{})
	tx := sp.NewTx()
	for i := range 50 {
		write(tx, fmt.Sprintf("{a}%d", i), "v")
		write(tx, fmt.Sprintf("{b}%d", i), "v")
	}
	id := slot.OfString("a")
	if n := tx.SlotBytes(id); n < 50*16 || n > 50*64 {
		t.Errorf("50 keys of a slot take %d bytes", n)
	}
	if n := tx.SlotLen(id); n != 50 {
		t.Errorf("slot has %d keys, want 50", n)
	}
	for _, limit := range []int{0, 1, 49, 50, 1000} {
		n := 0
		tx.VisitSlot(id, limit, func(key []byte) {
			if slot.Of(key) != id {
				t.Errorf("key %q is not in slot %d", key, id)
			}
			n++
		})
		if n != min(limit, 50) {
			t.Errorf("limit %d: %d keys", limit, n)
		}
	}
}

func TestLocksAreTakenInOrder(t *testing.T) {
	sp := NewSpace(Options{Shards: 2})
	var wait sync.WaitGroup
	for w := range 6 {
		tx := sp.NewTx()
		wait.Go(func() {
			for i := range 3000 {
				if w == 0 && i%50 == 0 {
					tx.LockAll()
				} else { // in any order, with repetitions
					tx.LockSlots([]slot.ID{slot.ID(i * 31 % 100), slot.ID(i * 17 % 100), slot.ID((i + w) % 100), 3})
				}
				tx.Unlock()
			}
		})
	}
	wait.Wait() // a deadlock ends the test binary
}

// laggingLog is durable up to where the test says.
type laggingLog struct {
	*ringLog
	durable atomic.Uint64
}

func (l *laggingLog) Durable() Sequence { return Sequence(l.durable.Load()) }

func TestPositionsCoverWhatWasWrittenAndSeen(t *testing.T) {
	logs := []*laggingLog{{ringLog: newRingLog(1 << 16)}, {ringLog: newRingLog(1 << 16)}}
	sp := NewSpace(Options{Shards: 2, NewLog: func(i int) Log { return logs[i] }})
	other := slot.OfString("b")
	sp.Assign(other, 1, SlotServed)
	tx := sp.NewTx()
	read := func(key string) []Position {
		lockKey(tx, []byte(key))
		tx.Find([]byte(key))
		tx.Unlock()
		return slices.Clone(tx.TakePositions())
	}
	if got := read("a"); !slices.Equal(got, []Position{{0, 0}}) || !sp.Durable(got[0]) {
		t.Errorf("before any write: %v", got)
	}
	write(tx, "a", "1")
	write(tx, "a", "2")
	write(tx, "b", "1")
	if got := tx.TakePositions(); !slices.Equal(got, []Position{{0, 2}, {1, 1}}) {
		t.Errorf("after writes to both shards: %v", got)
	}
	if got := read("a"); !slices.Equal(got, []Position{{0, 2}}) || sp.Durable(got[0]) {
		t.Errorf("a read of what is not durable: %v, durable %v", got, sp.Durable(got[0]))
	}
	logs[0].durable.Store(2)
	if got := read("a"); !sp.Durable(got[0]) {
		t.Error("the record is durable, its reader still waits")
	}
	tx.LockAll()
	tx.Unlock()
	if got := tx.TakePositions(); !slices.Equal(got, []Position{{0, 2}, {1, 1}}) {
		t.Errorf("after looking at everything: %v", got)
	}
}
