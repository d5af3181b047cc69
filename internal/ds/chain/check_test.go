package chain

import (
	"fmt"

	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/page"
)

// check walks the whole chain and compares what its parts say of each other.
func (c *Chain) check() error {
	n, pages := 0, 0
	for i := range c.nodes.len() {
		d := c.nodes.at(i)
		if int(d.off)+int(d.bytes) > d.room() || d.count == 0 {
			return fmt.Errorf("node %d: %+v", i, *d)
		}
		p := pack.New(0).AppendElements(c.Node(i))
		if !p.Valid() || pack.Count(d.elements()) != int(d.count) {
			return fmt.Errorf("node %d has not %d valid elements: %x", i, d.count, p)
		}
		if d.count > 1 && !c.limit.fits(int(d.bytes), int(d.count)) {
			return fmt.Errorf("node %d is too large: %+v", i, *d)
		}
		if d.room() > c.limit.Bytes && d.count > 1 {
			return fmt.Errorf("the run of node %d is too long: %+v", i, *d)
		}
		if int(d.bytes) < d.room()/4-page.Size {
			return fmt.Errorf("most of node %d is free: %+v", i, *d)
		}
		if i > 0 && i+2 < c.nodes.len() && c.small(i) {
			return fmt.Errorf("nodes %d and %d are small: %+v, %+v", i, i+1, *d, *c.nodes.at(i + 1))
		}
		n += int(d.count)
		pages += int(d.pages)
	}
	if n != c.n || pages != c.pages {
		return fmt.Errorf("%d elements, count %d; %d pages, count %d", n, c.n, pages, c.pages)
	}
	return nil
}
