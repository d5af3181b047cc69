package main

import (
	"math"
	"math/bits"
	"time"
)

// histogram counts durations in buckets that are at most 1/32 of their value
// wide (a duration has 63 bits, so the last bucket ends with the longest one):
//
//	0 1 2 ... 63 | 64 66 68 ... 126 | 128 132 ... 252 | 256 264 ...   nanoseconds
//
// The zero value is empty and ready.
type histogram struct {
	counts [bucketCount]uint64
	total  uint64
}

const (
	subBits     = 5
	bucketCount = (64 - subBits) << subBits
)

func bucketOf(ns uint64) int {
	shift := max(0, bits.Len64(ns)-subBits-1)
	return shift<<subBits + int(ns>>shift)
}

// bucketMax is the largest number of nanoseconds of a bucket.
func bucketMax(i int) uint64 {
	shift := max(0, i>>subBits-1)
	return uint64(i-shift<<subBits+1)<<shift - 1
}

// add counts a duration; a negative one counts as 0.
func (h *histogram) add(d time.Duration) {
	h.counts[bucketOf(uint64(max(0, d)))]++
	h.total++
}

// percentile is the least duration that the share q, 0 to 1, of all durations
// does not exceed, rounded up to the end of its bucket; 0 when there are none.
func (h *histogram) percentile(q float64) time.Duration {
	rank := max(1, uint64(math.Ceil(q*float64(h.total))))
	sum := uint64(0)
	for i, n := range h.counts {
		if sum += n; n > 0 && sum >= rank {
			return time.Duration(bucketMax(i))
		}
	}
	return 0
}

// export lists the buckets that are not empty, as pairs (bucket, count).
func (h *histogram) export() [][2]uint64 {
	var pairs [][2]uint64
	for i, n := range h.counts {
		if n > 0 {
			pairs = append(pairs, [2]uint64{uint64(i), n})
		}
	}
	return pairs
}

// merge adds what another histogram exported; a bucket that does not exist is
// passed over.
func (h *histogram) merge(pairs [][2]uint64) {
	for _, p := range pairs {
		if p[0] < bucketCount {
			h.counts[p[0]] += p[1]
			h.total += p[1]
		}
	}
}
