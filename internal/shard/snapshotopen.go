package shard

import (
	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
)

// opened is a large collection that is written in pieces: from the moment on at which
// the walk comes to its key, or a command is about to change it. From there the key
// may change, move to another name or database, or go. It is a [store.Keeper].
type opened struct {
	snapshot *Snapshot
	db       int // at the cut
	pieces   *value.Pieces
	begun    bool
	head     []byte // expiry, type, name and number of elements
	kept     pieces // members that commands handed over; guarded as the collection is
}

const (
	// openFrom is the number of elements from which a collection is written in pieces,
	openFrom = 500
	// and openBytes the memory, whatever their number.
	openBytes = 256 << 10
)

// open begins with a key that is to be written in pieces; false: it is not. The lock
// of the key is held.
func (s *Snapshot) open(p *part, k *store.Key, e *store.Entry) bool {
	if !e.Large() {
		return false
	}
	if b := p.table.Body(e); b.Len() < s.openFrom && b.Bytes() < openBytes {
		return false
	}
	o := &opened{snapshot: s, db: p.db}
	o.pieces = value.NewPieces(p.table, k, e, o, s.o.Compress)
	n := s.key(k, e)
	o.head = o.pieces.AppendHead(rdb.AppendKey(nil, &n, o.pieces.Type()))
	s.mu.Lock()
	s.opened = append(s.opened, o)
	s.mu.Unlock()
	return true
}

// KeepMember implements [store.Keeper].
func (o *opened) KeepMember(name []byte, e *store.Entry) {
	before := o.kept.size
	o.add(&o.kept, name, e)
	o.snapshot.noteHanded(o.kept.size - before)
}

// add adds a member to out. A long value is not copied.
func (o *opened) add(out *pieces, name []byte, e *store.Entry) {
	if len(e.Value) >= store.PinnedMin {
		if v, ok := o.pieces.Image().Pin(e); ok {
			out.add(o.db, 0, func(dst []byte) []byte { return o.pieces.AppendName(dst, name, e) })
			out.pin(o.db, v)
			return
		}
	}
	out.add(o.db, 0, func(dst []byte) []byte { return o.pieces.AppendMember(dst, name, e) })
}

// KeepNode implements [store.Keeper].
func (o *opened) KeepNode(bytes int) {
	if bytes > 0 {
		o.snapshot.noteHanded(bytes)
	} else {
		o.snapshot.waiting.Add(int64(bytes))
	}
}

// nextOpened gives the collection to go on with; nil: none.
func (s *Snapshot) nextOpened() *opened {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.opened) == 0 {
		s.giveBack()
		return nil
	}
	return s.opened[0]
}

// walkOpened adds the next piece of a collection to the batch. Until it is complete
// nothing else may be written.
func (s *Snapshot) walkOpened(o *opened) {
	if !o.begun {
		o.begun = true
		s.batch.add(o.db, 0, func(dst []byte) []byte { return append(dst, o.head...) })
	}
	image, nodes := o.pieces.Image(), 0
	if image.List() != nil {
		s.batch.add(o.db, 0, func(dst []byte) []byte {
			dst, nodes = o.pieces.AppendNodes(dst, s.stepBytes)
			return dst
		})
	}
	s.lockOpened(o)
	if image.List() != nil {
		s.half = image.List().Pass(nodes)
	} else {
		s.half = s.walkMembers(o)
	}
	var left *store.Dropped
	if !s.half {
		left = image.End()
	}
	s.tx.release()
	if !s.half {
		s.batch.to(o.db).keys++
		s.drop(left)
		s.mu.Lock()
		s.opened[0] = nil
		s.opened = s.opened[1:]
		s.mu.Unlock()
	}
}

// walkMembers adds what was handed over of a hash, a set or a sorted set, and the next
// members; more is false after the last.
func (s *Snapshot) walkMembers(o *opened) (more bool) {
	s.waiting.Add(-int64(o.kept.size))
	s.batch.join(&o.kept)
	end, groups := s.batch.size+s.stepBytes, 0
	return !o.pieces.Image().Walk(func(name []byte, e *store.Entry) {
		o.add(&s.batch, name, e)
	}, func() bool {
		groups++
		return s.batch.size >= end || groups > stepGroups
	})
}

// lockOpened locks the key that has a collection, if one has.
func (s *Snapshot) lockOpened(o *opened) {
	for {
		slot := o.pieces.Image().Slot()
		s.tx.lock(s.space.ShardOf(slot), 1<<stripeOf(slot))
		if o.pieces.Image().Slot() == slot {
			return
		}
		s.tx.release() // it went to another key meanwhile
	}
}

// drop has memory given back; d may be nil.
func (s *Snapshot) drop(d *store.Dropped) {
	if d != nil {
		s.space.dropped.add(d)
	}
}

// closeOpened ends what is not complete. No stripe has a capture any more.
func (s *Snapshot) closeOpened() {
	for _, o := range s.opened {
		s.lockOpened(o)
		left := o.pieces.Image().End()
		s.tx.release()
		s.drop(left)
		o.kept.reset()
	}
	s.opened = nil
}
