package tree

import (
	"unsafe"

	"github.com/bowline-kv/bowline/internal/page"
)

// Tree is an ordered set of entries. Its methods are not for concurrent use.
type Tree struct {
	pool  *page.Pool
	order Order
	// nodes has the page of each node by its number. Number 0 is no node, and
	// unused numbers are linked; see newNode.
	nodes  []page.Addr
	unused uint32
	pages  int
	root   uint32 // 0: the tree is empty
	height int    // the level of the leaves; the root's is 0
	last   uint32 // the last leaf
	n      int
	// leafMost and innerMost are leafMax and innerMax, but in tests of high trees.
	leafMost, innerMost int
}

// New makes an empty tree, which takes no page.
func New(pool *page.Pool, order Order) *Tree {
	return &Tree{pool: pool, order: order, leafMost: leafMax, innerMost: innerMax}
}

// Len is the number of entries.
func (t *Tree) Len() int { return t.n }

// Footprint is the memory of the tree in bytes: whole pages, and the list of them.
func (t *Tree) Footprint() int64 {
	return int64(t.pages)*page.Size + int64(cap(t.nodes))*8 + int64(unsafe.Sizeof(*t))
}

// Insert adds an entry; false when the score and the member are there already.
// score is not NaN; -0 and 0 are equal. At most 2^32-1 entries fit.
func (t *Tree) Insert(score float64, member []byte, ref uint32) bool {
	if t.root == 0 {
		t.root = t.newNode()
		*t.leaf(t.root) = leaf{}
		t.last = t.root
	}
	b := AtMember(score, member)
	var p path
	for {
		if t.find(&b, &p) {
			return false
		}
		if int(t.leaf(p.ids[t.height]).n) < t.leafMost {
			break
		}
		t.makeRoom(&p, t.height)
	}
	at := p.at[t.height]
	t.leaf(p.ids[t.height]).insert(at, score, ref)
	t.n++
	for level := t.height; level > 0; level-- {
		in, i := t.inner(p.ids[level-1]), p.at[level-1]
		in.sizes[i]++
		if at == 0 {
			t.setFirst(in, i, level)
		}
	}
	return true
}

// Delete removes the entry of a score and a member and gives its reference; false
// when there is none. The reference must still name the member.
func (t *Tree) Delete(score float64, member []byte) (ref uint32, ok bool) {
	b := AtMember(score, member)
	var p path
	if t.root == 0 || !t.find(&b, &p) {
		return 0, false
	}
	_, ref = t.remove(&p)
	return ref, true
}

// DeleteAt removes the entry of a rank, 0..Len-1, without a look at its member.
func (t *Tree) DeleteAt(rank int) (score float64, ref uint32) {
	var p path
	t.walkTo(rank, &p)
	return t.remove(&p)
}

// ReplaceRef writes another reference to the entry of a score and a member;
// false when the entry is not there with the old one. Neither reference is read:
// the member may be moving from one to the other.
func (t *Tree) ReplaceRef(score float64, member []byte, from, to uint32) bool {
	b := Bound{kind: byRef, score: score, member: member, ref: from}
	var p path
	if t.root == 0 || !t.find(&b, &p) {
		return false
	}
	l, at := t.leaf(p.ids[t.height]), p.at[t.height]
	if l.refs[at] != from {
		return false
	}
	l.refs[at] = to
	for level := t.height; level > 0 && p.at[level] == 0; level-- {
		t.setFirst(t.inner(p.ids[level-1]), p.at[level-1], level)
	}
	return true
}
