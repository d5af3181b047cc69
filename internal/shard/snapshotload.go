package shard

import (
	"fmt"

	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
)

// Loader puts the keys of a snapshot file into a space; it is a [rdb.Sink]. What
// it does is no command: nobody is told, and nothing goes into a log. It belongs to
// one goroutine.
type Loader struct {
	// KeepExpired loads keys whose time is over, too, as a replica has to.
	KeepExpired bool
	// Replace puts keys in the place of those that are there; else they are an error
	// that wraps [rdb.ErrCorrupt].
	Replace bool

	tx      *Tx
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
	l.tx.Now = now
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
	n := l.builder.Content()
	n.ExpireAt = l.key.ExpireAt
	if !l.put(&n) {
		return fmt.Errorf("%w: the key comes twice", rdb.ErrCorrupt)
	}
	l.Loaded++
	return nil
}

// put gives the key its value under its lock; false when it is there already.
func (l *Loader) put(n *store.Content) bool {
	tx := l.tx
	k := tx.Key(l.name)
	sh := tx.space.ShardOf(k.Slot)
	tx.lock(sh, 1<<stripeOf(k.Slot))
	defer tx.release()
	tx.DB = l.key.DB
	tx.preserve(&k)
	t := tx.tableForWrite(k.Slot)
	if !l.Replace && t.Has(k) {
		return false
	}
	m := tx.space.memory.Load()
	t.Stamp(m.fresh(l.now))
	t.Put(k, n)
	tx.SetUse(l.name, l.key.IdleSeconds, int64(l.key.Freq))
	if m.Limit != 0 {
		tx.space.account(tx.stripe(k.Slot))
	}
	return true
}
