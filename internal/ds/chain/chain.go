package chain

import (
	"unsafe"

	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/page"
)

// Chain is a list of values. Its methods are not for concurrent use. Values that
// are handed in must not be views into it, and be shorter than 4 GiB less 16 bytes.
type Chain struct {
	pool  *page.Pool
	nodes deque
	limit Limit
	pages int
	n     int
	image *Image // that is not ended; nil: none
}

// New makes an empty chain, which takes no page.
func New(pool *page.Pool, limit Limit) *Chain { return &Chain{pool: pool, limit: limit} }

// Len is the number of elements.
func (c *Chain) Len() int { return c.n }

// Nodes is the number of nodes.
func (c *Chain) Nodes() int { return c.nodes.len() }

// Node is the view of the elements of node i, 0..Nodes-1, and how many they are:
// what [pack.AppendListpack] makes a listpack of.
func (c *Chain) Node(i int) (elements []byte, count int) {
	n := c.nodes.at(i)
	return n.elements(), int(n.count)
}

// Footprint is the memory of the chain in bytes: whole pages, and the descriptors.
func (c *Chain) Footprint() int64 {
	return int64(c.pages)*page.Size + int64(cap(c.nodes.all))*int64(unsafe.Sizeof(node{})) + int64(unsafe.Sizeof(*c))
}

// PushBack puts v behind the last element.
func (c *Chain) PushBack(v []byte) {
	it := pack.ItemOf(v)
	c.pushBack(&it)
}

// PushFront puts v before the first element.
func (c *Chain) PushFront(v []byte) {
	it := pack.ItemOf(v)
	nodes := c.nodes.len()
	if c.pushItem(0, false, &it); c.nodes.len() > nodes {
		c.merge(1) // it is not at the end any more
	}
}

func (c *Chain) pushBack(it *pack.Item) {
	nodes := c.nodes.len()
	if c.pushItem(nodes-1, true, it); c.nodes.len() > nodes {
		c.merge(nodes - 1)
	}
}

// pushItem puts a value at the back or front of node i, or into a node of its own
// behind or before that one.
func (c *Chain) pushItem(i int, back bool, it *pack.Item) {
	size := it.Size()
	if c.nodes.len() > 0 {
		if n := c.nodes.at(i); c.limit.fits(int(n.bytes)+size, int(n.count)+1) {
			at := 0
			if back {
				at = int(n.bytes)
			}
			it.Put(c.open(n, at, 0, size))
			n.count++
			c.n++
			return
		}
	}
	if back {
		i++
	}
	c.insertNode(i, !back, it)
}

// insertNode makes a node of one value before node i. A node that is to grow to
// the front has its bytes at the end of its run.
func (c *Chain) insertNode(i int, toFront bool, it *pack.Item) {
	n := c.newNode(it.Size(), 1)
	if toFront {
		n.off = uint32(n.room()) - n.bytes
	}
	it.Put(n.elements())
	c.nodes.insert(i, n)
	c.n++
}

// AppendPack puts all elements of p behind the last one. p must not be a view
// into the chain.
func (c *Chain) AppendPack(p pack.Pack) {
	for pos := p.First(); pos < p.End(); pos = p.Next(pos) {
		it := p.Get(pos).Item()
		c.pushBack(&it)
	}
}

// Pack makes a Pack, in memory of its own, of all elements.
func (c *Chain) Pack() pack.Pack {
	size := 0
	for i := range c.nodes.len() {
		size += int(c.nodes.at(i).bytes)
	}
	p := pack.New(size)
	for i := range c.nodes.len() {
		p = p.AppendElements(c.Node(i))
	}
	return p
}

// Front is the first element; the chain must not be empty.
func (c *Chain) Front() pack.Element { return pack.Get(c.nodes.at(0).elements(), 0) }

// Back is the last element; the chain must not be empty.
func (c *Chain) Back() pack.Element {
	b := c.nodes.at(c.nodes.len() - 1).elements()
	return pack.Get(b, pack.Prev(b, len(b)))
}

// DropFront removes the first element; the chain must not be empty.
func (c *Chain) DropFront() {
	n := c.nodes.at(0)
	c.cut(0, 0, pack.Next(n.elements(), 0), 1)
}

// DropBack removes the last element; the chain must not be empty.
func (c *Chain) DropBack() {
	i := c.nodes.len() - 1
	b := c.nodes.at(i).elements()
	c.cut(i, pack.Prev(b, len(b)), len(b), 1)
}

// cut removes the bytes from..to-1 of node i, which are count elements, and the
// node when nothing is left.
func (c *Chain) cut(i, from, to, count int) {
	n := c.nodes.at(i)
	c.n -= count
	if int(n.count) == count {
		c.freeRun(n)
		c.nodes.remove(i, i+1)
		return
	}
	c.open(n, from, to-from, 0)
	n.count -= uint32(count)
}
