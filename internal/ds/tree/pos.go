package tree

// Pos is the position of an entry, valid until the next change of the tree. The
// zero Pos is the end: behind the last entry, and before the first one.
type Pos struct {
	leaf uint32
	at   uint32
}

// End says whether p is no entry's.
func (p Pos) End() bool { return p.leaf == 0 }

// Entry is the entry at p, which is not the end.
func (t *Tree) Entry(p Pos) (score float64, ref uint32) {
	l := t.leaf(p.leaf)
	return l.scores[p.at], l.refs[p.at]
}

// First is the position of the first entry, the end when there is none.
func (t *Tree) First() Pos {
	if t.n == 0 {
		return Pos{}
	}
	return t.At(0)
}

// Last is the position of the last entry, the end when there is none.
func (t *Tree) Last() Pos {
	if t.n == 0 {
		return Pos{}
	}
	return Pos{t.last, t.leaf(t.last).n - 1}
}

// Next is the position behind p; behind the end, the first one.
func (t *Tree) Next(p Pos) Pos {
	if p.leaf == 0 {
		return t.First()
	}
	l := t.leaf(p.leaf)
	if p.at++; p.at < l.n {
		return p
	}
	return Pos{l.next, 0}
}

// Prev is the position before p; before the end, the last one.
func (t *Tree) Prev(p Pos) Pos {
	if p.leaf == 0 {
		return t.Last()
	}
	if p.at > 0 {
		p.at--
		return p
	}
	l := t.leaf(p.leaf)
	if l.prev == 0 {
		return Pos{}
	}
	return Pos{l.prev, t.leaf(l.prev).n - 1}
}

// Seek is the position of the first entry that is not before b; the end when
// there is none. The last entry before b is at Prev of it.
func (t *Tree) Seek(b Bound) Pos {
	if t.root == 0 {
		return Pos{}
	}
	id := t.root
	for range t.height {
		in := t.inner(id)
		id = in.kids[t.child(in, &b)]
	}
	l := t.leaf(id)
	if at := uint32(t.place(l, &b)); at < l.n {
		return Pos{id, at}
	}
	return Pos{l.next, 0}
}

// Rank is the number of entries before b.
func (t *Tree) Rank(b Bound) int {
	if t.root == 0 {
		return 0
	}
	id, rank := t.root, 0
	for range t.height {
		in := t.inner(id)
		at := t.child(in, &b)
		for _, n := range in.sizes[:at] {
			rank += int(n)
		}
		id = in.kids[at]
	}
	return rank + t.place(t.leaf(id), &b)
}

// At is the position of the entry of a rank, 0..Len-1.
func (t *Tree) At(rank int) Pos {
	var p path
	t.walkTo(rank, &p)
	return Pos{p.ids[t.height], uint32(p.at[t.height])}
}

// walkTo fills the path to the entry of a rank.
func (t *Tree) walkTo(rank int, p *path) {
	if rank < 0 || rank >= t.n {
		panic("BUG: an entry of a rank that the tree does not have")
	}
	id := t.root
	for level := range t.height {
		in, at := t.inner(id), 0
		for rank >= int(in.sizes[at]) {
			rank -= int(in.sizes[at])
			at++
		}
		p.ids[level], p.at[level] = id, at
		id = in.kids[at]
	}
	p.ids[t.height], p.at[t.height] = id, rank
}
