package page

import (
	"cmp"
	"slices"
)

const (
	// spareChunks is how many wholly free chunks Trim leaves, against flutter.
	spareChunks = 1
	// drainAbove: chunks are drained when more than a quarter of the pages in use
	// is free beside them ...
	drainAbove = 4
	// ... down to a sixteenth.
	drainTo = 16
	// trimMax is the number of chunks that one Trim gives back.
	trimMax = 64
)

// Trim gives free memory back to the system, a bounded amount a call, and
// chooses the chunks to drain. It returns the bytes that it gave back. It makes
// system calls: call it in the background and hold no lock.
func (p *Pool) Trim() int64 {
	p.mu.Lock()
	dead := p.spaces.dead
	bytes := int64(p.deadSize)
	p.spaces.dead, p.deadSize = nil, 0
	chunks := p.wholeFree()
	p.chooseDraining()
	p.mu.Unlock()

	for _, l := range dead {
		l.mapping.unmap()
	}
	for _, c := range chunks {
		discard(c.base, chunkBytes)
		bytes += chunkBytes
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range chunks {
		c.state = chunkReleased
		p.released = append(p.released, p.byBase[c.base])
	}
	return bytes
}

// wholeFree takes the chunks that can be given back out of use.
func (p *Pool) wholeFree() []*chunk {
	var list []*chunk
	spare := spareChunks
	for i, c := range p.chunks {
		if c.nfree < chunkPages || c.state > chunkDraining {
			continue
		}
		if spare > 0 && c.state == chunkOpen {
			spare--
			continue
		}
		if c.state == chunkDraining {
			p.draining.Add(-1)
		}
		c.state = chunkReleasing
		p.note(i)
		if list = append(list, c); len(list) == trimMax {
			break
		}
	}
	return list
}

// chooseDraining marks the emptiest chunks as draining when too much is free.
func (p *Pool) chooseDraining() {
	used, free, drained := 0, 0, 0
	var open []int
	for i, c := range p.chunks {
		switch c.state {
		case chunkOpen:
			open = append(open, i)
			free += c.nfree
			used += chunkPages - c.nfree
		case chunkDraining:
			// It will need this much of the others' room.
			drained += chunkPages - c.nfree
		}
	}
	free -= drained
	used += drained
	if free < max(used/drainAbove, 2*chunkPages) {
		return
	}
	slices.SortFunc(open, func(a, b int) int { return cmp.Compare(p.chunks[b].nfree, p.chunks[a].nfree) })
	target := max(used/drainTo, chunkPages)
	before := p.draining.Load()
	for _, i := range open {
		c := p.chunks[i]
		// Its own free pages go, and its used ones need room elsewhere.
		if free-chunkPages < target || c.nfree < chunkPages/4 {
			break
		}
		free -= chunkPages
		c.state = chunkDraining
		p.draining.Add(1)
		p.note(i)
	}
	if p.draining.Load() != before {
		p.choice.Add(1)
	}
}

// stopDraining opens the draining chunks again when there is use for their room;
// false when there are none.
func (p *Pool) stopDraining() bool {
	if p.draining.Load() == 0 {
		return false
	}
	for i, c := range p.chunks {
		if c.state == chunkDraining {
			c.state = chunkOpen
			p.note(i)
		}
	}
	p.draining.Store(0)
	return true
}

// Draining says whether any chunk is to be left: 0 when not, else a number that
// is another one when chunks were added, so that a user who has left them all, but
// for what can't be moved, need not look again. It is cheap.
func (p *Pool) Draining() uint32 {
	if p.draining.Load() == 0 {
		return 0
	}
	return p.choice.Load()
}

// Leaving says whether the run at an address should be moved elsewhere, so that
// its chunk can be given back. Long runs never are.
func (p *Pool) Leaving(a Addr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, ok := p.byBase[a&^(chunkBytes-1)]
	return ok && p.chunks[i].state == chunkDraining
}
