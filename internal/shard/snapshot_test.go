package shard

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/ds/chain"
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
)

// file gathers what is in a snapshot file, each key as one line.
type file struct {
	keys  map[string]string
	key   string
	until int64
	value content
	twice string
}

// content is a value: its elements, as text.
type content struct {
	kind     rdb.Kind
	elements []string
}

func (c *content) add(e *rdb.Element) {
	c.elements = append(c.elements, fmt.Sprintf(" %s=%s@%v/%d", e.Value, e.Second, e.Score, e.ExpireAt))
}

// text is the value with its elements in order, of what has none sorted.
func (c *content) text(until int64) string {
	if c.kind != rdb.List {
		slices.Sort(c.elements)
	}
	return fmt.Sprintf("until %d: %d%s", until, c.kind, strings.Join(c.elements, ""))
}

func (f *file) Key(k *rdb.Key) error {
	f.key, f.until = fmt.Sprintf("%d %s", k.DB, k.Name), k.ExpireAt
	return nil
}

func (f *file) Begin(kind rdb.Kind, _ uint64) error {
	f.value = content{kind: kind}
	return nil
}

func (f *file) Element(e *rdb.Element) error {
	f.value.add(e)
	return nil
}

func (f *file) End() error {
	if _, twice := f.keys[f.key]; twice {
		f.twice = f.key
	}
	f.keys[f.key] = f.value.text(f.until)
	return nil
}

func readFile(b []byte) (map[string]string, error) {
	f := &file{keys: map[string]string{}}
	err := rdb.Read(bytes.NewReader(b), f, rdb.Options{})
	if err == nil && f.twice != "" {
		err = fmt.Errorf("%q comes twice", f.twice)
	}
	return f.keys, err
}

// fileOf writes a snapshot to its end, and closes it.
func fileOf(t *testing.T, s *Snapshot) []byte {
	t.Helper()
	var out bytes.Buffer
	w := rdb.NewWriter(&out, s.Version())
	for more := true; more; {
		var err error
		if more, err = s.Step(w); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// contentNow is what a file of this moment should hold.
func contentNow(tx *Tx) map[string]string {
	all := map[string]string{}
	tx.LockAll()
	defer tx.Unlock()
	for _, sh := range tx.space.shards {
		for i := range sh.stripes {
			for db, t := range sh.stripes[i].tables {
				if t != nil {
					t.Each(func(k store.Key, e store.Entry) {
						all[fmt.Sprintf("%d %s", db, k.Name)] = contentOf(t, &e)
					})
				}
			}
		}
	}
	return all
}

func contentOf(t *store.Table, e *store.Entry) string {
	var body *store.Body
	if e.Large() {
		body = t.Body(e)
	}
	text := func(e pack.Element) []byte { return value.Text(e, make([]byte, value.TextMax)) }
	c := content{}
	switch e.Type {
	case store.String:
		c.kind = rdb.String
		c.add(&rdb.Element{Value: e.Value})
	case store.List:
		c.kind = rdb.List
		value.VisitList(e, body, func(e pack.Element) bool {
			c.add(&rdb.Element{Value: text(e)})
			return true
		})
	case store.Set:
		c.kind = rdb.Set
		value.VisitSet(e, body, func(e pack.Element) bool {
			c.add(&rdb.Element{Value: text(e)})
			return true
		})
	case store.ZSet:
		c.kind = rdb.ZSet
		value.VisitSortedSet(e, body, func(e pack.Element, score float64) bool {
			c.add(&rdb.Element{Value: text(e), Score: score})
			return true
		})
	case store.Hash:
		c.kind = rdb.Hash
		value.VisitHash(e, body, 0, func(field, v pack.Element, at int64) bool {
			c.add(&rdb.Element{Value: text(field), Second: text(v), ExpireAt: at})
			return true
		})
	}
	return c.text(e.ExpireAt)
}

// changer makes random changes to strings.
type changer struct {
	*rapid.T
	tx    *Tx
	names int
}

func (c *changer) name(label string) []byte {
	return fmt.Appendf(nil, "key:%d", rapid.IntRange(0, c.names-1).Draw(c.T, label))
}

func (c *changer) lock(names ...[]byte) func() {
	keys := make([]store.Key, len(names))
	for i := range names {
		keys[i] = c.tx.Key(names[i])
	}
	c.tx.LockKeys(keys)
	return c.tx.Unlock
}

func (c *changer) change() {
	tx := c.tx
	tx.Now++
	tx.DB = rapid.IntRange(0, 2).Draw(c.T, "db")
	a, b := c.name("a"), c.name("b")
	what := rapid.IntRange(0, 13).Draw(c.T, "what")
	switch what {
	case 0, 1, 2:
		defer c.lock(a)()
		size := rapid.SampledFrom([]int{1, 30, 5000, store.PinnedMin + 1}).Draw(c.T, "size")
		until := rapid.SampledFrom([]int64{0, 0, tx.Now + 3}).Draw(c.T, "until")
		tx.SetString(a, bytes.Repeat([]byte{'a' + byte(tx.Now%26)}, size), until)
		tx.EmitSet(a, nil, 0)
	case 3:
		defer c.lock(a)()
		if tx.Delete(a) {
			tx.EmitDel(a)
		}
	case 4:
		defer c.lock(a)()
		if e, ok := tx.Find(a); ok && e.Type == store.String {
			if what := tx.Now % 3; what == 0 {
				tx.SetFound(a, &e, []byte("found"))
			} else if what == 1 {
				tx.Append(a, []byte("more"))
			} else {
				tx.Replace(a, &e, bytes.Repeat([]byte{'r'}, len(e.Value)))
			}
			tx.EmitDel(a)
		}
	case 5:
		defer c.lock(a)()
		if _, ok := tx.Find(a); ok {
			tx.SetExpiry(a, tx.Now+rapid.Int64Range(0, 20).Draw(c.T, "ttl")*100)
			tx.EmitDel(a)
		}
	case 6:
		defer c.lock(a)()
		if e, ok := tx.Find(a); ok && e.Type != store.String {
			return
		}
		tx.Patch(a, 3, []byte("patch"))
		tx.Extend(a, 20)
		tx.EmitDel(a)
	case 7:
		if bytes.Equal(a, b) {
			return
		}
		defer c.lock(a, b)()
		to := rapid.IntRange(0, 2).Draw(c.T, "to")
		tx.Find(a)
		tx.FindIn(to, b)
		if tx.Now%2 == 0 {
			tx.CopyRecord(a, to, b)
		} else {
			tx.MoveRecord(a, to, b)
		}
	case 8:
		tx.LockAll()
		defer tx.Unlock()
		tx.SwapDB(0, rapid.IntRange(0, 2).Draw(c.T, "with"))
	case 9:
		if rapid.IntRange(0, 9).Draw(c.T, "really") > 0 {
			return
		}
		tx.LockAll()
		defer tx.Unlock()
		if tx.Now%3 == 0 {
			tx.FlushAll()
		} else {
			tx.FlushDB()
		}
	case 10:
		tx.ExpireStep(tx.Now, 3)
	case 11:
		tx.Tidy(100)
	case 12:
		for i := range rapid.IntRange(0, 2*c.names).Draw(c.T, "many") {
			name := fmt.Appendf(nil, "key:%d", (int(tx.Now)+i)%c.names)
			unlock := c.lock(name)
			if what := (int(tx.Now) + i/100) % 2; what == 0 {
				tx.SetString(name, []byte("many"), 0)
			} else {
				tx.Delete(name)
			}
			unlock()
		}
	case 13:
		tx.space.SetMemory(Memory{Limit: 1, Policy: AllKeysRandom})
		tx.MakeRoom()
		tx.space.SetMemory(Memory{})
	}
}

// TestASnapshotIsTheSpaceAtItsCut takes snapshots between random changes of all
// kinds.
func TestASnapshotIsTheSpaceAtItsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sp := NewSpace(Options{Databases: 3, Shards: 1, Seed: rapid.Uint64().Draw(t, "seed")})
		defer sp.pool.Close()
		tx := sp.NewTx()
		tx.Now = 1000
		c := &changer{t, tx, rapid.SampledFrom([]int{5, 200, 2000}).Draw(t, "names")}
		for range rapid.IntRange(1, 3).Draw(t, "snapshots") {
			for range rapid.IntRange(0, 30).Draw(t, "before") {
				c.change()
			}
			takeSnapshot(t, tx, func(*Snapshot) {}, c.change)
		}
	})
}

// takeSnapshot writes a snapshot, with changes between its steps, and compares it with
// what was there when it began.
func takeSnapshot(t *rapid.T, tx *Tx, set func(*Snapshot), change func()) {
	want := contentNow(tx)
	s := tx.space.BeginSnapshot(SnapshotOptions{Compress: rapid.Bool().Draw(t, "compress")})
	set(s)
	if tx.space.BeginSnapshot(SnapshotOptions{}) != nil {
		t.Fatal("a second snapshot began")
	}
	var out bytes.Buffer
	w := rdb.NewWriter(&out, s.Version())
	left := 40
	for more := true; more; {
		for range rapid.IntRange(0, 3).Draw(t, "between") {
			if left--; left > 0 {
				change()
			}
		}
		var err error
		if more, err = s.Step(w); err != nil {
			t.Fatal(err)
		}
	}
	if p := s.Progress(); p.Waiting != 0 || p.Written != p.Total || p.Total != int64(len(want)) {
		t.Fatalf("progress %+v of %d keys", p, len(want))
	}
	s.Close()
	s.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := readFile(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, want) {
		for name, v := range want {
			if got[name] != v {
				t.Logf("%s is %.300s, was %.300s", name, got[name], v)
			}
		}
		t.Fatalf("%d keys are written, %d were there", len(got), len(want))
	}
	checkLoad(t, out.Bytes(), want)
}

// checkLoad loads a file into a new space, which must have the same content.
func checkLoad(t *rapid.T, b []byte, want map[string]string) {
	sp := NewSpace(Options{Databases: 3})
	defer sp.pool.Close()
	l := sp.NewLoader(1, value.Limits{List: chain.LimitOf(-2)})
	if err := errors.Join(rdb.Read(bytes.NewReader(b), l, rdb.Options{}), l.Close()); err != nil {
		t.Fatal(err)
	}
	if got := contentNow(sp.NewTx()); !maps.Equal(got, want) || l.Loaded != int64(len(want)) {
		t.Fatalf("%d keys are loaded, %d are there, want %d", l.Loaded, len(got), len(want))
	}
}

// TestASnapshotThatIsGivenUpLeavesNothing ends snapshots somewhere.
func TestASnapshotThatIsGivenUpLeavesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sp := NewSpace(Options{Databases: 3})
		tx := sp.NewTx()
		tx.Now = 1000
		c := &changer{t, tx, 300}
		for range 20 {
			c.change()
		}
		s := sp.BeginSnapshot(SnapshotOptions{})
		w := rdb.NewWriter(&bytes.Buffer{}, s.Version())
		for range rapid.IntRange(0, 80).Draw(t, "steps") {
			if more, _ := s.Step(w); !more {
				break
			}
			c.change()
		}
		s.Close()
		for i := range sp.shards[0].stripes {
			if sp.shards[0].stripes[i].capture != nil {
				t.Fatal("a stripe still captures")
			}
		}
		tx.LockAll()
		tx.FlushAll()
		tx.Unlock()
		for tx.Tidy(1 << 20) {
		}
		if n := sp.PoolStats().InUse; n != 0 {
			t.Fatalf("%d bytes are still in use", n)
		}
	})
}

// TestPairsAreWholeInASnapshot has writers that change two keys at once.
func TestPairsAreWholeInASnapshot(t *testing.T) {
	sp := NewSpace(Options{})
	defer sp.pool.Close()
	const pairs = 2000
	set := func(tx *Tx, i, v int) {
		a, b := fmt.Appendf(nil, "a:%d", i), fmt.Appendf(nil, "b:%d", i)
		tx.LockKeys([]store.Key{tx.Key(a), tx.Key(b)})
		defer tx.Unlock()
		text := fmt.Appendf(nil, "%d", v)
		tx.SetString(a, text, 0)
		tx.SetString(b, text, 0)
	}
	tx := sp.NewTx()
	for i := range pairs {
		set(tx, i, 0)
	}
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for n := range 2 {
		writers.Go(func() {
			tx := sp.NewTx()
			for v := 1; ; v++ {
				select {
				case <-stop:
					return
				default:
					set(tx, (v*7+n*13)%pairs, v)
				}
			}
		})
	}
	defer writers.Wait()
	defer close(stop)
	for range 20 {
		s := sp.BeginSnapshot(SnapshotOptions{})
		content := fileOf(t, s)
		got, err := readFile(content)
		if err != nil || len(got) != 2*pairs {
			t.Fatalf("%d keys, %v", len(got), err)
		}
		for i := range pairs {
			if a, b := got[fmt.Sprintf("0 a:%d", i)], got[fmt.Sprintf("0 b:%d", i)]; a != b {
				t.Fatalf("pair %d is torn: %s and %s", i, a, b)
			}
		}
	}
}
