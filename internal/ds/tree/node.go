package tree

import (
	"unsafe"

	"github.com/bowline-kv/bowline/internal/page"
)

const (
	leafMax   = 340
	innerMax  = 204
	heightMax = 8 // levels; non-edge nodes of 51 children reach 2^32 entries with six
)

// leaf holds entries in order; n of them are in use.
type leaf struct {
	n          uint32
	prev, next uint32 // leaves beside it, 0: none
	_          uint32
	scores     [leafMax]float64
	refs       [leafMax]uint32
}

// inner holds children in order; n of them are in use. scores and refs are the
// children's first entries.
type inner struct {
	n      uint32
	_      [3]uint32
	scores [innerMax]float64
	refs   [innerMax]uint32
	kids   [innerMax]uint32
	sizes  [innerMax]uint32 // entries below
}

// Both fill a page.
var (
	_ [page.Size - unsafe.Sizeof(leaf{})]byte
	_ [page.Size - unsafe.Sizeof(inner{})]byte
	_ [unsafe.Sizeof(leaf{}) - page.Size]byte
	_ [unsafe.Sizeof(inner{}) - page.Size]byte
)

// leaf and inner view a node. They are sound as long as the node is in use and
// of that kind, which its level says.
func (t *Tree) leaf(id uint32) *leaf   { return (*leaf)(t.nodes[id].Pointer()) }
func (t *Tree) inner(id uint32) *inner { return (*inner)(t.nodes[id].Pointer()) }

func (l *leaf) insert(at int, score float64, ref uint32) {
	n := int(l.n)
	copy(l.scores[at+1:n+1], l.scores[at:n])
	copy(l.refs[at+1:n+1], l.refs[at:n])
	l.scores[at], l.refs[at] = score, ref
	l.n++
}

func (l *leaf) remove(at int) {
	n := int(l.n)
	copy(l.scores[at:], l.scores[at+1:n])
	copy(l.refs[at:], l.refs[at+1:n])
	l.n--
}

// open makes room for a child at a place.
func (in *inner) open(at int) {
	n := int(in.n)
	copy(in.scores[at+1:n+1], in.scores[at:n])
	copy(in.refs[at+1:n+1], in.refs[at:n])
	copy(in.kids[at+1:n+1], in.kids[at:n])
	copy(in.sizes[at+1:n+1], in.sizes[at:n])
	in.n++
}

func (in *inner) remove(at int) {
	n := int(in.n)
	copy(in.scores[at:], in.scores[at+1:n])
	copy(in.refs[at:], in.refs[at+1:n])
	copy(in.kids[at:], in.kids[at+1:n])
	copy(in.sizes[at:], in.sizes[at+1:n])
	in.n--
}

// shift moves k elements from the front of the right array to the end of the
// left one, or -k the other way; ln and rn are in use.
func shift[T any](left, right []T, ln, rn, k int) {
	if k > 0 {
		copy(left[ln:], right[:k])
		copy(right, right[k:rn])
		return
	}
	copy(right[-k:], right[:rn])
	copy(right, left[ln+k:ln])
}

// shiftNodes is shift for two neighbors of a level.
func (t *Tree) shiftNodes(level int, left, right uint32, k int) {
	if level == t.height {
		l, r := t.leaf(left), t.leaf(right)
		ln, rn := int(l.n), int(r.n)
		shift(l.scores[:], r.scores[:], ln, rn, k)
		shift(l.refs[:], r.refs[:], ln, rn, k)
		l.n, r.n = uint32(ln+k), uint32(rn-k)
		return
	}
	l, r := t.inner(left), t.inner(right)
	ln, rn := int(l.n), int(r.n)
	shift(l.scores[:], r.scores[:], ln, rn, k)
	shift(l.refs[:], r.refs[:], ln, rn, k)
	shift(l.kids[:], r.kids[:], ln, rn, k)
	shift(l.sizes[:], r.sizes[:], ln, rn, k)
	l.n, r.n = uint32(ln+k), uint32(rn-k)
}

// count is how many elements a node of a level has.
func (t *Tree) count(level int, id uint32) int {
	if level == t.height {
		return int(t.leaf(id).n)
	}
	return int(t.inner(id).n)
}

// capacity is how many elements a node of a level can have.
func (t *Tree) capacity(level int) int {
	if level == t.height {
		return t.leafMost
	}
	return t.innerMost
}

// setFirst copies the first entry of child at, a node of a level, into its parent.
func (t *Tree) setFirst(in *inner, at, level int) {
	if level == t.height {
		l := t.leaf(in.kids[at])
		in.scores[at], in.refs[at] = l.scores[0], l.refs[0]
		return
	}
	k := t.inner(in.kids[at])
	in.scores[at], in.refs[at] = k.scores[0], k.refs[0]
}

// refresh puts right all that a parent says of child at, a node of a level.
func (t *Tree) refresh(in *inner, at, level int) {
	t.setFirst(in, at, level)
	if level == t.height {
		in.sizes[at] = t.leaf(in.kids[at]).n
		return
	}
	k := t.inner(in.kids[at])
	in.sizes[at] = 0
	for _, n := range k.sizes[:k.n] {
		in.sizes[at] += n
	}
}
