package chain

// Clone makes a chain of the same elements, without the free bytes of c's nodes.
func (c *Chain) Clone() *Chain {
	n := New(c.pool, c.limit)
	n.n = c.n
	for i := range c.nodes.len() {
		from := c.nodes.at(i)
		to := n.newNode(int(from.bytes), int(from.count))
		copy(to.elements(), from.elements())
		n.nodes.insert(i, to)
	}
	return n
}
