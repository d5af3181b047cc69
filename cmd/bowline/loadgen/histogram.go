package loadgen

import (
	"math"
	"math/bits"
	"time"
)

// histogram counts durations by their size: exact below 256 ns, then 128 buckets for
// each power of two, so that a percentile is at most 0.8 % above the truth. Its maximum
// is exact. The zero value is empty and small: there is one for each worker and command,
// and most see a narrow range. It is for one goroutine.
type histogram struct {
	buckets []uint64 // grown as needed
	n       uint64
	sum     time.Duration
	max     time.Duration
}

const subBits = 7

func bucketOf(nanos uint64) int {
	shift := max(bits.Len64(nanos)-1-subBits, 0)
	return shift<<subBits + int(nanos>>shift)
}

// bucketEnd is the largest duration of a bucket, in nanoseconds.
func bucketEnd(i int) uint64 {
	shift := max(i>>subBits-1, 0)
	return uint64(i-shift<<subBits+1)<<shift - 1
}

func (h *histogram) add(d time.Duration) {
	d = max(d, 0)
	at := bucketOf(uint64(d))
	h.grow(at + 1)
	h.buckets[at]++
	h.n++
	h.sum += d
	h.max = max(h.max, d)
}

func (h *histogram) grow(n int) {
	if n > len(h.buckets) {
		h.buckets = append(h.buckets, make([]uint64, n-len(h.buckets))...)
	}
}

func (h *histogram) merge(other *histogram) {
	h.grow(len(other.buckets))
	for i, n := range other.buckets {
		h.buckets[i] += n
	}
	h.n += other.n
	h.sum += other.sum
	h.max = max(h.max, other.max)
}

// percentile is the duration that so many percent, 0 to 100, do not exceed; 0 when there
// is none.
func (h *histogram) percentile(percent float64) time.Duration {
	rank := max(uint64(math.Ceil(percent/100*float64(h.n))), 1)
	seen := uint64(0)
	for i, n := range h.buckets {
		if seen += n; seen >= rank {
			return min(time.Duration(bucketEnd(i)), h.max)
		}
	}
	return h.max
}

func (h *histogram) mean() time.Duration {
	if h.n == 0 {
		return 0
	}
	return h.sum / time.Duration(h.n)
}
