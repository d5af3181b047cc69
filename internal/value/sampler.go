package value

import (
	"math/bits"

	"github.com/bowline-kv/bowline/internal/store"
)

// Sampler chooses some of a row of things that pass by one after the other: every
// choice of so many is equally likely. They keep their order.
type Sampler struct {
	wanted, left int
}

// NewSampler chooses wanted of size things, 0 <= wanted <= size.
func NewSampler(wanted, size int) Sampler { return Sampler{wanted, size} }

// Take says whether the next thing is chosen; random is a new random number.
func (s *Sampler) Take(random uint64) bool {
	chosen := Below(random, s.left) < s.wanted
	s.left--
	if chosen {
		s.wanted--
	}
	return chosen
}

// Done says whether all are chosen.
func (s *Sampler) Done() bool { return s.wanted == 0 }

// Below maps a random number to 0..n-1, evenly; n > 0.
func Below(random uint64, n int) int {
	hi, _ := bits.Mul64(random, uint64(n))
	return int(hi)
}

// rarely is how many times more members than wanted there must be for chance to
// find new ones soon.
const rarely = 3

// sampleMembers visits n different members of at least rarely*n, every choice
// equally likely. random gives random numbers.
func sampleMembers(m *store.Table, n int, random func() uint64, visit func(k store.Key, e store.Entry)) {
	seen := make(map[uint64]bool, n)
	for len(seen) < n {
		k, _ := m.RandomKey(random())
		if !seen[k.Hash] {
			seen[k.Hash] = true
			e, _ := m.Get(k)
			visit(k, e)
		}
	}
}
