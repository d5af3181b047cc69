package value

import (
	"github.com/bowline-kv/bowline/internal/ds/intset"
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
)

// Set is a view of a set; the zero Set is empty and packed. Packed, it is one of
//
//	| 1 | intset.Set |    all members are integers
//	| 2 | pack.Pack  |
type Set struct {
	packed []byte // nil: there is none yet, or the set is large
	body   *store.Body
}

// The first bytes of packed sets.
const (
	tagInts byte = 1 + iota
	tagPack
)

const tagBytes = 1

// SetLimit says up to what a set is packed; Redis has the same numbers in its
// settings.
type SetLimit struct {
	Ints    int // members, if all are integers
	Entries int // members
	Value   int // bytes of a member
}

// SetOf makes a view of a set that was found; body is nil unless it is large.
func SetOf(e *store.Entry, body *store.Body) Set {
	if body != nil {
		return Set{body: body}
	}
	return Set{packed: e.Value}
}

// EncodingSet is what OBJECT ENCODING calls the form of a set.
func EncodingSet(e *store.Entry) string {
	switch {
	case e.Large():
		return "hashtable"
	case e.Value[0] == tagInts:
		return "intset"
	}
	return "listpack"
}

// Own makes the set ready for changes, which go into buf if it is packed.
func (s *Set) Own(buf []byte) {
	switch {
	case s.body != nil:
	case s.packed == nil:
		s.packed = append(append(buf[:0], tagInts), intset.New()...)
	default:
		s.packed = append(buf[:0], s.packed...)
	}
}

// Content is what the key is to be given, and body what it has in place of it;
// one of them is nil.
func (s *Set) Content() (packed []byte, body *store.Body) { return s.packed, s.body }

// Large says whether the set has a body.
func (s *Set) Large() bool { return s.body != nil }

// ints is the view of the members of a packed set that are all integers.
func (s *Set) ints() (intset.Set, bool) {
	return intset.Set(s.packed[tagBytes:]), s.packed[0] == tagInts
}

func (s *Set) elements() pack.Pack { return pack.Pack(s.packed[tagBytes:]) }

// keep makes what a change of the bytes behind the tag gave the set's, which is
// at another place when it had to grow.
func (s *Set) keep(changed []byte) {
	old := s.packed[tagBytes:]
	if len(changed) > 0 && len(old) > 0 && &changed[0] == &old[0] {
		s.packed = s.packed[: tagBytes+len(changed) : cap(s.packed)]
		return
	}
	s.packed = append(s.packed[:tagBytes:tagBytes], changed...)
}

// Len is the number of members.
func (s *Set) Len() int {
	switch {
	case s.body != nil:
		return s.body.Members.Len()
	case s.packed == nil:
		return 0
	}
	if ints, ok := s.ints(); ok {
		return ints.Len()
	}
	return s.elements().Len()
}

// Has says whether v is a member.
func (s *Set) Has(v []byte) bool {
	switch {
	case s.body != nil:
		return s.body.Members.Has(s.body.Members.Key(v))
	case s.packed == nil:
		return false
	}
	if ints, ok := s.ints(); ok {
		n, isInt := resp.ParseInt(v)
		return isInt && ints.Has(n)
	}
	p := s.elements()
	return p.Find(p.First(), v, 0) >= 0
}

// HasElement is Has for a member of another set.
func (s *Set) HasElement(e pack.Element) bool {
	n, isInt := e.Int()
	if s.body == nil && s.packed != nil && isInt {
		if ints, ok := s.ints(); ok {
			return ints.Has(n)
		}
	}
	var room [TextMax]byte
	return s.Has(Text(e, room[:]))
}

// Add puts a member in; added is false when it was there. fits is false, and
// nothing was done, when the set must Grow before. The set is owned.
func (s *Set) Add(v []byte, limit SetLimit) (added, fits bool) {
	if s.body != nil {
		m := s.body.Members
		return m.Add(m.Key(v), store.String, nil), true
	}
	ints, ok := s.ints()
	if !ok {
		return s.addElement(v, limit)
	}
	if n, isInt := resp.ParseInt(v); isInt {
		if ints.Has(n) {
			return false, true
		}
		if ints.Len() >= limit.Ints || ints.SizeWith(n) > packedMax {
			return false, false
		}
		ints, _ = ints.Add(n)
		s.keep(ints)
		return true, true
	}
	if !intsFit(ints, limit) || ints.Len() >= limit.Entries || len(v) > limit.Value {
		return false, false
	}
	s.toElements(ints)
	return s.addElement(v, limit)
}

func (s *Set) addElement(v []byte, limit SetLimit) (added, fits bool) {
	p := s.elements()
	it := pack.ItemOf(v)
	switch {
	case pack.Find(p, p.First(), 0, &it) >= 0:
		return false, true
	case p.Len() >= limit.Entries || len(v) > limit.Value || len(p)+len(v) > packedMax:
		return false, false
	}
	s.keep(p.InsertItem(p.End(), &it))
	return true, true
}

// intsFit says whether no integer of a set is longer as text than is allowed.
func intsFit(ints intset.Set, limit SetLimit) bool {
	var digits [TextMax]byte
	return ints.Len() == 0 || len(resp.AppendInt(digits[:0], ints.Min())) <= limit.Value &&
		len(resp.AppendInt(digits[:0], ints.Max())) <= limit.Value
}

// toElements packs integers as elements.
func (s *Set) toElements(ints intset.Set) {
	p := pack.New(len(ints) * 2)
	for i := range ints.Len() {
		p = p.AppendInt(ints.At(i))
	}
	s.packed = append(append(s.packed[:0], tagPack), p...)
}

// Remove takes a member out; false when it is not there. The set is owned.
func (s *Set) Remove(v []byte) bool {
	if s.body != nil {
		return s.body.Members.Delete(s.body.Members.Key(v))
	}
	if ints, ok := s.ints(); ok {
		n, isInt := resp.ParseInt(v)
		if !isInt {
			return false
		}
		ints, ok = ints.Remove(n)
		s.keep(ints)
		return ok
	}
	p := s.elements()
	pos := p.Find(p.First(), v, 0)
	if pos < 0 {
		return false
	}
	s.keep(p.Delete(pos, 1))
	return true
}

// Grow makes a packed set large, in an empty body.
func (s *Set) Grow(body *store.Body) {
	var room [TextMax]byte
	m := body.Members
	s.Each(func(e pack.Element) bool {
		m.SetRecord(m.Key(Text(e, room[:])), store.String, nil, 0)
		return true
	})
	s.packed, s.body = nil, body
}

// Each visits the members until visit says no: integers ascending, packed ones in
// their order, others in any.
func (s *Set) Each(visit func(e pack.Element) (more bool)) {
	switch {
	case s.body != nil:
		s.eachMember(visit)
		return
	case s.packed == nil:
		return
	}
	if ints, ok := s.ints(); ok {
		for i := 0; i < ints.Len() && visit(pack.Int(ints.At(i))); i++ {
		}
		return
	}
	p := s.elements()
	for pos := p.First(); pos < p.End() && visit(p.Get(pos)); pos = p.Next(pos) {
	}
}

// eachMember visits the members of a large set. They are gathered by groups: what
// visit captures need not be on the heap then, when the set turns out to be small.
func (s *Set) eachMember(visit func(e pack.Element) (more bool)) {
	var at store.Place // a scan would visit some of them twice
	var group []pack.Element
	for done := false; !done; group = group[:0] {
		done = s.body.Members.WalkOnce(&at, func(k store.Key, _ store.Entry) {
			group = append(group, pack.String(k.Name))
		}, func() bool { return len(group) > 0 })
		for _, e := range group {
			if !visit(e) {
				return
			}
		}
	}
}

// Random gives a member chosen evenly; the set is not empty.
func (s *Set) Random(random uint64) pack.Element {
	if s.body != nil {
		k, _ := s.body.Members.RandomKey(random)
		return pack.String(k.Name)
	}
	i := Below(random, s.Len())
	if ints, ok := s.ints(); ok {
		return pack.Int(ints.At(i))
	}
	p := s.elements()
	return p.Get(p.At(i))
}

// Sample visits n different members, 0..Len, every choice equally likely. random
// gives random numbers.
func (s *Set) Sample(n int, random func() uint64, visit func(e pack.Element)) {
	size := s.Len()
	if s.body != nil && n <= size/rarely {
		sampleMembers(s.body.Members, n, random, func(k store.Key, _ store.Entry) { visit(pack.String(k.Name)) })
		return
	}
	sampler := NewSampler(n, size)
	s.Each(func(e pack.Element) bool {
		if sampler.Done() {
			return false
		}
		if sampler.Take(random()) {
			visit(e)
		}
		return true
	})
}

// VisitSet visits all members of a set, as [Set.Each].
func VisitSet(e *store.Entry, body *store.Body, visit func(e pack.Element) (more bool)) {
	s := SetOf(e, body)
	s.Each(visit)
}

// Scan visits members from a cursor on, all of them if they are packed; see
// [ScanMembers].
func (s *Set) Scan(cursor uint64, want int, visit func(e pack.Element)) (next uint64) {
	if s.body != nil {
		return ScanMembers(s.body.Members, cursor, want, func(k store.Key, _ store.Entry) { visit(pack.String(k.Name)) })
	}
	s.Each(func(e pack.Element) bool {
		visit(e)
		return true
	})
	return 0
}
