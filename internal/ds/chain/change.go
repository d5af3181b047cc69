package chain

import "github.com/bowline-kv/bowline/internal/ds/pack"

// Set gives the element at a valid position another value.
func (c *Chain) Set(p Pos, v []byte) {
	it := pack.ItemOf(v)
	n := c.nodes.at(p.node)
	old := pack.Next(n.elements(), p.at) - p.at
	size := it.Size()
	if n.count == 1 || c.limit.fits(int(n.bytes)+size-old, int(n.count)) {
		it.Put(c.open(n, p.at, old, size))
		c.merge(p.node)
		return
	}
	c.cut(p.node, p.at, p.at+old, 1)
	c.insert(p.node, p.at, &it)
}

// InsertBefore puts v before the element at a valid position.
func (c *Chain) InsertBefore(p Pos, v []byte) {
	it := pack.ItemOf(v)
	c.insert(p.node, p.at, &it)
}

// InsertAfter puts v behind the element at a valid position.
func (c *Chain) InsertAfter(p Pos, v []byte) {
	it := pack.ItemOf(v)
	c.insert(p.node, pack.Next(c.nodes.at(p.node).elements(), p.at), &it)
}

// insert puts a value at an offset of node i, cutting it when it is full.
func (c *Chain) insert(i, at int, it *pack.Item) {
	n := c.nodes.at(i)
	switch size := it.Size(); {
	case c.limit.fits(int(n.bytes)+size, int(n.count)+1):
		it.Put(c.open(n, at, 0, size))
		n.count++
		c.n++
	case at == 0 && i > 0:
		c.pushItem(i-1, true, it)
	case at == 0:
		c.pushItem(0, false, it)
	case at == int(n.bytes) && i+1 < c.nodes.len():
		c.pushItem(i+1, false, it)
	case at == int(n.bytes):
		c.pushItem(i, true, it)
	default:
		c.split(i, at)
		c.pushItem(i, true, it)
	}
	// There are up to three nodes for one, if the value has a node of its own.
	c.merge(i + 2)
	c.merge(i)
}

// split cuts node i at an offset inside it.
func (c *Chain) split(i, at int) {
	b := c.nodes.at(i).elements()
	count := pack.Count(b[at:])
	right := c.newNode(len(b)-at, count)
	copy(right.elements(), b[at:])
	n := c.nodes.at(i)
	c.open(n, at, len(b)-at, 0)
	n.count -= uint32(count)
	c.nodes.insert(i+1, right)
}

// merge joins node i with its neighbors as long as two of them are small.
func (c *Chain) merge(i int) {
	for {
		switch {
		case c.small(i - 1):
			i--
		case c.small(i):
		default:
			return
		}
		c.join(i)
	}
}

// join joins nodes i and i+1.
func (c *Chain) join(i int) {
	left, right := c.nodes.at(i), c.nodes.at(i+1)
	copy(c.open(left, int(left.bytes), 0, int(right.bytes)), right.elements())
	left.count += right.count
	c.freeRun(right)
	c.nodes.remove(i+1, i+2)
}

// small says whether nodes i and i+1 exist and should be one.
func (c *Chain) small(i int) bool {
	if i < 0 || i+1 >= c.nodes.len() {
		return false
	}
	a, b := c.nodes.at(i), c.nodes.at(i+1)
	return c.limit.small(int(a.bytes+b.bytes), int(a.count+b.count))
}

// Delete removes the element at a valid position and gives the position of what
// followed it, which is not valid behind the last one.
func (c *Chain) Delete(p Pos) Pos {
	b := c.nodes.at(p.node).elements()
	c.cut(p.node, p.at, pack.Next(b, p.at), 1)
	if c.small(p.node - 1) {
		p.node--
		p.at += int(c.nodes.at(p.node).bytes)
		c.join(p.node)
	}
	if c.small(p.node) {
		c.join(p.node)
	}
	if p.node < c.nodes.len() && p.at == int(c.nodes.at(p.node).bytes) {
		p.node, p.at = p.node+1, 0
	}
	return p
}

// DeleteRange removes up to n elements from number i on, i in 0..Len.
func (c *Chain) DeleteRange(i, n int) {
	n = min(n, c.n-i)
	if n <= 0 {
		return
	}
	p := c.At(i)
	node := p.node
	if p.at > 0 {
		n -= c.cutFrom(node, p.at, n)
		node++
	}
	n -= c.removeWhole(node, n)
	if n > 0 {
		c.cutFrom(node, 0, n)
	}
	c.merge(node)
	c.merge(p.node)
}

// cutFrom removes up to n elements of a node from an offset on and gives their number.
func (c *Chain) cutFrom(node, at, n int) int {
	b := c.nodes.at(node).elements()
	to, count := at, 0
	for ; count < n && to < len(b); count++ {
		to = pack.Next(b, to)
	}
	c.cut(node, at, to, count)
	return count
}

// removeWhole removes the nodes from one on that are wholly among the next n
// elements, and gives the number of their elements.
func (c *Chain) removeWhole(node, n int) int {
	removed, to := 0, node
	for ; to < c.nodes.len() && removed+int(c.nodes.at(to).count) <= n; to++ {
		removed += int(c.nodes.at(to).count)
		c.freeRun(c.nodes.at(to))
	}
	c.nodes.remove(node, to)
	c.n -= removed
	return removed
}

// Trim keeps n elements from number i on, and removes all others.
func (c *Chain) Trim(i, n int) {
	c.DeleteRange(min(i+n, c.n), c.n)
	c.DeleteRange(0, i)
}
