// Package histogram counts durations, for those who measure: the load generator and the
// benchmarks. What a server says of itself is counted in package server, by many at once.
package histogram

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Histogram counts durations by their size: exact below 256 ns, then 128 buckets for
// each power of two, so that a percentile is at most 0.8 % above the truth:
//
//	0 1 2 ... 255 | 256 258 ... 510 | 512 516 ... 1020 | ...   nanoseconds
//
// The zero value is empty and ready, and grows with what it sees. It is for one goroutine.
type Histogram struct {
	buckets []uint64 // grown as needed
	n       uint64
	sum     time.Duration
	max     time.Duration
}

const (
	subBits     = 7
	bucketCount = (64 - subBits) << subBits
)

func bucketOf(nanos uint64) int {
	shift := max(bits.Len64(nanos)-1-subBits, 0)
	return shift<<subBits + int(nanos>>shift)
}

// bucketEnd is the largest duration of a bucket, in nanoseconds.
func bucketEnd(i int) uint64 {
	shift := max(i>>subBits-1, 0)
	return uint64(i-shift<<subBits+1)<<shift - 1
}

// Add counts a duration; a negative one, of a clock that was set back, counts as 0.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	at := bucketOf(uint64(d))
	h.grow(at + 1)
	h.buckets[at]++
	h.n++
	h.sum += d
	h.max = max(h.max, d)
}

func (h *Histogram) grow(n int) {
	if n > len(h.buckets) {
		h.buckets = append(h.buckets, make([]uint64, n-len(h.buckets))...)
	}
}

// Merge adds what another counted.
func (h *Histogram) Merge(other *Histogram) {
	h.grow(len(other.buckets))
	for i, n := range other.buckets {
		h.buckets[i] += n
	}
	h.n += other.n
	h.sum += other.sum
	h.max = max(h.max, other.max)
}

// Count returns how many durations were added.
func (h *Histogram) Count() uint64 { return h.n }

// Max returns the longest duration, 0 when there is none.
func (h *Histogram) Max() time.Duration { return h.max }

// Mean returns the mean of all durations, 0 when there is none.
func (h *Histogram) Mean() time.Duration {
	if h.n == 0 {
		return 0
	}
	return h.sum / time.Duration(h.n)
}

// Percentile returns the least duration that so many percent, 0 to 100, of all do not
// exceed, rounded up to the end of its bucket; 0 when there is none.
func (h *Histogram) Percentile(percent float64) time.Duration {
	rank := max(uint64(math.Ceil(percent*float64(h.n)/100)), 1)
	seen := uint64(0)
	for i, n := range h.buckets {
		if seen += n; seen >= rank {
			return min(time.Duration(bucketEnd(i)), h.max)
		}
	}
	return h.max
}

// wire is a histogram as JSON.
type wire struct {
	Buckets [][2]uint64   `json:"buckets"` // those that are not empty: number, count
	Sum     time.Duration `json:"sum_ns"`
	Max     time.Duration `json:"max_ns"`
}

// MarshalJSON makes a histogram that travels from one process to another.
func (h Histogram) MarshalJSON() ([]byte, error) {
	w := wire{Sum: h.sum, Max: h.max}
	for i, n := range h.buckets {
		if n > 0 {
			w.Buckets = append(w.Buckets, [2]uint64{uint64(i), n})
		}
	}
	return json.Marshal(w)
}

// UnmarshalJSON takes what [Histogram.MarshalJSON] made instead of what was counted. It
// fails when a bucket is none that a histogram has.
func (h *Histogram) UnmarshalJSON(text []byte) error {
	var w wire
	if err := json.Unmarshal(text, &w); err != nil {
		return fmt.Errorf("read a histogram: %w", err)
	}
	*h = Histogram{sum: w.Sum, max: w.Max}
	for _, p := range w.Buckets {
		if p[0] >= bucketCount {
			return fmt.Errorf("read a histogram: no bucket has the number %d", p[0])
		}
		h.grow(int(p[0]) + 1)
		h.buckets[p[0]] += p[1]
		h.n += p[1]
	}
	return nil
}
