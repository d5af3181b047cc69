package value

import (
	"fmt"

	"github.com/bowline-kv/bowline/internal/ds/chain"
	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/store"
)

// Limits say up to what each type is packed.
type Limits struct {
	List      chain.Limit
	Set       SetLimit
	SortedSet SortedSetLimit
	Hash      HashLimit
}

// Bodies makes empty bodies for the key that is being built.
type Bodies interface {
	NewBody() *store.Body
	NewSorted() *store.Body
	NewList(limit chain.Limit) *store.Body
}

// Builder makes a value of the parts that package rdb reads; it is a [rdb.Sink]
// for one value after the other. What comes twice in a set, sorted set or hash is
// an error that wraps [rdb.ErrCorrupt].
type Builder struct {
	Limits Limits
	Bodies Bodies

	kind rdb.Kind
	text []byte // of a string
	list List
	set  Set
	zset SortedSet
	hash Hash
	buf  []byte
}

// Key implements [rdb.Sink].
func (b *Builder) Key(*rdb.Key) error { return nil }

// Begin implements [rdb.Sink].
func (b *Builder) Begin(kind rdb.Kind, _ uint64) error {
	b.kind = kind
	switch kind {
	case rdb.List:
		b.list = List{}
		b.list.Own(b.buf)
	case rdb.Set:
		b.set = Set{}
		b.set.Own(b.buf)
	case rdb.ZSet:
		b.zset = SortedSet{}
		b.zset.Own(b.buf)
	case rdb.Hash:
		b.hash = NewHash(0)
		b.hash.Own(b.buf, true)
	}
	return nil
}

// Element implements [rdb.Sink].
func (b *Builder) Element(e *rdb.Element) error {
	switch b.kind {
	case rdb.String:
		b.text = append(b.text[:0], e.Value...)
	case rdb.List:
		if !b.list.Fits(b.Limits.List, 1, len(e.Value)) {
			b.list.Grow(b.Bodies.NewList(b.Limits.List), b.Limits.List, 1, len(e.Value))
		}
		b.list.Push(e.Value, false)
	case rdb.Set:
		added, fits := b.set.Add(e.Value, b.Limits.Set)
		if !fits {
			b.set.Grow(b.Bodies.NewBody())
			added, _ = b.set.Add(e.Value, b.Limits.Set)
		}
		return b.once(added, e.Value)
	case rdb.ZSet:
		_, existed, fits := b.zset.Put(e.Value, e.Score, b.Limits.SortedSet)
		if !fits {
			b.zset.Grow(b.Bodies.NewSorted())
			_, existed, _ = b.zset.Put(e.Value, e.Score, b.Limits.SortedSet)
		}
		return b.once(!existed, e.Value)
	case rdb.Hash:
		added, fits := b.hash.Set(e.Value, e.Second, false, b.Limits.Hash)
		if !fits {
			b.hash.Grow(b.Bodies.NewBody())
			added, _ = b.hash.Set(e.Value, e.Second, false, b.Limits.Hash)
		}
		if e.ExpireAt != 0 {
			b.hash.SetTime(e.Value, e.ExpireAt)
		}
		return b.once(added, e.Value)
	}
	return nil
}

func (b *Builder) once(added bool, v []byte) error {
	if !added {
		return fmt.Errorf("%w: %.100q comes twice", rdb.ErrCorrupt, v)
	}
	return nil
}

// End implements [rdb.Sink].
func (b *Builder) End() error { return nil }

// Content is what was built, for shard.Tx.Put, without an expiry time. It is
// valid until the next value.
func (b *Builder) Content() store.Content {
	n := store.Content{}
	switch b.kind {
	case rdb.String:
		n.Type, n.Value = store.String, b.text
		return n
	case rdb.List:
		n.Type = store.List
		n.Value, n.Body = b.list.Content()
	case rdb.Set:
		n.Type = store.Set
		n.Value, n.Body = b.set.Content()
	case rdb.ZSet:
		n.Type = store.ZSet
		n.Value, n.Body = b.zset.Content()
	case rdb.Hash:
		n.Type = store.Hash
		n.Value, n.Body, n.WakeAt = b.hash.Content()
	}
	if n.Value != nil {
		b.buf = n.Value
	}
	return n
}
