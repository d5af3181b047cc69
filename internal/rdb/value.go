package rdb

import (
	"math"
	"strconv"

	"github.com/bowline-kv/bowline/internal/ds/intset"
	"github.com/bowline-kv/bowline/internal/ds/pack"
)

// Element is a part of a value; its bytes are valid until Element returns.
type Element struct {
	// Value is the string, the element of a list, the member of a set, or the field
	// of a hash.
	Value []byte
	// Second is the value of a hash's field.
	Second []byte
	// Score is that of a member of a sorted set, never NaN.
	Score float64
	// ExpireAt is when a field of a hash expires, in unix milliseconds; 0: never.
	ExpireAt int64
}

// Sink takes what is read.
type Sink interface {
	// Key begins a key, whose name is valid until Key returns. For a value of DUMP
	// it is not called.
	Key(k *Key) error
	// Begin begins a value. Elements is how many are said to follow, 0: unknown; it
	// is not to be trusted with memory.
	Begin(kind Kind, elements uint64) error
	// Element gives the parts: of a string one, of others in the order of the file.
	Element(e *Element) error
	// End ends it.
	End() error
}

// elements reads values into a sink.
type elements struct {
	*source
	sink Sink
	e    Element
	hold []byte // the first string of a pair
	text []byte // of a number in a packed form
}

// value reads a value of an encoding.
func (r *elements) value(t Type) error {
	kind, ok := kindOf(t)
	if !ok {
		return corrupt("a value of unknown type %d", t)
	}
	if err := r.plain(t, kind); err != nil {
		return err
	}
	return r.sink.End()
}

func (r *elements) plain(t Type, kind Kind) error {
	switch t {
	case TypeString:
		if err := r.sink.Begin(kind, 1); err != nil {
			return err
		}
		return r.one()
	case TypeList, TypeSet:
		return r.many(kind, r.one)
	case TypeZSet:
		return r.many(kind, func() error { return r.scored(r.oldDouble) })
	case TypeZSet2:
		return r.many(kind, func() error { return r.scored(r.double) })
	case TypeHash:
		return r.many(kind, func() error { return r.field(0) })
	case TypeHashMetadataPreGA, TypeHashMetadata:
		return r.timedHash(t == TypeHashMetadata)
	case TypeListQuicklist, TypeListQuicklist2:
		return r.many(kind, func() error { return r.node(t) })
	}
	return r.packed(t, kind)
}

func (r *elements) many(kind Kind, each func() error) error {
	n, err := r.count()
	if err != nil {
		return err
	}
	if err := r.sink.Begin(kind, n); err != nil {
		return err
	}
	for ; n > 0; n-- {
		if err := each(); err != nil {
			return err
		}
	}
	return nil
}

func (r *elements) give() error {
	err := r.sink.Element(&r.e)
	r.e = Element{}
	return err
}

func (r *elements) one() (err error) {
	if r.e.Value, err = r.string(); err != nil {
		return err
	}
	return r.give()
}

func (r *elements) double() (float64, error) {
	bits, err := r.uint64()
	f := math.Float64frombits(bits)
	if err == nil && math.IsNaN(f) {
		err = corrupt("a score that is not a number")
	}
	return f, err
}

func (r *elements) scored(score func() (float64, error)) (err error) {
	if r.e.Value, err = r.string(); err != nil {
		return err
	}
	if r.e.Score, err = score(); err != nil {
		return err
	}
	if math.IsNaN(r.e.Score) {
		return corrupt("a score that is not a number")
	}
	return r.give()
}

// field reads a field and its value.
func (r *elements) field(expireAt int64) (err error) {
	if r.hold, err = r.appendString(r.hold[:0]); err != nil {
		return err
	}
	if r.e.Second, err = r.string(); err != nil {
		return err
	}
	r.e.Value, r.e.ExpireAt = r.hold, expireAt
	return r.give()
}

// timedHash reads fields with their times, which are relative to the first one
// since 7.4 was released.
func (r *elements) timedHash(relative bool) error {
	first := uint64(0)
	if relative {
		var err error
		if first, err = r.uint64(); err != nil {
			return err
		}
	}
	return r.many(Hash, func() error {
		at, err := r.len()
		if err != nil {
			return err
		}
		if relative && at != 0 {
			at += first - 1
		}
		if at > timeMax {
			return corrupt("a field that expires at %d", at)
		}
		return r.field(int64(at))
	})
}

// timeMax is the latest time of a field in unix milliseconds.
const timeMax = 1<<48 - 1

// node reads one node of a quicklist.
func (r *elements) node(t Type) error {
	container := uint64(NodePacked)
	if t == TypeListQuicklist2 {
		var err error
		if container, err = r.len(); err != nil {
			return err
		}
	}
	blob, err := r.string()
	switch {
	case err != nil:
		return err
	case container == NodePlain:
		r.e.Value = blob
		return r.give()
	case container != NodePacked:
		return corrupt("a node of unknown container %d", container)
	case t == TypeListQuicklist:
		return r.ziplist(blob, r.item)
	}
	return r.listpack(blob, r.item)
}

// item gives one text of a packed list or set.
func (r *elements) item(v []byte) error {
	r.e.Value = v
	return r.give()
}

// packed reads a value in one piece.
func (r *elements) packed(t Type, kind Kind) error {
	first := uint64(0)
	if t == TypeHashListpackEx {
		var err error
		if first, err = r.uint64(); err != nil {
			return err
		}
		if first > timeMax {
			return corrupt("a field that expires at %d", first)
		}
	}
	blob, err := r.string()
	if err != nil {
		return err
	}
	if err := r.sink.Begin(kind, 0); err != nil {
		return err
	}
	switch t {
	case TypeListZiplist:
		return r.ziplist(blob, r.item)
	case TypeSetListpack:
		return r.listpack(blob, r.item)
	case TypeSetIntset:
		return r.intset(blob)
	case TypeHashZipmap:
		return r.zipmap(blob)
	case TypeZSetZiplist:
		return r.groups(2, func(each func([]byte) error) error { return r.ziplist(blob, each) }, r.scoredTexts)
	case TypeZSetListpack:
		return r.groups(2, func(each func([]byte) error) error { return r.listpack(blob, each) }, r.scoredTexts)
	case TypeHashZiplist:
		return r.groups(2, func(each func([]byte) error) error { return r.ziplist(blob, each) }, r.fieldTexts)
	case TypeHashListpack:
		return r.groups(2, func(each func([]byte) error) error { return r.listpack(blob, each) }, r.fieldTexts)
	}
	return r.groups(3, func(each func([]byte) error) error { return r.listpack(blob, each) }, r.fieldTexts)
}

// groups gathers texts of a walk in groups of n.
func (r *elements) groups(n int, walk func(each func([]byte) error) error, give func(texts [][]byte) error) error {
	var texts [3][]byte
	at := 0
	err := walk(func(v []byte) error {
		texts[at] = append(texts[at][:0], v...)
		if at++; at < n {
			return nil
		}
		at = 0
		return give(texts[:n])
	})
	if err == nil && at != 0 {
		err = corrupt("an incomplete group of elements")
	}
	return err
}

func (r *elements) scoredTexts(texts [][]byte) (err error) {
	if r.e.Score, err = parseScore(texts[1]); err != nil {
		return err
	}
	r.e.Value = texts[0]
	return r.give()
}

// fieldTexts gives a field, its value and, perhaps, its time.
func (r *elements) fieldTexts(texts [][]byte) error {
	r.e.Value, r.e.Second = texts[0], texts[1]
	if len(texts) > 2 {
		at, err := strconv.ParseInt(string(texts[2]), 10, 64)
		if err != nil || at < 0 || at > timeMax {
			return corrupt("a field that expires at %.40q", texts[2])
		}
		r.e.ExpireAt = at
	}
	return r.give()
}

func (r *elements) listpack(blob []byte, each func(v []byte) error) error {
	p, err := pack.FromListpack(blob)
	if err != nil {
		return corrupt("%v", err)
	}
	if p.First() == p.End() {
		return corrupt("an empty listpack")
	}
	for pos := p.First(); pos < p.End(); pos = p.Next(pos) {
		e := p.Get(pos)
		v := e.Bytes()
		if _, number := e.Int(); number {
			r.text = e.AppendTo(r.text[:0])
			v = r.text
		}
		if err := each(v); err != nil {
			return err
		}
	}
	return nil
}

func (r *elements) intset(blob []byte) error {
	s, err := intset.FromIntset(blob)
	if err != nil {
		return corrupt("%v", err)
	}
	if s.Len() == 0 {
		return corrupt("an empty set")
	}
	for i := range s.Len() {
		r.text = strconv.AppendInt(r.text[:0], s.At(i), 10)
		if err := r.item(r.text); err != nil {
			return err
		}
	}
	return nil
}
