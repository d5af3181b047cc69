package chain

import "github.com/bowline-kv/bowline/internal/ds/pack"

// Remove removes up to most elements with the item's value, from the front or
// from the back, and gives their number.
func (c *Chain) Remove(it *pack.Item, most int, fromBack bool) (removed int) {
	if fromBack {
		for i := c.nodes.len() - 1; i >= 0 && removed < most; i-- {
			n := c.removeBack(i, it, most-removed)
			removed += n
		}
	} else {
		for i := 0; i < c.nodes.len() && removed < most; {
			before := c.nodes.len()
			removed += c.removeFront(i, it, most-removed)
			if c.nodes.len() == before {
				i++
			}
		}
	}
	if removed > 0 {
		c.mergeAll()
	}
	return removed
}

// removeFront is Remove in node i, which may then be gone.
func (c *Chain) removeFront(i int, it *pack.Item, most int) (removed int) {
	at := 0
	for removed < most {
		b := c.nodes.at(i).elements()
		if at = pack.Find(b, at, 0, it); at < 0 {
			break
		}
		removed++
		nodes := c.nodes.len()
		if c.cut(i, at, pack.Next(b, at), 1); c.nodes.len() < nodes {
			break
		}
	}
	return removed
}

// removeBack is removeFront from the back.
func (c *Chain) removeBack(i int, it *pack.Item, most int) (removed int) {
	at := int(c.nodes.at(i).bytes)
	for removed < most {
		b := c.nodes.at(i).elements()
		if at = pack.FindBack(b, at, it); at < 0 {
			break
		}
		removed++
		nodes := c.nodes.len()
		if c.cut(i, at, pack.Next(b, at), 1); c.nodes.len() < nodes {
			break
		}
	}
	return removed
}

// mergeAll joins small neighbors everywhere.
func (c *Chain) mergeAll() {
	for i := c.nodes.len() - 2; i >= 0; i-- {
		if c.small(i) {
			c.merge(i)
		}
		i = min(i, c.nodes.len()-1)
	}
}
