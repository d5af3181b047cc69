package value

import (
	"slices"

	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
)

// packedMax is the size in bytes above which nothing is packed, whatever the limits.
const packedMax = 1 << 30

// Set gives a field a value; added says that it is new. Its time stays if keep,
// else it has none. A hidden field is as one that is not there. fits is false, and
// nothing was done, when the hash must Grow before. The hash is owned.
func (h *Hash) Set(field, v []byte, keep bool, limit HashLimit) (added, fits bool) {
	if h.body != nil {
		return h.setMember(field, v, keep), true
	}
	if len(field) > limit.Value || len(v) > limit.Value || len(h.packed)+len(field)+len(v) > packedMax {
		return false, false
	}
	pos, fields := h.find(field), h.fields()
	if pos < 0 {
		fields++
	}
	if fields > limit.Entries {
		return false, false
	}
	if pos < 0 {
		h.packed = h.packed.Append(field).Append(v)
		if h.triple {
			h.packed = h.packed.AppendInt(0)
		}
		return true, true
	}
	h.packed = h.packed.Replace(h.packed.Next(pos), v)
	if !h.triple {
		return false, true
	}
	added = h.over(h.timeAt(pos))
	if added || !keep {
		h.moveTo(pos, 0)
	}
	return added, true
}

func (h *Hash) setMember(field, v []byte, keep bool) (added bool) {
	m := h.body.Members
	k, at := m.Key(field), int64(0)
	added = true
	if h.wake != 0 {
		// Without times there is no need to look: the number of members tells.
		if e, found := m.Get(k); found && !h.over(e.ExpireAt) {
			added = false
			if keep {
				at = e.ExpireAt
			}
		}
		m.SetRecord(k, store.String, v, at)
		return added
	}
	before := m.Len()
	m.SetRecord(k, store.String, v, 0)
	return m.Len() != before
}

// Delete removes a field; false when it is not there, or hidden. The hash is
// owned.
func (h *Hash) Delete(field []byte) bool {
	if h.body != nil {
		m := h.body.Members
		k := m.Key(field)
		if h.wake != 0 {
			if e, found := m.Get(k); found && h.over(e.ExpireAt) {
				return false
			}
		}
		return m.Delete(k)
	}
	pos := h.find(field)
	if pos < 0 || h.triple && h.over(h.timeAt(pos)) {
		return false
	}
	h.packed = h.packed.Delete(pos, h.width())
	return true
}

// SetTime sets when a field expires, in unix milliseconds; 0: never. The field is
// there and not hidden, and the hash is owned for times.
func (h *Hash) SetTime(field []byte, at int64) {
	if h.body == nil {
		h.moveTo(h.find(field), at)
		return
	}
	m := h.body.Members
	m.SetExpiry(m.Key(field), at)
	if at != 0 && (h.wake == 0 || at < h.wake) {
		h.wake = at
	}
}

// moveTo gives the triple at pos another time and the place for it.
func (h *Hash) moveTo(pos int, at int64) {
	p := h.packed
	t := p.Next(p.Next(pos))
	old, _ := p.Get(t).Int()
	if old == at {
		return
	}
	it := pack.IntItem(at)
	p = p.ReplaceItem(t, &it)
	end := p.Next(t)
	h.packed = p
	if to := h.placeOf(pos, at); to > pos {
		rotate(p[pos:to], end-pos)
	} else {
		rotate(p[to:end], pos-to)
	}
}

// placeOf is where a triple with a time belongs, the one at pos left out of
// account: the position of the first that expires later.
func (h *Hash) placeOf(pos int, at int64) int {
	p := h.packed
	to := p.First()
	for to < p.End() {
		if other := h.timeAt(to); to != pos && at != 0 && (other == 0 || other > at) {
			break
		}
		to = p.Next(p.Next(p.Next(to)))
	}
	return to
}

// DropHidden removes all hidden fields of a packed hash, which is owned, and gives
// their number. visit is told of each before.
func (h *Hash) DropHidden(visit func(field pack.Element)) (n int) {
	_, n = h.visible()
	pos := h.packed.First()
	for range n {
		visit(h.packed.Get(pos))
		pos = h.packed.Next(h.packed.Next(h.packed.Next(pos)))
	}
	h.packed = h.packed.Delete(h.packed.First(), 3*n)
	return n
}

// rotate moves the first n bytes of b behind the others.
func rotate(b []byte, n int) {
	slices.Reverse(b[:n])
	slices.Reverse(b[n:])
	slices.Reverse(b)
}

// Grow makes a packed hash large, in an empty body.
func (h *Hash) Grow(body *store.Body) {
	h.wake = 0
	if h.triple {
		h.wake = h.first()
	}
	now := h.now
	h.now = 0 // hidden fields move too
	var nameRoom, valueRoom [TextMax]byte
	h.Each(func(field, v pack.Element, at int64) bool {
		m := body.Members
		m.SetRecord(m.Key(Text(field, nameRoom[:])), store.String, Text(v, valueRoom[:]), at)
		return true
	})
	h.packed, h.body, h.triple, h.now = nil, body, false, now
}

// TextMax is the longest text of an integer, in bytes.
const TextMax = 20

// Text is the value of an element as text: a view of the element, or in room, which
// has [TextMax] bytes.
func Text(e pack.Element, room []byte) []byte {
	if n, ok := e.Int(); ok {
		return resp.AppendInt(room[:0], n)
	}
	return e.Bytes()
}
