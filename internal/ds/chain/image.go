package chain

import "slices"

// Image is the elements of a chain at a moment, read node by node while the chain
// changes. Both share the runs; the chain takes a copy of a run that it is about
// to change and that the image has not come to, and leaves the old one to it:
//
//	image:  | a | b | c | d |     b was changed since, d is gone
//	          |   |   |   |
//	runs:     a   b   c   d   B
//	          |       |       |
//	chain:  | a |     c |     B |    (in order: a, B, c)
//
// So a change costs what it costs anyway, and at most a copy of the nodes that it
// touches. It is guarded by the lock of the chain, but for [Image.Peek].
type Image struct {
	chain *Chain
	// nodes has 0 as image where the run is no longer the chain's.
	nodes []node
	next  int // what is before is not needed any more; changed by the reader only
	kept  func(bytes int)
}

// Image makes an image of this moment, which takes some microseconds per thousand
// nodes. The chain must have no other, until [Image.End]. kept is told how many
// bytes of elements are in memory for the image only: those that get so, and, below
// 0, those that were passed.
func (c *Chain) Image(kept func(bytes int)) *Image {
	if c.image != nil {
		panic("BUG: a second image of a chain")
	}
	nodes := c.nodes.all[c.nodes.head:]
	for i := range nodes {
		nodes[i].image = uint32(i + 1)
	}
	c.image = &Image{chain: c, nodes: slices.Clone(nodes), kept: kept}
	return c.image
}

// Nodes is the number of nodes of the image.
func (im *Image) Nodes() int { return len(im.nodes) }

// Peek is the view of the elements of the node that comes so many behind the next
// one, as [Chain.Node] has them, until it is passed; false behind the last. It needs no
// lock, as nobody changes what is not passed, and is for one reader.
func (im *Image) Peek(behind int) (elements []byte, count int, ok bool) {
	if im.next+behind >= len(im.nodes) {
		return nil, 0, false
	}
	n := &im.nodes[im.next+behind]
	return n.elements(), int(n.count), true
}

// Pass says that the next so many nodes were read; more is false behind the last.
func (im *Image) Pass(nodes int) (more bool) {
	for range nodes {
		n := &im.nodes[im.next]
		im.next++
		if n.image == 0 {
			im.kept(-int(n.bytes))
			im.chain.pool.Free(n.addr, int(n.pages))
		}
	}
	return im.next < len(im.nodes)
}

// End gives back what only the image has and lets go of the chain.
func (im *Image) End() {
	im.Pass(len(im.nodes) - im.next)
	im.chain.image = nil
}

// needs says whether the run of a node of the chain is not passed.
func (im *Image) needs(n *node) bool { return im != nil && int(n.image) > im.next }

// take makes the image the only owner of such a run.
func (im *Image) take(n *node) {
	im.nodes[n.image-1].image = 0
	im.kept(int(n.bytes))
	n.image = 0
}
