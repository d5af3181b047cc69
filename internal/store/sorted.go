package store

import (
	"bytes"
	"math"

	"github.com/bowline-kv/bowline/internal/ds/tree"
)

// A large sorted set is a table of members, whose values are their scores, and a
// tree of (score, reference to the member's record):
//
//	Members:  member -> record | header | member | score 8 |
//	                       ^
//	Order:    score, ref --+
//
// So a member is there once, and its score twice. When the table moves a record
// it tells the tree.

// scoreBytes is the size of a score in a record.
const scoreBytes = 8

// NewSorted makes the empty body of a sorted set.
func (t *Table) NewSorted() *Body {
	m := newMembers(t.pool, t.seed)
	m.order = tree.New(t.pool, (*byMember)(m))
	return &Body{Members: m, Order: m.order}
}

// byMember compares members for the tree.
type byMember Table

// Compare implements [tree.Order].
func (m *byMember) Compare(r uint32, member []byte) int {
	return bytes.Compare((*Table)(m).nameAt(ref(r)), member)
}

func (t *Table) nameAt(r ref) []byte {
	b := t.bytes(r)
	return t.keyOf(b, headerOf(b))
}

// Member is the member of an entry of Order, a view as that of an [Entry].
func (b *Body) Member(r uint32) []byte { return b.Members.nameAt(ref(r)) }

// Score gives the score of a member; false when there is none.
func (b *Body) Score(member []byte) (score float64, ok bool) {
	k := b.Members.Key(member)
	f := b.Members.find(&k)
	if f.ref == 0 {
		return 0, false
	}
	return b.Members.scoreAt(f.ref), true
}

func (t *Table) scoreAt(r ref) float64 {
	b := t.bytes(r)
	return scoreIn(t.valueOf(b, headerOf(b)))
}

func scoreIn(value []byte) float64 { return math.Float64frombits(uint64(loadTime(value, 0))) }

// Score is the score of a member of a sorted set, which the entry of Members is.
func (e *Entry) Score() float64 { return scoreIn(e.Value) }

// SetScore gives a member a score, which is not NaN, and adds it if need be. It
// returns the score that it had before, if it was there. member must not be a
// view into the body.
func (b *Body) SetScore(member []byte, score float64) (old float64, existed bool) {
	m := b.Members
	k := m.Key(member)
	f := m.find(&k)
	var value [scoreBytes]byte
	storeTime(value[:], 0, int64(math.Float64bits(score)))
	if f.ref == 0 {
		if m.image != nil {
			m.image.change(&k, 0)
		}
		c := content{key: member, value: value[:], flags: header(String) << typeShift}
		r := m.create(&c)
		m.insert(&k, r)
		b.Order.Insert(score, member, uint32(r))
		return 0, false
	}
	old = m.scoreAt(f.ref)
	if old == score {
		return old, true
	}
	if m.image != nil {
		m.image.change(&k, f.ref)
	}
	b.Order.Delete(old, member)
	at := m.bytes(f.ref)
	copy(m.valueOf(at, headerOf(at)), value[:])
	b.Order.Insert(score, member, uint32(f.ref))
	return old, true
}

// RemoveMember removes a member; false when there is none. member must not be a
// view into the body.
func (b *Body) RemoveMember(member []byte) (score float64, ok bool) {
	m := b.Members
	k := m.Key(member)
	f := m.find(&k)
	if f.ref == 0 {
		return 0, false
	}
	score = m.scoreAt(f.ref)
	b.Order.Delete(score, member)
	m.Delete(k)
	return score, true
}

// RemoveRank removes the entry of a rank, 0..Len-1 of Order.
func (b *Body) RemoveRank(rank int) {
	_, r := b.Order.DeleteAt(rank)
	b.Members.Delete(b.Members.keyAt(ref(r)))
}

// cloneSorted copies in order, which fills the nodes of the tree.
func (t *Table) cloneSorted(b *Body) *Body {
	n := t.NewSorted()
	for p := b.Order.First(); !p.End(); p = b.Order.Next(p) {
		score, r := b.Order.Entry(p)
		n.SetScore(b.Member(r), score)
	}
	return n
}
