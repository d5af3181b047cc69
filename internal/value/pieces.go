package value

import (
	"math"

	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/store"
)

// Pieces is a large collection on its way into a snapshot, piece by piece. Between
// the pieces nobody may change the collection, but its memory may be tidied. Its
// form is that of [AppendRDB], except that the times of fields are not made short
// by the earliest one, for which all would have to be looked at first.
type Pieces struct {
	typ      store.Type
	body     *store.Body
	timed    bool
	compress bool
	place    store.Place // among Members, of a hash or set
	next     int         // node of a list, rank in a sorted set
}

// PiecesOf begins with a collection that was found, and its body.
func PiecesOf(e *store.Entry, body *store.Body, compress bool) Pieces {
	return Pieces{typ: e.Type, body: body, timed: e.Timed, compress: compress}
}

// Type is the type of the encoding.
func (p *Pieces) Type() rdb.Type {
	switch {
	case p.typ == store.List:
		return rdb.TypeListQuicklist2
	case p.typ == store.Set:
		return rdb.TypeSet
	case p.typ == store.ZSet:
		return rdb.TypeZSet2
	case p.timed:
		return rdb.TypeHashMetadata
	}
	return rdb.TypeHash
}

// Len is the number of elements.
func (p *Pieces) Len() int {
	if p.typ == store.List {
		return p.body.Items.Len()
	}
	return p.body.Members.Len()
}

// firstTime is what times of fields are relative to, so that they are as they are.
const firstTime = 1

// AppendHead appends what comes before the elements.
func (p *Pieces) AppendHead(dst []byte) []byte {
	if p.typ == store.List {
		return rdb.AppendLen(dst, uint64(p.body.Items.Nodes()))
	}
	if p.timed {
		dst = rdb.AppendMillis(dst, firstTime)
	}
	return rdb.AppendLen(dst, uint64(p.Len()))
}

// Append appends the next elements, about so many bytes of them; more is false
// after the last.
func (p *Pieces) Append(dst []byte, bytes int) (out []byte, more bool) {
	end := math.MaxInt
	if bytes < math.MaxInt-len(dst) {
		end = len(dst) + bytes
	}
	switch p.typ {
	case store.List:
		return p.nodes(dst, end)
	case store.ZSet:
		return p.scored(dst, end)
	}
	done := p.body.Members.WalkOnce(&p.place, func(k store.Key, e store.Entry) {
		if p.timed {
			dst = rdb.AppendLen(dst, uint64(e.ExpireAt))
		}
		dst = rdb.AppendString(dst, k.Name, p.compress)
		if p.typ == store.Hash {
			dst = rdb.AppendString(dst, e.Value, p.compress)
		}
	}, func() bool { return len(dst) >= end })
	return dst, !done
}

func (p *Pieces) nodes(dst []byte, end int) ([]byte, bool) {
	items := p.body.Items
	for p.next < items.Nodes() && len(dst) < end {
		elements, count := items.Node(p.next)
		dst = appendNode(dst, elements, count, p.compress)
		p.next++
	}
	return dst, p.next < items.Nodes()
}

func (p *Pieces) scored(dst []byte, end int) ([]byte, bool) {
	z := SortedSet{body: p.body}
	n := p.body.Order.Len()
	var room [TextMax]byte
	z.Walk(p.next, n-p.next, false, func(m pack.Element, score float64) bool {
		dst = rdb.AppendScore(rdb.AppendString(dst, Text(m, room[:]), p.compress), score)
		p.next++
		return len(dst) < end
	})
	return dst, p.next < n
}
