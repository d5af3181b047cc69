package page

import "math/bits"

const chunkPages = chunkBytes / Size

// chunkState says what a superchunk is used for.
type chunkState uint8

const (
	// chunkOpen: its free pages are handed out.
	chunkOpen chunkState = iota
	// chunkDraining: nothing is handed out, its users are asked to leave.
	chunkDraining
	// chunkReleasing: wholly free; Trim is giving its memory back.
	chunkReleasing
	// chunkReleased: wholly free and without memory.
	chunkReleased
)

// chunk is the bookkeeping of one superchunk.
type chunk struct {
	base Addr
	free [chunkPages / 64]uint64 // a bit per page, 1: free
	// nfree is the number of bits set in free.
	nfree int
	// longest is an upper bound of the longest run of free pages.
	longest int
	state   chunkState
}

func newChunk(base Addr) *chunk {
	c := &chunk{base: base, nfree: chunkPages, longest: chunkPages, state: chunkReleased}
	for i := range c.free {
		c.free[i] = ^uint64(0)
	}
	return c
}

// take marks the first fitting run of n free pages as used and gives its number
// inside the chunk; -1 when there is none.
func (c *chunk) take(n int) int {
	at := c.find(n)
	if at < 0 {
		c.longest = n - 1
		return -1
	}
	for i := at; i < at+n; i++ {
		c.free[i/64] &^= 1 << (i % 64)
	}
	c.nfree -= n
	return at
}

func (c *chunk) find(n int) int {
	if n == 1 {
		for i, w := range c.free {
			if w != 0 {
				return i*64 + bits.TrailingZeros64(w)
			}
		}
		return -1
	}
	for at := 0; at+n <= chunkPages; {
		used := c.lastUsed(at, at+n)
		if used < 0 {
			return at
		}
		at = used + 1
	}
	return -1
}

// lastUsed gives the last used page of from..to-1, -1 when all are free.
func (c *chunk) lastUsed(from, to int) int {
	for i := to - 1; i >= from; {
		w := ^c.free[i/64] << (63 - i%64) // page i at the top
		if w != 0 {
			if u := i - bits.LeadingZeros64(w); u >= from {
				return u
			}
			return -1
		}
		i -= i%64 + 1
	}
	return -1
}

// give marks a run as free again; false when a page of it is free already.
func (c *chunk) give(at, n int) bool {
	for i := at; i < at+n; i++ {
		bit := uint64(1) << (i % 64)
		if c.free[i/64]&bit != 0 {
			return false
		}
		c.free[i/64] |= bit
	}
	c.nfree += n
	c.longest = chunkPages
	return true
}
