package store

import (
	"bytes"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/ds/chain"
	"github.com/bowline-kv/bowline/internal/ds/tree"
	"github.com/bowline-kv/bowline/slot"
)

// Image is the content of a large collection at a moment, read in steps while the
// collection changes. Of hashes, sets and sorted sets it is a walk over the
// members, which knows how far it has come:
//
//	change  a member behind the place of the walk, which is about to be changed or
//	        removed, is handed over first, and the walk leaves it out
//	new     a member that comes after the moment is left out
//	drop    when the key goes, its body stays with the image, as it is
//
// Of a list it is a [chain.Image]. It is guarded by the lock of the key that has the
// body, and follows it to another key: [Image.Slot] tells where it is.
type Image struct {
	body   *Body
	keeper Keeper
	slot   atomic.Uint32
	// adopted: no key has the body any more.
	adopted bool

	list *chain.Image // of a list; else nil

	at Place // of the walk over a hash or a set
	// score and member are the first entry of a sorted set that was not visited, once
	// the walk has begun.
	score  float64
	member []byte
	begun  bool
	over   bool
	// ahead are the members that the walk leaves out; nil: none.
	ahead *Table
}

// Keeper takes what an [Image] would lose by a change. Its methods run under the
// lock of the collection: they must be short, and copy what they keep.
type Keeper interface {
	// KeepMember takes a member of a hash, a set or a sorted set.
	KeepMember(name []byte, e *Entry)
	// KeepNode is told of nodes of a list; see [chain.Chain.Image].
	KeepNode(bytes int)
}

// Image makes an image of a body of this table as of now, for the key that has it. A
// body has one image at most, until [Image.End].
func (t *Table) Image(k *Key, b *Body, keeper Keeper) *Image {
	if b.image != nil {
		panic("BUG: a second image of a collection")
	}
	im := &Image{body: b, keeper: keeper}
	im.slot.Store(uint32(k.Slot))
	b.image = im
	if b.Items != nil {
		im.list = b.Items.Image(keeper.KeepNode)
	} else {
		b.Members.image = im
	}
	return im
}

// Slot is the slot of the key that has the body. It may be read without the lock,
// and changes under it: whoever has locked the slot must look again.
func (im *Image) Slot() slot.ID { return slot.ID(im.slot.Load()) }

// List is the image of a list, with which that is read; nil for others.
func (im *Image) List() *chain.Image { return im.list }

// Pin is [Table.Pin] for the value of a member that is visited or handed over.
func (im *Image) Pin(e *Entry) (Pinned, bool) { return im.body.Members.Pin(*e) }

// Walk visits the next members of a hash, a set or a sorted set, until enough says
// so, which is asked after every ten members or so; done at the end.
func (im *Image) Walk(visit func(name []byte, e *Entry), enough func() bool) (done bool) {
	if im.body.Order != nil {
		im.walkOrder(visit, enough)
		return im.over
	}
	im.over = im.body.Members.WalkOnce(&im.at, func(k Key, e Entry) {
		if im.ahead == nil || !im.ahead.Has(k) {
			visit(k.Name, &e)
		}
	}, enough)
	return im.over
}

// entriesPerStep is after how many entries of a sorted set a walk may stop.
const entriesPerStep = 10

// walkOrder is Walk of a sorted set, which is visited in order, as that makes it
// easy to load.
func (im *Image) walkOrder(visit func(name []byte, e *Entry), enough func() bool) {
	order, m := im.body.Order, im.body.Members
	p := order.First()
	if im.begun {
		p = order.Seek(tree.AtMember(im.score, im.member))
	}
	for n := 0; !p.End(); p = order.Next(p) {
		score, r := order.Entry(p)
		if n++; n%entriesPerStep == 0 && enough() {
			im.score, im.member, im.begun = score, append(im.member[:0], m.nameAt(ref(r))...), true
			return
		}
		if k := m.keyAt(ref(r)); im.ahead == nil || !im.ahead.Has(k) {
			e := m.entry(ref(r))
			visit(k.Name, &e)
		}
	}
	im.over = true
}

// change is called before a member is changed, removed or added; r is its record
// before, 0: none.
func (im *Image) change(k *Key, r ref) {
	m, ordered := im.body.Members, im.body.Order != nil
	if im.over || im.at.Passed(k) {
		return
	}
	if im.ahead == nil {
		im.ahead = newMembers(m.pool, m.seed)
	}
	// In a sorted set a member that was visited is noted too: its next score may be
	// behind the place.
	if !im.ahead.Add(*k, String, nil) || r == 0 {
		return
	}
	e := m.entry(r)
	if !ordered || !im.visited(k.Name, e.Score()) {
		im.keeper.KeepMember(k.Name, &e)
	}
}

// visited says whether the walk over a sorted set has come past an entry.
func (im *Image) visited(member []byte, score float64) bool {
	return im.begun && (score < im.score || score == im.score && bytes.Compare(member, im.member) < 0)
}

// End ends the image, at its end or before, under the lock. What it gives, unless
// nil, was only for the image, and is to be given back in steps.
func (im *Image) End() *Dropped {
	b := im.body
	b.image = nil
	d := &Dropped{}
	if im.list != nil {
		im.list.End()
	} else {
		b.Members.image = nil
	}
	if im.ahead != nil {
		d.parts = append(d.parts, im.ahead.Release())
	}
	if im.adopted {
		d.bodies = append(d.bodies, b)
	}
	if d.parts == nil && d.bodies == nil {
		return nil
	}
	return d
}

// follow notes that the body is at another key now.
func (im *Image) follow(k *Key) {
	if im != nil {
		im.slot.Store(uint32(k.Slot))
	}
}
