package page

// deadMax is how many bytes of freed long runs may wait for Trim.
const deadMax = 1 << 30

// AllocGrowing is Alloc for a run that is expected to grow: a long one gets
// address space beyond its n pages, into which Grow can extend it in place.
func (p *Pool) AllocGrowing(n int) Addr {
	if n <= chunkPages {
		return p.Alloc(n)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inUse += int64(n)
	return p.allocLong(n, max(n, growthBytes/Size))
}

// Grow extends a run of n pages to more pages where it is; false when there is
// no room behind it.
func (p *Pool) Grow(a Addr, n, more int) bool {
	if n <= chunkPages {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.spaces.long[a]
	if l == nil || l.reserved < more {
		return false
	}
	p.inUse += int64(more - l.pages)
	l.pages = more
	return true
}

func (p *Pool) allocLong(n, reserve int) Addr {
	size := (uintptr(reserve)*Size + chunkBytes - 1) &^ (chunkBytes - 1)
	m, base := mapMemory(size)
	p.spaces.long[base] = &long{mapping: m, base: base, pages: n, reserved: int(size / Size)}
	return base
}

func (p *Pool) freeLong(a Addr, n int) {
	l := p.spaces.long[a]
	if l == nil || l.pages != n {
		panic("BUG: a run of pages is freed that is not in use")
	}
	delete(p.spaces.long, a)
	if p.deadSize+n*Size > deadMax {
		l.mapping.unmap()
		return
	}
	p.spaces.dead = append(p.spaces.dead, l)
	p.deadSize += n * Size
}
