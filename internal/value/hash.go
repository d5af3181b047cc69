package value

import (
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/store"
)

// Hash is a view of a hash at a moment; the zero Hash is empty and packed.
//
// A field whose time is over is hidden from reading, as if it were gone, until
// somebody removes it; only [Hash.Drained] counts it. Packed, a hash is one of
//
//	field, value, field, value, ...            no field expires
//	field, value, time, field, value, time...  some do: by time, unix
//	                                           milliseconds, those that don't,
//	                                           with 0, last
//
// and as large, the times are those of the members.
type Hash struct {
	packed pack.Pack // nil: there is none yet, or the hash is large
	body   *store.Body
	triple bool  // packed with times
	now    int64 // unix milliseconds
	wake   int64 // of a large one: no field expires before; 0: none does
}

// HashLimit says up to what a hash is packed; Redis has the same numbers in its
// settings.
type HashLimit struct {
	Entries int // fields
	Value   int // bytes of a field or value
}

// HashOf makes a view of a hash that was found, at now (unix milliseconds; 0 hides no
// field). body is nil unless it is large, and wakeAt is [store.Table.WakeAt].
func HashOf(e *store.Entry, body *store.Body, now, wakeAt int64) Hash {
	if body != nil {
		return Hash{body: body, now: now, wake: wakeAt}
	}
	return Hash{packed: e.Value, triple: e.Timed, now: now}
}

// NewHash is an empty hash at a moment.
func NewHash(now int64) Hash { return Hash{now: now} }

// EncodingHash is what OBJECT ENCODING calls the form of a hash.
func EncodingHash(e *store.Entry) string {
	switch {
	case e.Large():
		return "hashtable"
	case e.Timed:
		return "listpackex"
	}
	return "listpack"
}

// Own makes the hash ready for changes, which go into buf if it is packed. When
// timed, fields may be given times.
func (h *Hash) Own(buf []byte, timed bool) {
	switch {
	case h.body != nil:
	case h.packed == nil:
		h.packed = append(buf[:0], 0, 0)
		h.triple = timed
	case timed && !h.triple:
		h.packed = appendTimes(append(buf[:0], 0, 0), h.packed)
		h.triple = true
	default:
		h.packed = append(buf[:0], h.packed...)
	}
}

// OwnRoom is Own for a packed hash without times that is changed where it is: in
// room, which holds it and has its capacity.
func (h *Hash) OwnRoom(room []byte) { h.packed = room }

// appendTimes appends pairs as triples without times.
func appendTimes(dst, pairs pack.Pack) pack.Pack {
	for pos := pairs.First(); pos < pairs.End(); {
		end := pairs.Next(pairs.Next(pos))
		dst = dst.AppendElements(pairs[pos:end], 2).AppendInt(0)
		pos = end
	}
	return dst
}

// Content is what the key is to be given: one of packed, which must be owned, and
// body is not nil. wakeAt is when the first field expires, at the earliest; 0:
// none does.
func (h *Hash) Content() (packed []byte, body *store.Body, wakeAt int64) {
	switch {
	case h.body != nil && h.body.Members.Expiring() == 0:
		return nil, h.body, 0
	case h.body != nil:
		return nil, h.body, h.wake
	case !h.triple:
		return h.packed, nil, 0
	}
	if wakeAt = h.first(); wakeAt == 0 {
		h.dropTimes()
	}
	return h.packed, nil, wakeAt
}

// first is the time of the first triple, 0 when there is none.
func (h *Hash) first() int64 {
	if pos := h.packed.First(); pos < h.packed.End() {
		return h.timeAt(pos)
	}
	return 0
}

// dropTimes makes pairs of triples.
func (h *Hash) dropTimes() {
	p := h.packed
	to := p.First()
	n := p.Len() / 3 * 2
	for pos := to; pos < p.End(); {
		end := p.Next(p.Next(pos))
		next := p.Next(end)
		to += copy(p[to:], p[pos:end])
		pos = next
	}
	h.packed = pack.Pack(append(p[:0], 0, 0)).AppendElements(p[p.First():to], n)
	h.triple = false
}

// width is how many elements a packed field takes.
func (h *Hash) width() int {
	if h.triple {
		return 3
	}
	return 2
}

// timeAt is the time of the triple at a position.
func (h *Hash) timeAt(pos int) int64 {
	p := h.packed
	at, _ := p.Get(p.Next(p.Next(pos))).Int()
	return at
}

// over says whether a time is over.
func (h *Hash) over(at int64) bool { return at != 0 && at <= h.now }

// Large says whether the hash has a body.
func (h *Hash) Large() bool { return h.body != nil }

// Drained says whether no field is left, not even a hidden one.
func (h *Hash) Drained() bool {
	if h.body != nil {
		return h.body.Members.Len() == 0
	}
	return h.fields() == 0
}

// fields is the number of packed fields, hidden ones included.
func (h *Hash) fields() int {
	if h.packed == nil {
		return 0
	}
	return h.packed.Len() / h.width()
}

// Len is the number of fields.
func (h *Hash) Len() int {
	if h.body == nil {
		_, hidden := h.visible()
		return h.fields() - hidden
	}
	if h.wake == 0 || h.wake > h.now {
		return h.body.Members.Len()
	}
	n := 0
	h.body.Members.Each(func(_ store.Key, e store.Entry) {
		if !h.over(e.ExpireAt) {
			n++
		}
	})
	return n
}

// visible is where the packed fields begin that are not hidden, and how many are
// before it.
func (h *Hash) visible() (pos, hidden int) {
	if h.packed == nil {
		return 0, 0
	}
	pos = h.packed.First()
	if !h.triple {
		return pos, 0
	}
	for pos < h.packed.End() && h.over(h.timeAt(pos)) {
		pos = h.packed.Next(h.packed.Next(h.packed.Next(pos)))
		hidden++
	}
	return pos, hidden
}

// find gives the position of a packed field, hidden or not; -1: none.
func (h *Hash) find(field []byte) int {
	if h.packed == nil {
		return -1
	}
	return h.packed.Find(h.packed.First(), field, h.width()-1)
}

// Get gives the value of a field, and the time at which it expires in unix
// milliseconds, 0: never.
func (h *Hash) Get(field []byte) (v pack.Element, at int64, ok bool) {
	if h.body != nil {
		e, found := h.body.Members.Get(h.body.Members.Key(field))
		if !found || h.over(e.ExpireAt) {
			return v, 0, false
		}
		return pack.String(e.Value), e.ExpireAt, true
	}
	pos := h.find(field)
	if pos < 0 {
		return v, 0, false
	}
	pos = h.packed.Next(pos)
	if h.triple {
		at, _ = h.packed.Get(h.packed.Next(pos)).Int()
		if h.over(at) {
			return v, 0, false
		}
	}
	return h.packed.Get(pos), at, true
}

// Each visits fields, values and times, until visit says no. Packed fields come in
// their order, others in any.
func (h *Hash) Each(visit func(field, v pack.Element, at int64) (more bool)) {
	if h.body != nil {
		more := true
		h.body.Members.Each(func(k store.Key, e store.Entry) {
			if more && !h.over(e.ExpireAt) {
				more = visit(pack.String(k.Name), pack.String(e.Value), e.ExpireAt)
			}
		})
		return
	}
	p := h.packed
	for pos, _ := h.visible(); pos < len(p); {
		field := p.Get(pos)
		pos = p.Next(pos)
		v, at := p.Get(pos), int64(0)
		if pos = p.Next(pos); h.triple {
			at, _ = p.Get(pos).Int()
			pos = p.Next(pos)
		}
		if !visit(field, v, at) {
			return
		}
	}
}

// VisitHash visits all fields of a hash, as [Hash.Each]. Those whose time is over at
// now (unix milliseconds) are passed over.
func VisitHash(e *store.Entry, body *store.Body, now int64, visit func(field, v pack.Element, at int64) (more bool)) {
	h := HashOf(e, body, now, now)
	h.Each(visit)
}

// Scan visits fields from a cursor on, all of them if they are packed; see
// [ScanMembers].
func (h *Hash) Scan(cursor uint64, want int, visit func(field, v pack.Element)) (next uint64) {
	if h.body == nil {
		h.Each(func(field, v pack.Element, _ int64) bool {
			visit(field, v)
			return true
		})
		return 0
	}
	return ScanMembers(h.body.Members, cursor, want, func(k store.Key, e store.Entry) {
		if !h.over(e.ExpireAt) {
			visit(pack.String(k.Name), pack.String(e.Value))
		}
	})
}

// randomTries bounds the search for a field that is not hidden.
const randomTries = 100

// Random gives a field chosen evenly, and its value; Len is not 0. random gives
// random numbers.
func (h *Hash) Random(random func() uint64) (field, v pack.Element) {
	if h.body == nil {
		_, hidden := h.visible()
		i := hidden + Below(random(), h.fields()-hidden)
		pos := h.packed.At(i * h.width())
		return h.packed.Get(pos), h.packed.Get(h.packed.Next(pos))
	}
	m := h.body.Members
	for range randomTries {
		k, _ := m.RandomKey(random())
		if e, _ := m.Get(k); !h.over(e.ExpireAt) {
			return pack.String(k.Name), pack.String(e.Value)
		}
	}
	h.Sample(1, random, func(f, w pack.Element) { field, v = f, w })
	return field, v
}

// Sample visits n different fields, 0..Len, every choice equally likely. random
// gives random numbers.
func (h *Hash) Sample(n int, random func() uint64, visit func(field, v pack.Element)) {
	size := h.Len()
	if h.body != nil && n <= size/rarely && size == h.body.Members.Len() {
		sampleMembers(h.body.Members, n, random, func(k store.Key, e store.Entry) {
			visit(pack.String(k.Name), pack.String(e.Value))
		})
		return
	}
	sampler := NewSampler(n, size)
	h.Each(func(field, v pack.Element, _ int64) bool {
		if sampler.Done() {
			return false
		}
		if sampler.Take(random()) {
			visit(field, v)
		}
		return true
	})
}
