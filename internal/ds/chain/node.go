package chain

import "github.com/bowline-kv/bowline/internal/page"

// node describes a run of pages with elements.
type node struct {
	addr  page.Addr
	pages uint32
	off   uint32 // of the first element in the run
	bytes uint32 // of the elements
	count uint32 // of the elements, at least 1
	// image is 1 + the number of the node in the last image that was made of the
	// chain; 0: the run is not in it.
	image uint32
}

func (n *node) room() int { return int(n.pages) * page.Size }

// elements is the view of the elements.
func (n *node) elements() []byte {
	end := int(n.off) + int(n.bytes)
	return n.addr.Bytes(end)[n.off:end:end]
}

// newNode is a node with so many bytes of elements at the front of its run, to
// be written, in a run with room for them.
func (c *Chain) newNode(bytes, count int) node {
	pages := page.PagesFor(bytes)
	c.pages += pages
	return node{addr: c.pool.Alloc(pages), pages: uint32(pages), bytes: uint32(bytes), count: uint32(count)}
}

// freeRun gives up a node's run, if need be to the image.
func (c *Chain) freeRun(n *node) {
	c.pages -= int(n.pages)
	if c.image.needs(n) {
		c.image.take(n)
		return
	}
	c.pool.Free(n.addr, int(n.pages))
}

// open makes the old bytes at an offset of the elements so many, of any content,
// and returns the view of them. It moves as little as it can, and leaves the count.
func (c *Chain) open(n *node, at, old, size int) []byte {
	front, back := at, int(n.bytes)-at-old
	grown := int(n.bytes) + size - old
	if c.image.needs(n) {
		return c.rewrite(n, at, old, size, page.PagesFor(grown))
	}
	stay := int(n.off)               // the front stays, the back moves
	slide := int(n.off) + old - size // the back stays, the front moves
	var off int
	switch {
	case back <= front && stay+grown <= n.room():
		off = stay
	case front < back && slide >= 0:
		off = slide
	case grown > n.room() || grown > n.room()*15/16 && n.room() < c.limit.Bytes:
		return c.reopen(n, at, old, size)
	default:
		// The free bytes are at the other side: half of them go to each, so that
		// the next changes move little.
		off = (n.room() - grown) / 2
	}
	b := n.addr.Bytes(n.room())
	from := stay + at + old
	if off <= stay {
		copy(b[off:], b[stay:stay+front])
		copy(b[off+at+size:], b[from:from+back])
	} else {
		copy(b[off+at+size:], b[from:from+back])
		copy(b[off:], b[stay:stay+front])
	}
	n.off, n.bytes = uint32(off), uint32(grown)
	c.shrink(n)
	return n.elements()[at : at+size]
}

// reopen is open for a node whose run is too short: it gets another.
func (c *Chain) reopen(n *node, at, old, size int) []byte {
	grown := int(n.bytes) + size - old
	pages := page.PagesFor(grown)
	if limit := c.limit.Bytes / page.Size; pages <= limit {
		pages = min(max(pages, 2*int(n.pages)), limit)
	}
	return c.rewrite(n, at, old, size, pages)
}

// rewrite is open that moves a node to a run of so many pages.
func (c *Chain) rewrite(n *node, at, old, size, pages int) []byte {
	grown := int(n.bytes) + size - old
	to := node{addr: c.pool.Alloc(pages), pages: uint32(pages), bytes: uint32(grown), count: n.count}
	if at == 0 && n.bytes > 0 {
		to.off = uint32(to.room() - grown) // it grows to the front
	}
	c.pages += pages
	b, was := to.elements(), n.elements()
	copy(b, was[:at])
	copy(b[at+size:], was[at+old:])
	c.freeRun(n)
	*n = to
	return b[at : at+size]
}

// shrink moves a node to a shorter run when three quarters of its own are free,
// or when it was that of a value beyond the limit.
func (c *Chain) shrink(n *node) {
	pages := page.PagesFor(2 * int(n.bytes))
	if int(n.bytes) <= c.limit.Bytes {
		pages = min(pages, c.limit.Bytes/page.Size)
	}
	if pages <= int(n.pages)/2 || n.room() > c.limit.Bytes && pages < int(n.pages) {
		c.move(n, pages)
	}
}

// move moves a node to a run of so many pages.
func (c *Chain) move(n *node, pages int) {
	to := *n
	to.addr, to.pages, to.image = c.pool.Alloc(pages), uint32(pages), 0
	to.off = min(n.off, uint32(to.room())-n.bytes)
	c.pages += pages
	copy(to.elements(), n.elements())
	c.freeRun(n)
	*n = to
}
