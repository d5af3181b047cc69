package tree

import "fmt"

// check walks the whole tree and compares what its parts say of each other.
func (t *Tree) check() error {
	if t.root == 0 {
		if t.n != 0 || t.pages != 0 || t.nodes != nil || t.height != 0 || t.last != 0 {
			return fmt.Errorf("an empty tree: %+v", *t)
		}
		return nil
	}
	c := checker{tree: t, seen: map[uint32]bool{}}
	n, err := c.node(0, t.root, true, true)
	if err != nil {
		return err
	}
	unused := 0
	for id := t.unused; id != 0; id = uint32(t.nodes[id] >> 1) {
		if isPage(t.nodes[id]) {
			return fmt.Errorf("node %d is in use and among the unused", id)
		}
		unused++
	}
	switch {
	case n != t.n:
		return fmt.Errorf("%d entries, count %d", n, t.n)
	case t.leaf(c.prev).next != 0 || t.last != c.prev:
		return fmt.Errorf("the last leaf is %d, not %d", c.prev, t.last)
	case len(c.seen) != t.pages || len(c.seen)+unused+1 != len(t.nodes):
		return fmt.Errorf("%d nodes, %d pages, %d unused of %d", len(c.seen), t.pages, unused, len(t.nodes))
	}
	return nil
}

type checker struct {
	tree *Tree
	seen map[uint32]bool
	prev uint32 // leaf
}

// node checks what is below a node, which may be at either end of its level, and
// counts the entries.
func (c *checker) node(level int, id uint32, first, last bool) (int, error) {
	t := c.tree
	if c.seen[id] || !isPage(t.nodes[id]) {
		return 0, fmt.Errorf("node %d is there twice, or unused", id)
	}
	c.seen[id] = true
	n, most := t.count(level, id), t.capacity(level)
	least := most / 4
	switch {
	case level == 0 && t.height > 0:
		least = 2
	case first || last:
		least = 1
	}
	if n < least || n > most {
		return 0, fmt.Errorf("node %d of level %d has %d elements", id, level, n)
	}
	if level == t.height {
		l := t.leaf(id)
		if l.prev != c.prev {
			return 0, fmt.Errorf("before leaf %d is %d, not %d", id, c.prev, l.prev)
		}
		c.prev = id
		return n, nil
	}
	sum := 0
	for i := range n {
		in := t.inner(id)
		below, err := c.node(level+1, in.kids[i], first && i == 0, last && i == n-1)
		if err != nil {
			return 0, err
		}
		copied := *in
		t.setFirst(&copied, i, level+1)
		if int(in.sizes[i]) != below || copied.scores[i] != in.scores[i] || copied.refs[i] != in.refs[i] {
			return 0, fmt.Errorf("node %d says of its child %d: %d entries from %v, %d; there are %d from %v, %d", id, i,
				in.sizes[i], in.scores[i], in.refs[i], below, copied.scores[i], copied.refs[i])
		}
		sum += below
	}
	return sum, nil
}
