package chain

import "github.com/bowline-kv/bowline/internal/page"

// Leave moves nodes out of the pages that the pool wants back. It looks at up to
// budget nodes from number from on, 0 at first, and returns where to continue; 0:
// all were looked at. Positions stay valid, views do not.
func (c *Chain) Leave(from, budget int) (next int) {
	for ; budget > 0 && from < c.nodes.len(); from, budget = from+1, budget-1 {
		if n := c.nodes.at(from); c.pool.Leaving(n.addr) {
			c.move(n, int(n.pages))
		}
	}
	if from >= c.nodes.len() {
		return 0
	}
	return from
}

// Dropped is the content of a chain that was emptied, whose pages wait to be
// given back. It is apart from the chain and needs no lock of it.
type Dropped struct {
	pool  *page.Pool
	nodes []node
}

// Release empties the chain at once and returns what was in it, to be given back
// in steps. The chain can be used on.
func (c *Chain) Release() *Dropped {
	d := &Dropped{c.pool, c.nodes.all[c.nodes.head:]}
	*c = Chain{pool: c.pool, limit: c.limit}
	return d
}

// Step gives back up to budget runs of pages; more says that some are left.
func (d *Dropped) Step(budget int) (more bool) {
	var batch [64]page.Run
	for budget > 0 && len(d.nodes) > 0 {
		runs := batch[:0]
		for len(runs) < min(len(batch), budget) && len(d.nodes) > 0 {
			n := &d.nodes[len(d.nodes)-1]
			runs = append(runs, page.Run{Addr: n.addr, Pages: int(n.pages)})
			d.nodes = d.nodes[:len(d.nodes)-1]
		}
		d.pool.FreeAll(runs)
		budget -= len(runs)
	}
	return len(d.nodes) > 0
}
