package value

import (
	"math"

	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/store"
)

// AppendRDB appends a value in the form of snapshots, without its type, which it
// returns: as near as possible to how it is kept, but for what Redis 7.0 can't
// read. compress asks for long strings to be compressed.
func AppendRDB(dst []byte, e *store.Entry, body *store.Body, compress bool) (rdb.Type, []byte) {
	switch e.Type {
	case store.List:
		return rdb.TypeListQuicklist2, appendList(dst, e, body, compress)
	case store.Set:
		return appendSet(dst, e, body, compress)
	case store.ZSet:
		return appendSortedSet(dst, e, body, compress)
	case store.Hash:
		return appendHash(dst, e, body, compress)
	}
	return rdb.TypeString, rdb.AppendString(dst, e.Value, compress)
}

// RDBVersion is the oldest version of the format that has the form in which
// AppendRDB writes a value.
func RDBVersion(e *store.Entry) int {
	if e.Timed {
		return rdb.Version
	}
	return rdb.VersionWritten
}

// plainMin is the size in bytes from which on an element of a list is written by
// itself: no listpack is that large.
const plainMin = 1 << 30

func appendList(dst []byte, e *store.Entry, body *store.Body, compress bool) []byte {
	if body == nil {
		return appendNode(rdb.AppendLen(dst, 1), pack.Pack(e.Value).Elements(), pack.Pack(e.Value).Len(), compress)
	}
	dst = rdb.AppendLen(dst, uint64(body.Items.Nodes()))
	for i := range body.Items.Nodes() {
		elements, count := body.Items.Node(i)
		dst = appendNode(dst, elements, count, compress)
	}
	return dst
}

func appendNode(dst, elements []byte, count int, compress bool) []byte {
	if count == 1 && len(elements) >= plainMin {
		return rdb.AppendNode(dst, rdb.NodePlain, pack.Get(elements, 0).AppendTo(nil), compress)
	}
	return rdb.AppendNode(dst, rdb.NodePacked, pack.AppendListpack(nil, count, elements), compress)
}

func appendSet(dst []byte, e *store.Entry, body *store.Body, compress bool) (rdb.Type, []byte) {
	s := SetOf(e, body)
	if body == nil {
		if ints, ok := s.ints(); ok {
			return rdb.TypeSetIntset, rdb.AppendString(dst, ints.AppendIntset(nil), compress)
		}
	}
	dst = rdb.AppendLen(dst, uint64(s.Len()))
	var room [TextMax]byte
	s.Each(func(m pack.Element) bool {
		dst = rdb.AppendString(dst, Text(m, room[:]), compress)
		return true
	})
	return rdb.TypeSet, dst
}

func appendSortedSet(dst []byte, e *store.Entry, body *store.Body, compress bool) (rdb.Type, []byte) {
	if body == nil {
		return rdb.TypeZSetListpack, rdb.AppendString(dst, pack.Pack(e.Value).AppendListpack(nil), compress)
	}
	dst = rdb.AppendLen(dst, uint64(body.Order.Len()))
	var room [TextMax]byte
	VisitSortedSet(e, body, func(m pack.Element, score float64) bool {
		dst = rdb.AppendScore(rdb.AppendString(dst, Text(m, room[:]), compress), score)
		return true
	})
	return rdb.TypeZSet2, dst
}

func appendHash(dst []byte, e *store.Entry, body *store.Body, compress bool) (rdb.Type, []byte) {
	if body == nil && !e.Timed {
		return rdb.TypeHashListpack, rdb.AppendString(dst, pack.Pack(e.Value).AppendListpack(nil), compress)
	}
	// Nothing is hidden: what is over goes with the rest, as in Redis.
	h := HashOf(e, body, 0, 0)
	n, first := 0, int64(math.MaxInt64)
	h.Each(func(_, _ pack.Element, at int64) bool {
		n++
		if at != 0 {
			first = min(first, at)
		}
		return true
	})
	if first == math.MaxInt64 {
		first = 0
	}
	if body == nil {
		dst = rdb.AppendMillis(dst, first)
		return rdb.TypeHashListpackEx, rdb.AppendString(dst, pack.Pack(e.Value).AppendListpack(nil), compress)
	}
	t := rdb.TypeHash
	if e.Timed {
		t = rdb.TypeHashMetadata
		dst = rdb.AppendMillis(dst, first)
	}
	dst = rdb.AppendLen(dst, uint64(n))
	var name, text [TextMax]byte
	h.Each(func(field, v pack.Element, at int64) bool {
		if e.Timed {
			if at != 0 {
				at -= first - 1
			}
			dst = rdb.AppendLen(dst, uint64(at))
		}
		dst = rdb.AppendString(dst, Text(field, name[:]), compress)
		dst = rdb.AppendString(dst, Text(v, text[:]), compress)
		return true
	})
	return t, dst
}
