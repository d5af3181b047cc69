package value

import (
	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/store"
)

// Pieces is a large collection, as of the moment of [NewPieces], on its way into a
// snapshot, piece by piece. Between the pieces the collection may change. Its form is
// that of [AppendRDB], except that the times of fields are not made short by the
// earliest one, for which all would have to be looked at first.
type Pieces struct {
	typ      store.Type
	timed    bool
	compress bool
	count    int // of elements, or of nodes of a list
	image    *store.Image
}

// NewPieces begins with a collection that was found under a key, and its body. What
// a change would destroy goes to the keeper: members are to be encoded by
// [Pieces.AppendMember], and written between the pieces. It ends with [Pieces.End].
func NewPieces(t *store.Table, k *store.Key, e *store.Entry, keeper store.Keeper, compress bool) *Pieces {
	body := t.Body(e)
	p := &Pieces{typ: e.Type, timed: e.Timed, compress: compress, image: t.Image(k, body, keeper)}
	if p.typ == store.List {
		p.count = p.image.List().Nodes()
	} else {
		p.count = body.Members.Len()
	}
	return p
}

// Image is what the pieces are made of.
func (p *Pieces) Image() *store.Image { return p.image }

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

// firstTime is what times of fields are relative to, so that they are as they are.
const firstTime = 1

// AppendHead appends what comes before the elements.
func (p *Pieces) AppendHead(dst []byte) []byte {
	if p.timed {
		dst = rdb.AppendMillis(dst, firstTime)
	}
	return rdb.AppendLen(dst, uint64(p.count))
}

// AppendNodes appends the next nodes of a list, about so many bytes of them, and gives
// their number, for [chain.Image.Pass]. It needs no lock.
func (p *Pieces) AppendNodes(dst []byte, bytes int) (out []byte, nodes int) {
	for end := len(dst) + bytes; len(dst) < end; nodes++ {
		elements, count, ok := p.image.List().Peek(nodes)
		if !ok {
			break
		}
		dst = appendNode(dst, elements, count, p.compress)
	}
	return dst, nodes
}

// AppendMember appends a member of a hash, a set or a sorted set.
func (p *Pieces) AppendMember(dst, name []byte, e *store.Entry) []byte {
	dst = p.AppendName(dst, name, e)
	switch p.typ {
	case store.Hash:
		dst = rdb.AppendString(dst, e.Value, p.compress)
	case store.ZSet:
		dst = rdb.AppendScore(dst, e.Score())
	}
	return dst
}

// AppendName appends what comes before the value of a member.
func (p *Pieces) AppendName(dst, name []byte, e *store.Entry) []byte {
	if p.timed {
		dst = rdb.AppendLen(dst, uint64(e.ExpireAt))
	}
	return rdb.AppendString(dst, name, p.compress)
}
