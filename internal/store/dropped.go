package store

import "github.com/bowline-kv/bowline/internal/page"

// Dropped is the content of a table that was emptied, whose pages wait to be
// given back. It is apart from the table and needs no lock of it.
type Dropped struct {
	pool   *page.Pool
	slabs  []slab
	segs   []segment
	larges []*[largeBlock]large
	bodies []*Body
	parts  []steps // of what was in collections
}

// steps is work that is done in parts; see [Dropped.Step].
type steps interface{ Step(budget int) (more bool) }

// Release empties the table at once and returns what was in it, to be given back
// in steps. The table can be used on.
func (t *Table) Release() *Dropped {
	d := &Dropped{pool: t.pool, slabs: t.slabs, segs: t.segs, larges: t.larges, bodies: t.bodies, parts: t.dropped}
	t.reset()
	return d
}

// Clear removes every key and gives all pages back before it returns, which
// takes some 50 ns a page.
func (t *Table) Clear() {
	for d := t.Release(); d.Step(1 << 20); {
	}
}

// Step gives back about budget runs of pages; more says that some are left.
func (d *Dropped) Step(budget int) (more bool) {
	var batch [64]page.Run
	for budget > 0 {
		if n := len(d.parts); n > 0 {
			if !d.parts[n-1].Step(budget) {
				d.parts[n-1] = nil
				d.parts = d.parts[:n-1]
			}
			budget--
			continue
		}
		if d.nextBody() {
			continue
		}
		n := d.next(batch[:0])
		if len(n) == 0 {
			return false
		}
		d.pool.FreeAll(n)
		budget -= len(n)
	}
	return true
}

// nextBody takes a collection apart; false when none is left.
func (d *Dropped) nextBody() bool {
	n := len(d.bodies)
	if n == 0 {
		return false
	}
	if b := d.bodies[n-1]; b != nil {
		d.parts = b.release(d.parts)
	}
	d.bodies[n-1] = nil
	d.bodies = d.bodies[:n-1]
	return true
}

// next takes as many runs as fit out of the lists.
func (d *Dropped) next(batch []page.Run) []page.Run {
	for len(batch) < cap(batch) {
		switch {
		case len(d.slabs) > 0:
			s := d.slabs[len(d.slabs)-1]
			d.slabs = d.slabs[:len(d.slabs)-1]
			if s.addr != 0 {
				batch = append(batch, page.Run{Addr: s.addr, Pages: int(classes[s.class].pages)})
			}
		case len(d.segs) > 0:
			s := d.segs[len(d.segs)-1]
			d.segs = d.segs[:len(d.segs)-1]
			if s.pages > 0 {
				batch = append(batch, page.Run{Addr: s.addr, Pages: int(s.pages)})
			}
		case len(d.larges) > 0:
			if len(batch)+largeBlock > cap(batch) {
				return batch
			}
			batch = d.nextLarges(batch)
		default:
			return batch
		}
	}
	return batch
}

func (d *Dropped) nextLarges(batch []page.Run) []page.Run {
	block := d.larges[len(d.larges)-1]
	d.larges = d.larges[:len(d.larges)-1]
	for i := range block {
		switch l := &block[i]; {
		case l.addr == 0:
		case l.hold != nil:
			l.hold.release()
		default:
			batch = append(batch, page.Run{Addr: l.addr, Pages: int(l.pages)})
		}
	}
	return batch
}
