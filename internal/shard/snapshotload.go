package shard

import (
	"fmt"

	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
)

// Loader puts the keys of a snapshot file into a space; it is a [rdb.Sink]. What
// it does is no command: nobody is told, and nothing goes into a log. It belongs to
// one goroutine, and has others that work for it until [Loader.Close].
type Loader struct {
	// KeepExpired loads keys whose time is over, too, as a replica has to.
	KeepExpired bool
	// Replace puts keys in the place of those that are there; else they are an error
	// that wraps [rdb.ErrCorrupt].
	Replace bool

	tx      *Tx // to look names up
	lanes   *Lanes[loaded]
	txs     []*Tx // of the lanes
	now     int64
	builder value.Builder
	key     rdb.Key
	name    []byte
	skip    bool
	kind    rdb.Kind
	parts   int // elements of the value so far
	// Loaded counts the keys that were loaded, Expired those that were not as their
	// time was over, and Empty the collections without elements, which are none.
	Loaded, Expired, Empty int64
}

// NewLoader makes a loader. now is the time in unix milliseconds by which keys are
// expired, and limits say which collections are packed.
func (sp *Space) NewLoader(now int64, limits value.Limits) *Loader {
	l := &Loader{tx: sp.NewTx(), now: now}
	l.lanes = NewLanes(Stripes, l.put)
	for range l.lanes.Len() {
		tx := sp.NewTx()
		tx.Now = now
		l.txs = append(l.txs, tx)
	}
	// Bodies come from a table that has only the pool and the seed in common with the
	// others, so that no lock is held while a value is read.
	l.builder = value.Builder{Limits: limits, Bodies: store.NewTable(sp.pool, sp.seed)}
	return l
}

// Key implements [rdb.Sink].
func (l *Loader) Key(k *rdb.Key) error {
	if k.DB >= l.tx.space.databases {
		return fmt.Errorf("%w: a key of database %d, there are %d", rdb.ErrUnsupported, k.DB, l.tx.space.databases)
	}
	l.name = append(l.name[:0], k.Name...)
	l.key = *k
	l.key.Name = l.name
	l.skip = !l.KeepExpired && k.ExpireAt != 0 && k.ExpireAt <= l.now
	return nil
}

// Begin implements [rdb.Sink].
func (l *Loader) Begin(kind rdb.Kind, elements uint64) error {
	l.kind, l.parts = kind, 0
	if l.skip {
		return nil
	}
	return l.builder.Begin(kind, elements)
}

// Element implements [rdb.Sink].
func (l *Loader) Element(e *rdb.Element) error {
	l.parts++
	if l.skip {
		return nil
	}
	return l.builder.Element(e)
}

// End implements [rdb.Sink].
func (l *Loader) End() error {
	switch {
	case l.skip:
		l.Expired++
		return nil
	case l.kind != rdb.String && l.parts == 0:
		l.Empty++
		return nil
	}
	k := l.tx.Key(l.name)
	b := l.lanes.At(k.Slot)
	k.Name = b.Keep(l.name)
	n := l.builder.Content()
	n.ExpireAt = l.key.ExpireAt
	if n.Body == nil {
		n.Value = b.Keep(n.Value)
	}
	b.Items = append(b.Items, loaded{k, l.key.DB, n, l.key.IdleSeconds, int64(l.key.Freq)})
	l.Loaded++
	return l.lanes.Err()
}

// Close returns when every key is in its place, with an error for one that could
// not be put there. It may be called twice.
func (l *Loader) Close() error { return l.lanes.Close() }

// loaded is a key and its value.
type loaded struct {
	key        store.Key
	db         int
	content    store.Content
	idle, freq int64
}

// put gives keys their values, each under its lock.
func (l *Loader) put(lane int, items []loaded) error {
	tx := l.txs[lane]
	for i := range items {
		if !l.putOne(tx, &items[i]) {
			return fmt.Errorf("%w: the key %.100q comes twice", rdb.ErrCorrupt, items[i].key.Name)
		}
	}
	return nil
}

// putOne is false when the key is there already.
func (l *Loader) putOne(tx *Tx, n *loaded) bool {
	k := n.key
	sh := tx.space.ShardOf(k.Slot)
	tx.lock(sh, 1<<stripeOf(k.Slot))
	defer tx.release()
	tx.DB = n.db
	tx.preserve(&k)
	t := tx.tableForWrite(k.Slot)
	if !l.Replace && t.Has(k) {
		return false
	}
	m := tx.space.memory.Load()
	t.Stamp(m.fresh(l.now))
	t.Put(k, &n.content)
	if n.idle >= 0 || n.freq >= 0 {
		tx.SetUse(k.Name, n.idle, n.freq)
	}
	if m.Limit != 0 {
		tx.space.account(tx.stripe(k.Slot))
	}
	return true
}
