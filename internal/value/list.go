package value

import (
	"github.com/bowline-kv/bowline/internal/ds/chain"
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/store"
)

// List is a view of a list; the zero List is empty and packed.
type List struct {
	packed pack.Pack // nil: there is none yet, or the list is large
	body   *store.Body
}

// ListOf makes a view of a list that was found; body is nil unless it is large.
func ListOf(e *store.Entry, body *store.Body) List {
	if body != nil {
		return List{body: body}
	}
	return List{packed: e.Value}
}

// EncodingList is what OBJECT ENCODING calls the form of a list: what Redis would
// have chosen.
func EncodingList(body *store.Body) string {
	if body != nil && !body.Compact {
		return "quicklist"
	}
	return "listpack"
}

// packedList is the size in bytes up to which a list is packed in its record, if
// the limit allows more: beyond it, moving the elements for each change costs more
// than a page.
const packedList = 2 << 10

// listpackExtra is how many bytes more a listpack has than its elements.
const listpackExtra = 7

// Own makes the list ready for changes, which go into buf if it is packed.
func (l *List) Own(buf []byte) {
	if l.body != nil {
		return
	}
	if l.packed == nil {
		l.packed = append(buf[:0], 0, 0)
	} else {
		l.packed = append(buf[:0], l.packed...)
	}
}

// Content is what the key is to be given, and body what it has in place of it;
// one of them is nil.
func (l *List) Content() (packed []byte, body *store.Body) { return l.packed, l.body }

// Fits says whether a list with so many more elements, of so many bytes
// together, may stay as it is; otherwise it is packed and must Grow.
func (l *List) Fits(limit chain.Limit, count, bytes int) bool {
	if l.body == nil {
		return l.bytes()+bytes <= packedList && l.compact(limit, count, bytes)
	}
	if l.body.Compact {
		l.body.Compact = l.compact(limit, count, bytes)
	}
	return true
}

// compact says whether Redis would keep the list packed with so much more.
func (l *List) compact(limit chain.Limit, count, bytes int) bool {
	return limit.Packed(l.bytes()+listpackExtra+bytes, l.Len()+count)
}

// bytes is the size of the elements.
func (l *List) bytes() (n int) {
	switch {
	case l.body != nil:
		for i := range l.body.Items.Nodes() {
			elements, _ := l.body.Items.Node(i)
			n += len(elements)
		}
		return n
	case l.packed == nil:
		return 0
	}
	return len(l.packed.Elements())
}

// Grow makes a packed list large, in an empty body, to take so much more.
func (l *List) Grow(body *store.Body, limit chain.Limit, count, bytes int) {
	body.Compact = l.compact(limit, count, bytes)
	body.Items.AppendPack(l.packed)
	l.packed, l.body = nil, body
}

// Shrink makes a large list packed, in buf, when it takes less than half of what
// is allowed, so that it does not go back and forth; false when it stays large.
func (l *List) Shrink(limit chain.Limit, buf []byte) bool {
	if l.body == nil || l.body.Items.Nodes() != 1 {
		return false
	}
	elements, count := l.body.Items.Node(0)
	if !l.body.Compact {
		if len(elements)+listpackExtra > limit.Bytes/2 || count > limit.Count/2 {
			return false
		}
		l.body.Compact = true
	}
	if len(elements) > packedList/2 {
		return false
	}
	l.packed = pack.Pack(append(buf[:0], 0, 0)).AppendElements(elements, count)
	l.body = nil
	return true
}

// Len is the number of elements.
func (l *List) Len() int {
	switch {
	case l.body != nil:
		return l.body.Items.Len()
	case l.packed == nil:
		return 0
	}
	return l.packed.Len()
}

// Get gives element i, 0..Len-1.
func (l *List) Get(i int) pack.Element {
	if l.body != nil {
		return l.body.Items.Get(l.body.Items.At(i))
	}
	return l.packed.Get(l.packed.At(i))
}

// Push adds a value at either end. The list is owned.
func (l *List) Push(v []byte, front bool) {
	switch {
	case l.body != nil && front:
		l.body.Items.PushFront(v)
	case l.body != nil:
		l.body.Items.PushBack(v)
	case front:
		l.packed = l.packed.Prepend(v)
	default:
		l.packed = l.packed.Append(v)
	}
}

// End is the element at either end; the list is not empty.
func (l *List) End(front bool) pack.Element {
	switch {
	case l.body != nil && front:
		return l.body.Items.Front()
	case l.body != nil:
		return l.body.Items.Back()
	case front:
		return l.packed.Get(l.packed.First())
	}
	return l.packed.Get(l.packed.Last())
}

// Drop removes the element at either end; the list is owned and not empty.
func (l *List) Drop(front bool) {
	switch {
	case l.body != nil && front:
		l.body.Items.DropFront()
	case l.body != nil:
		l.body.Items.DropBack()
	case front:
		l.packed = l.packed.Delete(l.packed.First(), 1)
	default:
		l.packed = l.packed.Delete(l.packed.Last(), 1)
	}
}

// Set gives element i, 0..Len-1, another value. The list is owned.
func (l *List) Set(i int, v []byte) {
	if l.body != nil {
		l.body.Items.Set(l.body.Items.At(i), v)
		return
	}
	l.packed = l.packed.Replace(l.packed.At(i), v)
}

// Insert puts a value next to element i, 0..Len-1. The list is owned.
func (l *List) Insert(i int, before bool, v []byte) {
	switch {
	case l.body != nil && before:
		l.body.Items.InsertBefore(l.body.Items.At(i), v)
	case l.body != nil:
		l.body.Items.InsertAfter(l.body.Items.At(i), v)
	case before:
		l.packed = l.packed.Insert(l.packed.At(i), v)
	default:
		l.packed = l.packed.Insert(l.packed.Next(l.packed.At(i)), v)
	}
}

// Keep removes all elements but n from number i on, 0 <= i, i+n <= Len. The list
// is owned.
func (l *List) Keep(i, n int) {
	if l.body != nil {
		l.body.Items.Trim(i, n)
		return
	}
	if behind := l.packed.Len() - i - n; behind > 0 {
		l.packed = l.packed.Delete(l.packed.At(i+n), behind)
	}
	if i > 0 {
		l.packed = l.packed.Delete(l.packed.First(), i)
	}
}

// Remove removes up to most elements with a value, from the front or from the
// back, and gives their number. The list is owned.
func (l *List) Remove(v []byte, most int, fromBack bool) (removed int) {
	it := pack.ItemOf(v)
	if l.body != nil {
		return l.body.Items.Remove(&it, most, fromBack)
	}
	if fromBack {
		for pos := len(l.packed.Elements()); removed < most; removed++ {
			if pos = pack.FindBack(l.packed.Elements(), pos, &it); pos < 0 {
				break
			}
			l.packed = l.packed.Delete(l.packed.First()+pos, 1)
		}
		return removed
	}
	for pos := l.packed.First(); removed < most; removed++ {
		if pos = pack.Find(l.packed, pos, 0, &it); pos < 0 {
			break
		}
		l.packed = l.packed.Delete(pos, 1)
	}
	return removed
}

// Each visits elements in order from number i on, 0..Len, until visit says no.
func (l *List) Each(i int, visit func(e pack.Element) (more bool)) {
	if l.body != nil {
		c := l.body.Items
		for p := c.At(i); c.Valid(p) && visit(c.Get(p)); p = c.Next(p) {
		}
		return
	}
	if i >= l.Len() {
		return
	}
	for pos := l.packed.At(i); pos < l.packed.End() && visit(l.packed.Get(pos)); pos = l.packed.Next(pos) {
	}
}

// EachBack is Each in the reverse order, from number i in 0..Len-1.
func (l *List) EachBack(i int, visit func(e pack.Element) (more bool)) {
	if l.body != nil {
		c := l.body.Items
		for p := c.At(i); c.Valid(p) && visit(c.Get(p)); p = c.Prev(p) {
		}
		return
	}
	if l.Len() == 0 {
		return
	}
	for pos := l.packed.At(i); visit(l.packed.Get(pos)) && pos > l.packed.First(); {
		pos = l.packed.Prev(pos)
	}
}

// VisitList visits all elements of a list in order, until visit says no.
func VisitList(e *store.Entry, body *store.Body, visit func(e pack.Element) (more bool)) {
	l := ListOf(e, body)
	l.Each(0, visit)
}
