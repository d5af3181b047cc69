package chain

import "github.com/bowline-kv/bowline/internal/ds/pack"

// Pos is the position of an element, valid until the next change of the chain.
type Pos struct {
	node  int
	at    int // offset in the node's elements
	index int
}

// Index is the number of the element; -1 before the first one, Len behind the last.
func (p Pos) Index() int { return p.index }

// Valid says whether p is an element's.
func (c *Chain) Valid(p Pos) bool { return p.index >= 0 && p.index < c.n }

func (c *Chain) before() Pos { return Pos{node: -1, index: -1} }

func (c *Chain) end() Pos { return Pos{node: c.nodes.len(), index: c.n} }

// At is the position of element i; negative numbers count from the last one, -1.
// It is not valid when there is no such element.
func (c *Chain) At(i int) Pos {
	if i < 0 {
		i += c.n
	}
	if i < 0 {
		return c.before()
	}
	if i >= c.n {
		return c.end()
	}
	node, skip := c.nodeOf(i)
	b := c.nodes.at(node).elements()
	if count := int(c.nodes.at(node).count); skip >= count/2 {
		at := len(b)
		for ; skip < count; skip++ {
			at = pack.Prev(b, at)
		}
		return Pos{node, at, i}
	}
	at := 0
	for ; skip > 0; skip-- {
		at = pack.Next(b, at)
	}
	return Pos{node, at, i}
}

// nodeOf is the node of element i, 0..Len-1, and how many elements are before it there.
func (c *Chain) nodeOf(i int) (node, skip int) {
	if i < c.n/2 {
		for node = 0; i >= int(c.nodes.at(node).count); node++ {
			i -= int(c.nodes.at(node).count)
		}
		return node, i
	}
	first := c.n
	for node = c.nodes.len() - 1; ; node-- {
		if first -= int(c.nodes.at(node).count); first <= i {
			return node, i - first
		}
	}
}

// Get decodes the element at a valid position.
func (c *Chain) Get(p Pos) pack.Element { return pack.Get(c.nodes.at(p.node).elements(), p.at) }

// Next is the position behind the valid p.
func (c *Chain) Next(p Pos) Pos {
	p.index++
	b := c.nodes.at(p.node).elements()
	if p.at = pack.Next(b, p.at); p.at == len(b) {
		p.node, p.at = p.node+1, 0
	}
	return p
}

// Prev is the position before p, which is valid or behind the last element.
func (c *Chain) Prev(p Pos) Pos {
	if p.index == 0 {
		return c.before()
	}
	p.index--
	if p.at == 0 {
		p.node--
		p.at = int(c.nodes.at(p.node).bytes)
	}
	p.at = pack.Prev(c.nodes.at(p.node).elements(), p.at)
	return p
}

// Find is the first position, from p on, of an element with the item's value. It
// is not valid when there is none.
func (c *Chain) Find(p Pos, it *pack.Item) Pos {
	for c.Valid(p) {
		b := c.nodes.at(p.node).elements()
		for ; p.at < len(b); p.at = pack.Next(b, p.at) {
			if it.At(b, p.at) {
				return p
			}
			p.index++
		}
		p.node, p.at = p.node+1, 0
	}
	return p
}

// FindBack is the last position, from p back, of an element with the item's
// value. It is not valid when there is none.
func (c *Chain) FindBack(p Pos, it *pack.Item) Pos {
	for c.Valid(p) && !it.At(c.nodes.at(p.node).elements(), p.at) {
		p = c.Prev(p)
	}
	return p
}
