package wal

import "math/bits"

// pace remembers which of the last 128 syncs were slow, a bit for each, and thereby
// whether the 99th percentile is: when more than one of them was.
type pace [2]uint64

// note takes in one sync and tells whether syncs are slow.
func (p *pace) note(slow bool) bool {
	p[1] = p[1]<<1 | p[0]>>63
	p[0] <<= 1
	if slow {
		p[0] |= 1
	}
	return bits.OnesCount64(p[0])+bits.OnesCount64(p[1]) > 1
}
