package tree

// makeRoom makes the full node of a level less full, or one above it when there
// is no room for another child. The path is void afterwards: the caller looks again.
func (t *Tree) makeRoom(p *path, level int) {
	if level == 0 {
		t.raise()
		return
	}
	in, at := t.inner(p.ids[level-1]), p.at[level-1]
	if at > 0 && t.share(in, at-1, level) || at+1 < int(in.n) && t.share(in, at, level) {
		return
	}
	if int(in.n) == t.capacity(level-1) {
		t.makeRoom(p, level-1)
		return
	}
	t.split(in, at, level, t.cutOf(p, level))
}

// raise puts a new root above the root.
func (t *Tree) raise() {
	id := t.newNode()
	in := t.inner(id)
	in.n, in.kids[0] = 1, t.root
	t.root = id
	t.height++
	t.refresh(in, 0, 1)
}

// share levels the children at and at+1, nodes of a level, one of which is full,
// when the other has a sixteenth of its room left: many inserts then pay for it.
func (t *Tree) share(in *inner, at, level int) bool {
	left, right := in.kids[at], in.kids[at+1]
	ln, rn := t.count(level, left), t.count(level, right)
	if max(ln-rn, rn-ln) < max(2, t.capacity(level)/16) {
		return false
	}
	t.level(in, at, level, (rn-ln)/2)
	return true
}

// level moves k elements from child at+1 to child at, nodes of a level.
func (t *Tree) level(in *inner, at, level, k int) {
	t.shiftNodes(level, in.kids[at], in.kids[at+1], k)
	t.refresh(in, at, level)
	t.refresh(in, at+1, level)
}

// cutOf is how many elements of the full node of a level stay in it when it is
// split: half of them, but at an end of the tree, where the next inserts will
// likely be as well, all that can.
func (t *Tree) cutOf(p *path, level int) int {
	most := t.capacity(level)
	first, last := true, true
	for l := range level {
		first = first && p.at[l] == 0
		last = last && p.at[l] == t.count(l, p.ids[l])-1
	}
	switch {
	case last && p.at[level] >= most-1:
		return most - 1
	case first && p.at[level] == 0:
		return 1
	}
	return most / 2
}

// split moves all but the first cut elements of child at, a node of a level, to
// a new node behind it.
func (t *Tree) split(in *inner, at, level, cut int) {
	left, right := in.kids[at], t.newNode()
	if level == t.height {
		l, r := t.leaf(left), t.leaf(right)
		r.n, r.prev, r.next = 0, left, l.next
		if l.next != 0 {
			t.leaf(l.next).prev = right
		} else {
			t.last = right
		}
		l.next = right
	} else {
		t.inner(right).n = 0
	}
	in.open(at + 1)
	in.kids[at+1] = right
	t.level(in, at, level, cut-t.count(level, left))
}

// remove takes the entry at the end of the path out.
func (t *Tree) remove(p *path) (score float64, ref uint32) {
	l, at := t.leaf(p.ids[t.height]), p.at[t.height]
	score, ref = l.scores[at], l.refs[at]
	l.remove(at)
	t.n--
	for level := t.height; level > 0; level-- {
		in, i := t.inner(p.ids[level-1]), p.at[level-1]
		if t.count(level, p.ids[level]) == 0 {
			t.drop(level, p.ids[level])
			in.remove(i)
			continue
		}
		in.sizes[i]--
		t.setFirst(in, i, level)
		t.fill(in, i, level)
	}
	t.lower()
	return score, ref
}

// fill merges child at, a node of a level, with a neighbor when the two are one
// node with room for more, or takes of it when it is less than a quarter full.
func (t *Tree) fill(in *inner, at, level int) {
	most := t.capacity(level)
	n := t.count(level, in.kids[at])
	if n >= most/2 || in.n == 1 {
		return
	}
	if at == int(in.n)-1 {
		at--
	}
	left, right := in.kids[at], in.kids[at+1]
	ln, rn := t.count(level, left), t.count(level, right)
	switch {
	case ln+rn <= most*7/8:
		t.shiftNodes(level, left, right, rn)
		t.drop(level, right)
		in.remove(at + 1)
		t.refresh(in, at, level)
	case n < most/4:
		t.level(in, at, level, (rn-ln)/2)
	}
}

// drop gives back an empty node of a level.
func (t *Tree) drop(level int, id uint32) {
	if level == t.height {
		l := t.leaf(id)
		if l.prev != 0 {
			t.leaf(l.prev).next = l.next
		}
		if l.next != 0 {
			t.leaf(l.next).prev = l.prev
		} else {
			t.last = l.prev
		}
	}
	t.freeNode(id)
}

// lower takes away roots that are of no use.
func (t *Tree) lower() {
	for t.height > 0 && t.inner(t.root).n == 1 {
		old := t.root
		t.root = t.inner(old).kids[0]
		t.freeNode(old)
		t.height--
	}
	if t.n == 0 {
		t.freeNode(t.root) // whatever its level: the nodes below are gone
		t.root, t.height, t.last, t.nodes, t.unused = 0, 0, 0, nil, 0
	}
}
