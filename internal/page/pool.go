package page

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
)

// Pool hands out pages. Its methods may be called from any goroutine.
type Pool struct {
	mu     sync.Mutex
	chunks []*chunk // guarded by mu, like all below
	// open has a bit for each chunk that is open and has a free page.
	open     []uint64
	released []int        // chunks without memory
	byBase   map[Addr]int // the chunk at an address
	inUse    int64        // pages
	deadSize int          // bytes of spaces.dead
	spaces   *spaces

	// draining is the number of draining chunks, and choice counts how often some
	// were chosen; written under mu.
	draining atomic.Int32
	choice   atomic.Uint32
}

// long is a run longer than a superchunk.
type long struct {
	mapping mapping
	base    Addr
	pages   int
	// reserved is how many pages of address space it has.
	reserved int
}

// spaces are all mappings of a pool, guarded by its mu. They are apart from it so
// that they can be unmapped once nothing holds the pool any more.
type spaces struct {
	regions []mapping      // the chunks are in
	long    map[Addr]*long // runs that are mappings of their own
	dead    []*long        // freed long runs, for Trim to unmap
}

func (s *spaces) unmap() {
	for _, m := range s.regions {
		m.unmap()
	}
	for _, l := range s.long {
		l.mapping.unmap()
	}
	for _, l := range s.dead {
		l.mapping.unmap()
	}
	clear(s.long)
	s.regions, s.dead = nil, nil
}

// New makes an empty pool. Memory is mapped when it is asked for.
func New() *Pool {
	p := &Pool{byBase: map[Addr]int{}, spaces: &spaces{long: map[Addr]*long{}}}
	runtime.AddCleanup(p, (*spaces).unmap, p.spaces)
	return p
}

// Close unmaps everything. No address of the pool may be used afterwards. A pool
// that nobody holds is unmapped by the collector, so Close is for those who know
// the end. It may be called twice.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chunks, p.open, p.released, p.inUse, p.deadSize = nil, nil, nil, 0, 0
	p.draining.Store(0)
	clear(p.byBase)
	p.spaces.unmap()
}

// Alloc gives a run of n >= 1 pages. What is in them is left from before.
func (p *Pool) Alloc(n int) Addr {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inUse += int64(n)
	if n > chunkPages {
		return p.allocLong(n, n)
	}
	a := p.allocOpen(n)
	if a == 0 && p.stopDraining() {
		a = p.allocOpen(n)
	}
	if a == 0 {
		p.openChunk()
		a = p.allocOpen(n)
	}
	return a
}

func (p *Pool) allocOpen(n int) Addr {
	for w := range p.open {
		for m := p.open[w]; m != 0; m &= m - 1 {
			i := w*64 + bits.TrailingZeros64(m)
			c := p.chunks[i]
			if c.longest < n {
				continue
			}
			if at := c.take(n); at >= 0 {
				p.note(i)
				return c.base + Addr(at*Size)
			}
		}
	}
	return 0
}

// note puts right the bit of a chunk after a change.
func (p *Pool) note(i int) {
	c := p.chunks[i]
	if c.state == chunkOpen && c.nfree > 0 {
		p.open[i/64] |= 1 << (i % 64)
	} else {
		p.open[i/64] &^= 1 << (i % 64)
	}
}

// openChunk opens one more chunk that is wholly free: one that was given back
// before, or one of a new region.
func (p *Pool) openChunk() {
	if len(p.released) == 0 {
		p.mapRegion()
	}
	i := p.released[len(p.released)-1]
	p.released = p.released[:len(p.released)-1]
	p.chunks[i].state = chunkOpen
	p.note(i)
}

func (p *Pool) mapRegion() {
	m, base := mapMemory(regionChunks * chunkBytes)
	p.spaces.regions = append(p.spaces.regions, m)
	first := len(p.chunks)
	for i := range regionChunks {
		c := newChunk(base + Addr(i*chunkBytes))
		p.byBase[c.base] = len(p.chunks)
		p.chunks = append(p.chunks, c)
		if len(p.open)*64 < len(p.chunks) {
			p.open = append(p.open, 0)
		}
	}
	// The lowest is used first.
	for i := len(p.chunks) - 1; i >= first; i-- {
		p.released = append(p.released, i)
	}
}

// Free takes back a run of n pages, whole or as a part of a longer one inside a
// superchunk. Its memory stays with the process until Trim.
func (p *Pool) Free(a Addr, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free(a, n)
}

// Run is a run of pages.
type Run struct {
	Addr  Addr
	Pages int
}

// FreeAll takes back many runs under one lock.
func (p *Pool) FreeAll(runs []Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range runs {
		p.free(r.Addr, r.Pages)
	}
}

func (p *Pool) free(a Addr, n int) {
	p.inUse -= int64(n)
	if n > chunkPages {
		p.freeLong(a, n)
		return
	}
	i, ok := p.byBase[a&^(chunkBytes-1)]
	if !ok || !p.chunks[i].give(int(a%chunkBytes)/Size, n) {
		panic("BUG: a page is freed that is not in use")
	}
	p.note(i)
}

// Stats describes a pool.
type Stats struct {
	// InUse is the bytes of the pages that are handed out.
	InUse int64
	// Mapped is the bytes of memory that the pool holds of the system: pages in
	// use, free ones between them, and free ones that Trim has not given back yet.
	Mapped int64
	// Draining is the number of superchunks whose users are asked to leave.
	Draining int
}

// Stats counts under the pool's lock.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Stats{InUse: p.inUse * Size, Draining: int(p.draining.Load())}
	s.Mapped = int64(len(p.chunks)-len(p.released)) * chunkBytes
	for _, l := range p.spaces.long {
		s.Mapped += int64(l.pages) * Size
	}
	s.Mapped += int64(p.deadSize)
	return s
}
