package tree

import "github.com/bowline-kv/bowline/internal/page"

// An unused number has the next unused one in the place of its page's address,
// marked by an odd number, which is no page's.
func unusedAddr(next uint32) page.Addr { return page.Addr(next)<<1 | 1 }

func isPage(a page.Addr) bool { return a != 0 && a&1 == 0 }

// newNode takes a page and a number for it. What is in it is left from before.
func (t *Tree) newNode() uint32 {
	if len(t.nodes) == 0 {
		t.nodes = make([]page.Addr, 1, 4)
	}
	id := t.unused
	if id != 0 {
		t.unused = uint32(t.nodes[id] >> 1)
	} else {
		id = uint32(len(t.nodes))
		t.nodes = append(t.nodes, 0)
	}
	t.nodes[id] = t.pool.Alloc(1)
	t.pages++
	return id
}

func (t *Tree) freeNode(id uint32) {
	t.pool.Free(t.nodes[id], 1)
	t.pages--
	t.nodes[id] = unusedAddr(t.unused)
	t.unused = id
}

// Leave moves nodes out of the pages that the pool wants back. It looks at up to
// budget nodes from number from on, 0 at first, and returns where to continue; 0:
// all were looked at. Positions stay valid, views do not exist.
func (t *Tree) Leave(from, budget int) (next int) {
	for ; budget > 0 && from < len(t.nodes); from, budget = from+1, budget-1 {
		if a := t.nodes[from]; isPage(a) && t.pool.Leaving(a) {
			t.nodes[from] = t.pool.Alloc(1)
			copy(t.nodes[from].Bytes(page.Size), a.Bytes(page.Size))
			t.pool.Free(a, 1)
		}
	}
	if from >= len(t.nodes) {
		return 0
	}
	return from
}

// Dropped is the content of a tree that was emptied, whose pages wait to be given
// back. It is apart from the tree and needs no lock of it.
type Dropped struct {
	pool  *page.Pool
	nodes []page.Addr
}

// Release empties the tree at once and returns what was in it, to be given back
// in steps. The tree can be used on.
func (t *Tree) Release() *Dropped {
	d := &Dropped{t.pool, t.nodes}
	*t = Tree{pool: t.pool, order: t.order, leafMost: t.leafMost, innerMost: t.innerMost}
	return d
}

// Step gives back up to budget pages; more says that some are left.
func (d *Dropped) Step(budget int) (more bool) {
	var batch [64]page.Run
	for budget > 0 && len(d.nodes) > 0 {
		runs := batch[:0]
		for len(runs) < min(len(batch), budget) && len(d.nodes) > 0 {
			if a := d.nodes[len(d.nodes)-1]; isPage(a) {
				runs = append(runs, page.Run{Addr: a, Pages: 1})
			}
			d.nodes = d.nodes[:len(d.nodes)-1]
		}
		d.pool.FreeAll(runs)
		budget -= max(1, len(runs))
	}
	return len(d.nodes) > 0
}
