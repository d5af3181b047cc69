package shard

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/ds/chain"
	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
)

// remodeler makes random changes to large collections, as commands do.
type remodeler struct{ changer }

func (r *remodeler) number(label string, most int) int {
	return rapid.IntRange(0, most).Draw(r.T, label)
}

// element is an element, field or member, of which one in eight is long.
func (r *remodeler) element() []byte {
	n := r.number("element", 150)
	if n%8 == 0 {
		return fmt.Appendf(nil, "element:%0500d", n)
	}
	return fmt.Appendf(nil, "element:%d", n)
}

var listLimit = chain.LimitOf(1)

// fill makes a key a large collection, whatever it was.
func (r *remodeler) fill(name []byte) {
	tx := r.tx
	typ := rapid.SampledFrom([]store.Type{store.List, store.Set, store.ZSet, store.Hash}).Draw(r.T, "type")
	n := store.Content{Type: typ, ExpireAt: rapid.SampledFrom([]int64{0, 0, 0, tx.Now + 20}).Draw(r.T, "until")}
	switch typ {
	case store.List:
		n.Body = tx.NewList(name, listLimit)
	case store.ZSet:
		n.Body = tx.NewSorted(name)
	default:
		n.Body = tx.NewBody(name)
	}
	first, long := r.number("first", 100), r.number("long", 2)
	for i := range r.number("size", 150) + 1 {
		v := fmt.Appendf(nil, "element:%d", first+i)
		if long == 2 || (first+i)%8 == 0 {
			v = fmt.Appendf(nil, "element:%0500d", first+i)
		}
		switch typ {
		case store.List:
			n.Body.Items.PushBack(v)
		case store.ZSet:
			n.Body.SetScore(v, float64(i%9))
		case store.Set:
			n.Body.Members.Add(n.Body.Members.Key(v), store.String, nil)
		default:
			n.Body.Members.SetRecord(n.Body.Members.Key(v), store.String, v, 0)
		}
	}
	tx.Put(name, &n)
}

// edit changes a collection in its place; false when the key has none that is large.
func (r *remodeler) edit(name []byte) {
	tx := r.tx
	e, ok := tx.Find(name)
	if !ok || !e.Large() {
		return
	}
	body := tx.Body(name, &e)
	for range rapid.SampledFrom([]int{1, 1, 3, 40}).Draw(r.T, "edits") {
		if body.Len() == 0 {
			break
		}
		switch e.Type {
		case store.List:
			r.editList(value.ListOf(&e, body))
		case store.Set:
			r.editSet(value.SetOf(&e, body))
		case store.ZSet:
			r.editSortedSet(value.SortedSetOf(&e, body))
		case store.Hash:
			if r.editHash(name, &e, body) {
				return
			}
		}
	}
	if body.Len() == 0 {
		tx.Delete(name)
		return
	}
	tx.Changed(name, body)
}

func (r *remodeler) editList(l value.List) {
	v, i := r.element(), r.number("index", l.Len()-1)
	switch r.number("edit", 6) {
	case 0, 1:
		l.Push(v, i%2 == 0)
	case 2:
		l.Drop(i%2 == 0)
	case 3:
		l.Set(i, v)
	case 4:
		l.Insert(i, i%2 == 0, v)
	case 5:
		l.Remove(v, 2, i%2 == 0)
	case 6: // not too much of it
		l.Keep(i/8, l.Len()-i/8-i/16)
	}
}

func (r *remodeler) editSet(s value.Set) {
	switch r.number("edit", 2) {
	case 0:
		s.Add(r.element(), value.SetLimit{})
	case 1:
		s.Remove(r.element())
	case 2:
		member := s.Random(rapid.Uint64().Draw(r.T, "random"))
		s.Remove(bytes.Clone(member.Bytes()))
	}
}

func (r *remodeler) editSortedSet(z value.SortedSet) {
	switch r.number("edit", 3) {
	case 0, 1:
		z.Put(r.element(), float64(r.number("score", 20))/2, value.SortedSetLimit{})
	case 2:
		z.Remove(r.element())
	case 3:
		from := r.number("rank", z.Len()-1)
		z.RemoveRange(from, min(r.number("ranks", 12), z.Len()-from))
	}
}

// editHash ends the changes when it says so: the key was given the hash anew.
func (r *remodeler) editHash(name []byte, e *store.Entry, body *store.Body) (done bool) {
	tx := r.tx
	h := value.HashOf(e, body, tx.Now, tx.WakeAt(name, e))
	field := r.element()
	switch r.number("edit", 4) {
	case 0:
		v := r.element()
		if r.number("long", 5) == 0 {
			v = bytes.Repeat(v[:9], store.PinnedMin/8)
		}
		h.Set(field, v, false, value.HashLimit{})
	case 1:
		h.Set(field, r.element(), true, value.HashLimit{})
	case 2:
		h.Delete(field)
	default:
		if _, _, ok := h.Get(field); ok {
			h.SetTime(field, rapid.SampledFrom([]int64{0, tx.Now + 2, tx.Now + 1000}).Draw(r.T, "time"))
		}
	}
	if h.Drained() {
		return false
	}
	_, _, wakeAt := h.Content()
	if e.Timed && wakeAt != 0 {
		tx.ChangedFields(name, body, wakeAt)
		return false
	}
	if e.Timed == (wakeAt != 0) {
		return false
	}
	tx.Put(name, &store.Content{Type: store.Hash, Body: body, ExpireAt: e.ExpireAt, WakeAt: wakeAt})
	return true
}

func (r *remodeler) change() {
	tx := r.tx
	switch r.number("kind", 12) {
	case 0, 1:
		r.changer.change() // keys come, go and move
	case 2:
		tx.Now++
		tx.DB = r.number("db", 2)
		name := r.name("filled")
		defer r.lock(name)()
		tx.Find(name)
		r.fill(name)
	case 3, 4:
		tx.Now++
		r.transfer()
	case 5:
		r.whole()
	default:
		tx.Now++
		tx.DB = r.number("db", 2)
		name := r.name("edited")
		defer r.lock(name)()
		r.edit(name)
	}
}

// whole changes whole databases, and then gives memory back.
func (r *remodeler) whole() {
	tx := r.tx
	tx.LockAll()
	tx.DB = r.number("db", 2)
	switch r.number("whole", 3) {
	case 0:
		tx.FlushDB()
	case 1:
		tx.SwapDB(tx.DB, r.number("with", 2))
	}
	tx.Unlock()
	tx.Tidy(1 << 20)
}

// transfer renames or copies a key, and goes on with both.
func (r *remodeler) transfer() {
	tx := r.tx
	tx.DB = r.number("db", 2)
	from, to := r.name("from"), r.name("to")
	if bytes.Equal(from, to) {
		return
	}
	defer r.lock(from, to)()
	db := r.number("to db", 2)
	tx.Find(from)
	tx.FindIn(db, to)
	if r.number("copy", 2) == 0 {
		tx.CopyRecord(from, db, to)
	} else {
		tx.MoveRecord(from, db, to)
	}
	r.edit(from)
	tx.DB = db
	r.edit(to)
}

func (r *remodeler) fillAll() {
	for range r.number("filled keys", 10) + 2 {
		r.tx.DB = r.number("db", 2)
		name := r.name("filled")
		unlock := r.lock(name)
		r.fill(name)
		unlock()
	}
}

// small has a snapshot write even small collections in many pieces.
func small(s *Snapshot) { s.openFrom, s.stepBytes = 5, 100 }

// TestLargeCollectionsAreWrittenAsOfTheCut takes snapshots between random changes of
// large collections, which are written in many pieces.
func TestLargeCollectionsAreWrittenAsOfTheCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sp := NewSpace(Options{Databases: 3, Shards: 1, Seed: rapid.Uint64().Draw(t, "seed")})
		defer sp.pool.Close()
		tx := sp.NewTx()
		tx.Now = 1000
		r := &remodeler{changer{t, tx, rapid.SampledFrom([]int{4, 12}).Draw(t, "names")}}
		for range rapid.IntRange(1, 2).Draw(t, "snapshots") {
			for range r.number("before", 10) {
				r.change()
			}
			r.fillAll()
			takeSnapshot(t, tx, small, r.change)
		}
		checkEmptied(t, tx)
	})
}

// TestASnapshotInACollectionIsGivenUp ends snapshots somewhere, with large collections
// half written, moved and dropped.
func TestASnapshotInACollectionIsGivenUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sp := NewSpace(Options{Databases: 3})
		defer sp.pool.Close()
		tx := sp.NewTx()
		tx.Now = 1000
		r := &remodeler{changer{t, tx, 6}}
		r.fillAll()
		s := sp.BeginSnapshot(SnapshotOptions{})
		small(s)
		w := rdb.NewWriter(&bytes.Buffer{}, s.Version())
		for range r.number("steps", 60) {
			r.change()
			if more, err := s.Step(w); !more || err != nil {
				break
			}
		}
		s.Close()
		if p := s.Progress(); p.Waiting != 0 {
			t.Fatalf("%d bytes are waiting", p.Waiting)
		}
		for range 5 {
			r.change()
		}
		checkEmptied(t, tx)
	})
}

// checkEmptied empties a space, which then holds no memory.
func checkEmptied(t *rapid.T, tx *Tx) {
	tx.LockAll()
	tx.FlushAll()
	tx.Unlock()
	for tx.Tidy(1 << 20) {
	}
	if n := tx.space.PoolStats().InUse; n != 0 {
		t.Fatalf("%d bytes are still in use", n)
	}
}

// TestWhatIsEmptiedIsGivenBackDuringASnapshot empties databases with large collections,
// some of which are being written.
func TestWhatIsEmptiedIsGivenBackDuringASnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sp := NewSpace(Options{Databases: 3})
		defer sp.pool.Close()
		tx := sp.NewTx()
		r := &remodeler{changer{t, tx, 6}}
		r.fillAll()
		s := sp.BeginSnapshot(SnapshotOptions{})
		small(s)
		w := rdb.NewWriter(&bytes.Buffer{}, s.Version())
		for range r.number("steps", 10) {
			r.transfer()
			s.Step(w)
		}
		tx.LockAll()
		tx.FlushAll()
		tx.Unlock()
		for more := true; more; {
			tx.Tidy(1 << 20)
			more, _ = s.Step(w)
		}
		for tx.Tidy(1 << 20) {
		}
		if n := sp.PoolStats().InUse; n != 0 {
			t.Fatalf("%d bytes are in use before the snapshot is closed", n)
		}
		s.Close()
	})
}

// setOf makes a key a large set of so many members.
func setOf(tx *Tx, name []byte, members int) {
	n := store.Content{Type: store.Set, Body: tx.NewBody(name)}
	for i := range members {
		n.Body.Members.Add(n.Body.Members.Key(fmt.Appendf(nil, "element:%d", i)), store.String, nil)
	}
	tx.Put(name, &n)
}

// TestTheLastCollectionOfAnEmptiedDatabaseIsWritten: for some of the names the walk
// over the table is over when it has come to the collection, which is then begun.
func TestTheLastCollectionOfAnEmptiedDatabaseIsWritten(t *testing.T) {
	sp := NewSpace(Options{})
	defer sp.pool.Close()
	tx := sp.NewTx()
	for i := range 500 {
		name := fmt.Appendf(nil, "key:%d", i)
		tx.LockAll()
		setOf(tx, name, 100)
		tx.Unlock()
		s := sp.BeginSnapshot(SnapshotOptions{})
		small(s)
		tx.LockAll()
		tx.FlushAll()
		tx.Unlock()
		var out bytes.Buffer
		w := rdb.NewWriter(&out, s.Version())
		for more := true; more; {
			var err error
			if more, err = s.Step(w); err != nil {
				t.Fatal(err)
			}
			tx.Tidy(1 << 20)
		}
		s.Close()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := readFile(out.Bytes()); err != nil || len(got) != 1 {
			t.Fatalf("%s: %d keys are written, %v", name, len(got), err)
		}
	}
}

// TestAStepIsShortWhereAllWasHandedOver: there is little to write, and still the lock
// is not held for all of it.
func TestAStepIsShortWhereAllWasHandedOver(t *testing.T) {
	const (
		many     = 50_000
		stepsMin = 20
	)
	number := func(i int) []byte { return fmt.Appendf(nil, "{x}%d", i) }
	name := []byte("{x}k")
	tests := map[string]struct{ fill, change func(tx *Tx) }{
		"members of a set": {
			func(tx *Tx) { setOf(tx, name, many) },
			func(tx *Tx) {
				e, _ := tx.Find(name)
				m := tx.Body(name, &e).Members
				for i := range many {
					k := m.Key(fmt.Appendf(nil, "element:%d", i))
					m.Delete(k)
					m.Add(k, store.String, nil)
				}
			},
		},
		"members of a sorted set": {
			func(tx *Tx) {
				n := store.Content{Type: store.ZSet, Body: tx.NewSorted(name)}
				for i := range many {
					n.Body.SetScore(number(i), 0)
				}
				tx.Put(name, &n)
			},
			func(tx *Tx) {
				e, _ := tx.Find(name)
				for i := range many {
					tx.Body(name, &e).SetScore(number(i), 1)
				}
			},
		},
		"keys": {
			func(tx *Tx) {
				for i := range many {
					tx.SetString(number(i), nil, 0)
				}
			},
			func(tx *Tx) {
				for i := range many {
					tx.SetString(number(i), []byte("x"), 0)
				}
			},
		},
	}
	for what, tt := range tests {
		sp := NewSpace(Options{})
		tx := sp.NewTx()
		inLock := func(do func(tx *Tx)) {
			tx.LockKeys([]store.Key{tx.Key(name)})
			do(tx)
			tx.Unlock()
		}
		inLock(tt.fill)
		s := sp.BeginSnapshot(SnapshotOptions{})
		inLock(tt.change)
		w := rdb.NewWriter(&bytes.Buffer{}, s.Version())
		steps := 0
		for more := true; more; steps++ {
			var err error
			if more, err = s.Step(w); err != nil {
				t.Fatal(err)
			}
		}
		if p := s.Progress(); steps-Stripes < stepsMin || p.Written != p.Total {
			t.Errorf("%s: %d steps over %d stripes, %+v", what, steps, Stripes, p)
		}
		s.Close()
		sp.pool.Close()
	}
}
