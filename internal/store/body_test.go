package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/ds/chain"
	"github.com/bowline-kv/bowline/internal/page"
)

// bodyModel is a few tables with collections as plain maps, beside the real ones.
type bodyModel struct {
	tables [2]*Table
	keys   [2]map[string]*bodyRecord
	now    int64
}

type bodyRecord struct {
	packed   []byte
	members  map[string]string // nil: packed
	expireAt int64
	wakeAt   int64 // 0: not timed
}

func newBodyModel(pool *page.Pool) *bodyModel {
	m := &bodyModel{now: 1_800_000_000_000}
	for i := range m.tables {
		m.tables[i] = NewTable(pool, testSeed)
		m.keys[i] = map[string]*bodyRecord{}
	}
	return m
}

func (m *bodyModel) check() error {
	for i, t := range m.tables {
		if err := t.check(); err != nil {
			return err
		}
		if t.Len() != len(m.keys[i]) {
			return fmt.Errorf("table %d has %d keys, want %d", i, t.Len(), len(m.keys[i]))
		}
		expiring := 0
		for name, want := range m.keys[i] {
			if want.expireAt != 0 {
				expiring++
			}
			e, ok := t.Get(t.Key([]byte(name)))
			if !ok || e.Type != Hash || e.ExpireAt != want.expireAt || e.Timed != (want.wakeAt != 0) || e.Large() != (want.members != nil) {
				return fmt.Errorf("%q is %+v, want %+v", name, e, want)
			}
			if want.members == nil {
				if !bytes.Equal(e.Value, want.packed) {
					return fmt.Errorf("%q holds %q, want %q", name, e.Value, want.packed)
				}
				continue
			}
			found := map[string]string{}
			t.Body(&e).Members.Each(func(k Key, e Entry) { found[string(k.Name)] = string(e.Value) })
			if !maps.Equal(found, want.members) {
				return fmt.Errorf("%q has members %q, want %q", name, found, want.members)
			}
		}
		if t.Expiring() != expiring {
			return fmt.Errorf("%d keys expire, want %d", t.Expiring(), expiring)
		}
	}
	return nil
}

func (m *bodyModel) key(t *rapid.T) (int, Key) {
	i := rapid.IntRange(0, 1).Draw(t, "table")
	return i, keyFor(rapid.IntRange(0, 3).Draw(t, "key"), "k")
}

func (m *bodyModel) put(t *rapid.T) {
	i, k := m.key(t)
	r := &bodyRecord{}
	n := Content{Type: Hash}
	if rapid.Bool().Draw(t, "expires") {
		r.expireAt = m.now + rapid.Int64Range(1, 1000).Draw(t, "expireAt")
	}
	if rapid.Bool().Draw(t, "timed") {
		r.wakeAt = m.now + rapid.Int64Range(1, 1000).Draw(t, "wakeAt")
	}
	n.ExpireAt, n.WakeAt = r.expireAt, r.wakeAt
	old := m.keys[i][string(k.Name)]
	switch rapid.IntRange(0, 2).Draw(t, "form") {
	case 0:
		r.packed = rapid.SliceOfN(rapid.Byte(), 0, 6000).Draw(t, "packed")
		n.Value = r.packed
	case 1:
		r.members = map[string]string{}
		n.Body = m.tables[i].NewBody()
	default: // as it is, with other times
		if old == nil {
			return
		}
		r.packed, r.members = old.packed, old.members
		if e, _ := m.tables[i].Get(k); e.Large() {
			n.Body = m.tables[i].Body(&e)
		} else {
			n.Value = bytes.Clone(e.Value)
		}
	}
	m.tables[i].Put(k, &n)
	m.keys[i][string(k.Name)] = r
}

func (m *bodyModel) change(t *rapid.T) {
	i, k := m.key(t)
	r := m.keys[i][string(k.Name)]
	if r == nil || r.members == nil {
		return
	}
	e, _ := m.tables[i].Get(k)
	b := m.tables[i].Body(&e)
	from := rapid.IntRange(0, 2000).Draw(t, "from")
	n := rapid.IntRange(0, 400).Draw(t, "n")
	remove := rapid.Bool().Draw(t, "remove")
	for j := from; j < from+n; j++ {
		name := numbered(j)
		if remove {
			b.Members.Delete(b.Members.Key([]byte(name)))
			delete(r.members, name)
		} else {
			b.Members.SetRecord(b.Members.Key([]byte(name)), String, []byte(name), 0)
			r.members[name] = name
		}
	}
	m.tables[i].Account(k.Slot, b)
}

func (m *bodyModel) move(t *rapid.T) {
	i, k := m.key(t)
	r := m.keys[i][string(k.Name)]
	if r == nil || r.members == nil {
		return
	}
	to := keyFor(rapid.IntRange(4, 6).Draw(t, "to"), "k")
	n := Content{Type: Hash, ExpireAt: r.expireAt, WakeAt: r.wakeAt}
	if rapid.Bool().Draw(t, "copy") {
		e, _ := m.tables[i].Get(k)
		n.Body = m.tables[1-i].Clone(m.tables[i].Body(&e))
	} else {
		n.Body = m.tables[i].Detach(k)
		delete(m.keys[i], string(k.Name))
	}
	m.tables[1-i].Put(to, &n)
	m.keys[1-i][string(to.Name)] = &bodyRecord{members: maps.Clone(r.members), expireAt: r.expireAt, wakeAt: r.wakeAt}
}

func (m *bodyModel) expire(t *rapid.T) {
	i, k := m.key(t)
	at := int64(0)
	if rapid.Bool().Draw(t, "expires") {
		at = m.now + rapid.Int64Range(1, 1000).Draw(t, "at")
	}
	if r := m.keys[i][string(k.Name)]; m.tables[i].SetExpiry(k, at) && r != nil {
		r.expireAt = at
	}
}

// due plays what a shard does: it deletes keys whose time is over, and sets a
// new time to wake for the others.
func (m *bodyModel) due(t *rapid.T) {
	m.now += rapid.Int64Range(0, 500).Draw(t, "later")
	for i, table := range m.tables {
		for {
			k, ok := table.Due(m.now)
			if !ok && table.Behind(m.now) {
				continue
			}
			if !ok {
				break
			}
			name := string(k.Name)
			if r := m.keys[i][name]; r.expireAt != 0 && r.expireAt <= m.now {
				table.Delete(k)
				delete(m.keys[i], name)
			} else if r.wakeAt == 0 {
				t.Fatalf("%q of time %d is due at %d", name, r.expireAt, m.now)
			} else {
				r.wakeAt = m.now + 100
				table.Wake(k, r.wakeAt)
			}
		}
		for name, r := range m.keys[i] {
			if r.expireAt != 0 && r.expireAt <= m.now || r.wakeAt != 0 && r.wakeAt <= m.now {
				t.Fatalf("%q with times %d and %d is not due at %d", name, r.expireAt, r.wakeAt, m.now)
			}
		}
	}
}

func TestCollectionsOverAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := page.New()
		defer pool.Close()
		m := newBodyModel(pool)
		t.Repeat(map[string]func(*rapid.T){
			"put":    m.put,
			"change": m.change,
			"move":   m.move,
			"expire": m.expire,
			"due":    m.due,
			"delete": func(t *rapid.T) {
				i, k := m.key(t)
				m.tables[i].Delete(k)
				delete(m.keys[i], string(k.Name))
			},
			"string": func(t *rapid.T) {
				i, k := m.key(t)
				m.tables[i].SetRecord(k, String, []byte("v"), 0)
				m.tables[i].Delete(k)
				delete(m.keys[i], string(k.Name))
			},
			"step": func(t *rapid.T) {
				m.tables[0].Step(rapid.IntRange(1, 5000).Draw(t, "budget"))
			},
			"flush": func(t *rapid.T) {
				for d := m.tables[1].Release(); d.Step(100); {
				}
				clear(m.keys[1])
			},
			"": func(t *rapid.T) {
				if err := m.check(); err != nil {
					t.Fatal(err)
				}
			},
		})
		for _, table := range m.tables {
			table.Clear()
		}
		if n := pool.Stats().InUse; n != 0 {
			t.Fatalf("%d bytes are not given back", n)
		}
	})
}

// TestALargeCollectionIsFreedInSteps: its key goes at once, its pages do not.
func TestALargeCollectionIsFreedInSteps(t *testing.T) {
	table, pool := newTestTable(t.Cleanup)
	k := keyFor(1, "k")
	b := table.NewBody()
	for i := range 100_000 {
		b.Members.SetRecord(b.Members.Key([]byte(numbered(i))), String, []byte("0123456789"), 0)
	}
	table.Put(k, &Content{Type: Set, Body: b})
	full := pool.Stats().InUse
	if !table.Delete(k) || table.Bytes() != 0 || table.Len() != 0 {
		t.Fatalf("%d keys of %d bytes are left", table.Len(), table.Bytes())
	}
	if now := pool.Stats().InUse; now < full*9/10 {
		t.Errorf("%d of %d bytes went at once", full-now, full)
	}
	steps := 0
	for table.Step(100) {
		steps++
	}
	if steps < 10 || pool.Stats().InUse != 0 {
		t.Errorf("%d bytes are left after %d steps", pool.Stats().InUse, steps)
	}
}

func TestNextDueIsNeverLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := page.New()
		defer pool.Close()
		table := newMembers(pool, testSeed)
		now := int64(1_800_000_000_000)
		times := rapid.SliceOfN(rapid.Int64Range(1, 1<<rapid.IntRange(1, 40).Draw(t, "bits")), 1, 50).Draw(t, "times")
		table.Due(now)
		for i, at := range times {
			table.SetRecord(table.Key([]byte(numbered(i))), String, nil, now+at)
		}
		first := now + slices.Min(times)
		for rounds := 0; now < first; rounds++ {
			next := table.NextDue(now)
			if next <= now || next > first {
				t.Fatalf("next is %d after %d, first due at %d", next, now, first)
			}
			if rounds > 200 {
				t.Fatalf("it takes more than %d rounds to get to %d", rounds, first-now)
			}
			now = next
			for {
				if _, ok := table.Due(now); ok || !table.Behind(now) {
					break
				}
			}
		}
		if _, ok := table.Due(now); !ok {
			t.Fatalf("nothing is due at %d", now)
		}
		table.Clear()
		if table.NextDue(now) != 0 {
			t.Fatal("an empty table has a time")
		}
	})
}

// TestMemoryOfListsComesBack: nodes leave the chunks that the pool wants back.
func TestMemoryOfListsComesBack(t *testing.T) {
	table, pool := newTestTable(t.Cleanup)
	element := bytes.Repeat([]byte("x"), 100)
	for i := range 600 {
		b := table.NewList(chain.LimitOf(-2))
		for range 2000 {
			b.Items.PushBack(element)
		}
		table.Put(keyFor(i%SlotsPerTable, numbered(i)), &Content{Type: List, Body: b})
	}
	full := pool.Stats().Mapped
	for i := range 600 {
		if i%10 != 0 {
			table.Delete(keyFor(i%SlotsPerTable, numbered(i)))
		}
	}
	for range 2000 {
		table.Step(10_000)
		pool.Trim()
	}
	if err := table.check(); err != nil {
		t.Fatal(err)
	}
	if now := pool.Stats().Mapped; now > full*4/10 {
		t.Errorf("%d of %d bytes are held", now, full)
	}
	e, _ := table.Get(keyFor(0, numbered(0)))
	if items := table.Body(&e).Items; items.Len() != 2000 || !items.Get(items.At(1234)).Equal(element) {
		t.Error("a list was changed by moving")
	}
}

// TestBackgroundWorkBeginsAnewAfterTheLastBody: it used to look for the body at which
// it had stopped, in a list that had become shorter.
func TestBackgroundWorkBeginsAnewAfterTheLastBody(t *testing.T) {
	table, _ := newTestTable(t.Cleanup)
	const many = 3 * bodiesPerStep
	put := func(n int) {
		for i := range n {
			table.Put(keyFor(0, numbered(i)), &Content{Type: Set, Body: table.NewBody()})
		}
	}
	put(many)
	table.Step(1)
	for i := range many {
		table.Delete(keyFor(0, numbered(i)))
	}
	put(2)
	table.Step(1)
	if err := table.check(); err != nil {
		t.Fatal(err)
	}
}
