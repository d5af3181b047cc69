package shard

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/bowline-kv/bowline/internal/ds/chain"
	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/slot"
)

// trio is a hash, a sorted set and a list that say the same.
type trio struct {
	tx    *Tx
	names [3][]byte
}

const trioSize = 1200

func trioOf(tx *Tx, n int) trio {
	return trio{tx, [3][]byte{fmt.Appendf(nil, "hash:%d", n), fmt.Appendf(nil, "zset:%d", n), fmt.Appendf(nil, "list:%d", n)}}
}

func (c *trio) lock(more ...[]byte) func() {
	keys := make([]store.Key, 0, 6)
	for _, name := range append(more, c.names[:]...) {
		keys = append(keys, c.tx.Key(name))
	}
	c.tx.LockKeys(keys)
	return c.tx.Unlock
}

func (c *trio) make() {
	defer c.lock()()
	tx := c.tx
	bodies := [3]*store.Body{tx.NewBody(c.names[0]), tx.NewSorted(c.names[1]), tx.NewList(c.names[2], chain.LimitOf(-1))}
	for i := range trioSize {
		name := fmt.Appendf(nil, "%0200d", i)
		bodies[0].Members.SetRecord(bodies[0].Members.Key(name), store.String, []byte("0"), 0)
		bodies[1].SetScore(name, 0)
		bodies[2].Items.PushBack([]byte("0"))
	}
	for i, typ := range []store.Type{store.Hash, store.ZSet, store.List} {
		tx.Put(c.names[i], &store.Content{Type: typ, Body: bodies[i]})
	}
}

// set gives an element of all three a value, if they are there.
func (c *trio) set(i, v int) {
	defer c.lock()()
	tx := c.tx
	name, text := fmt.Appendf(nil, "%0200d", i), fmt.Appendf(nil, "%d", v)
	var bodies [3]*store.Body
	for i, name := range c.names {
		e, ok := tx.Find(name)
		if !ok {
			return
		}
		bodies[i] = tx.Body(name, &e)
	}
	bodies[0].Members.SetRecord(bodies[0].Members.Key(name), store.String, text, 0)
	bodies[1].SetScore(name, float64(v))
	bodies[2].Items.Set(bodies[2].Items.At(i), text)
	for i, name := range c.names {
		tx.Changed(name, bodies[i])
	}
}

// rename renames all three.
func (c *trio) rename(to trio) {
	defer c.lock(to.names[:]...)()
	for i, name := range c.names {
		if _, ok := c.tx.Find(name); !ok {
			return
		}
		c.tx.FindIn(0, to.names[i])
		c.tx.MoveRecord(name, 0, to.names[i])
	}
}

// trioFile reads a file that has one trio.
type trioFile struct {
	values [3][trioSize]string
	index  int // in a list
	kind   rdb.Kind
	keys   int
}

func (f *trioFile) Key(*rdb.Key) error { return nil }

func (f *trioFile) Begin(kind rdb.Kind, _ uint64) error {
	f.kind, f.index = kind, 0
	f.keys++
	return nil
}

func (f *trioFile) Element(e *rdb.Element) error {
	n := 0
	if f.kind != rdb.List {
		fmt.Sscanf(string(e.Value), "%d", &n)
	}
	switch f.kind {
	case rdb.Hash:
		f.values[0][n] += string(e.Second)
	case rdb.ZSet:
		f.values[1][n] += fmt.Sprint(int(e.Score))
	default:
		f.values[2][f.index] += string(e.Value)
		f.index++
	}
	return nil
}

func (f *trioFile) End() error { return nil }

// TestCollectionsAgreeInASnapshot has writers that change elements of three
// collections at once, others that rename them all, and the background's work.
func TestCollectionsAgreeInASnapshot(t *testing.T) {
	sp := NewSpace(Options{})
	defer sp.pool.Close()
	first := trioOf(sp.NewTx(), 0)
	first.make()
	stop := make(chan struct{})
	var workers sync.WaitGroup
	work := func(do func(tx *Tx, v int)) {
		workers.Go(func() {
			tx := sp.NewTx()
			for v := 1; ; v++ {
				select {
				case <-stop:
					return
				default:
					do(tx, v)
				}
			}
		})
	}
	work(func(tx *Tx, v int) {
		c := trioOf(tx, v%2)
		c.set(v*7919%trioSize, v)
	})
	work(func(tx *Tx, v int) {
		c := trioOf(tx, v%2)
		c.set(v*104729%trioSize, v)
	})
	work(func(tx *Tx, v int) {
		c := trioOf(tx, v%2)
		c.rename(trioOf(tx, (v+1)%2))
		tx.Tidy(200)
	})
	defer workers.Wait()
	defer close(stop)
	for range 10 {
		s := sp.BeginSnapshot(SnapshotOptions{})
		s.stepBytes = 2000
		content := fileOf(t, s)
		f := &trioFile{}
		if err := rdb.Read(bytes.NewReader(content), f, rdb.Options{}); err != nil || f.keys != 3 {
			t.Fatalf("%d keys, %v", f.keys, err)
		}
		for i := range trioSize {
			if v := [3]string{f.values[0][i], f.values[1][i], f.values[2][i]}; v[0] == "" || v[0] != v[1] || v[0] != v[2] {
				t.Fatalf("of element %d there is %q", i, v)
			}
		}
	}
}

// TestTheWalkFollowsACollectionThatIsRenamed has it wait for the lock of the old name.
func TestTheWalkFollowsACollectionThatIsRenamed(t *testing.T) {
	sp := NewSpace(Options{})
	defer sp.pool.Close()
	tx := sp.NewTx()
	names := [2][]byte{[]byte("a"), []byte("b")}
	keys := []store.Key{tx.Key(names[0]), tx.Key(names[1])}
	tx.LockKeys(keys)
	setOf(tx, names[0], openFrom)
	tx.Unlock()
	s := sp.BeginSnapshot(SnapshotOptions{})
	defer s.Close()
	for i := range 100 {
		from, to := i%2, (i+1)%2
		tx.LockKeys(keys)
		tx.Find(names[from])
		o, began, follows := s.nextOpened(), make(chan struct{}), make(chan bool)
		go func() {
			close(began)
			s.lockOpened(o)
			ok := s.tx.Covers([]slot.ID{keys[to].Slot})
			s.tx.release()
			follows <- ok
		}()
		<-began
		for range 10 {
			runtime.Gosched() // it may wait now
		}
		tx.MoveRecord(names[from], 0, names[to])
		tx.Unlock()
		if !<-follows {
			t.Fatalf("rename %d: the lock of the new name is not held", i)
		}
	}
}
