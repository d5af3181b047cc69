package server

import (
	"math/bits"
	"sync/atomic"
)

// histogram counts durations by their size: 16 buckets for each power of two, so
// that a bucket's bounds differ by 6 % at most. One worker adds; anybody reads.
type histogram struct {
	buckets [histogramBuckets]atomic.Uint64
}

const (
	histogramSub     = 4                                                     // bits of a duration below its highest one that matter
	histogramMaxBits = 36                                                    // 2^36 ns, 68 s; what is longer falls in the last bucket
	histogramBuckets = (histogramMaxBits - histogramSub + 1) << histogramSub // 528
)

func bucketOf(nanos uint64) int {
	if nanos < 1<<histogramSub {
		return int(nanos)
	}
	shift := bits.Len64(nanos) - 1 - histogramSub
	return min((shift+1)<<histogramSub+int(nanos>>shift)-1<<histogramSub, histogramBuckets-1)
}

// bucketEnd is the largest duration of a bucket, in nanoseconds.
func bucketEnd(i int) uint64 {
	if i < 1<<histogramSub {
		return uint64(i)
	}
	shift := i>>histogramSub - 1
	return uint64(i&(1<<histogramSub-1)+1<<histogramSub+1)<<shift - 1
}

func (h *histogram) add(nanos, times uint64) { h.buckets[bucketOf(nanos)].Add(times) }

// summedHistogram is the sum of the histograms of several workers.
type summedHistogram struct {
	buckets [histogramBuckets]uint64
	total   uint64
}

func (s *summedHistogram) add(h *histogram) {
	for i := range h.buckets {
		n := h.buckets[i].Load()
		s.buckets[i] += n
		s.total += n
	}
}

// percentile is the upper bound of the bucket in which the given part of the
// durations, 0 to 100 percent, is reached; nanoseconds.
func (s *summedHistogram) percentile(percent float64) uint64 {
	rank := uint64(percent/100*float64(s.total) + 0.5)
	sum := uint64(0)
	for i, n := range s.buckets {
		if sum += n; n > 0 && sum >= max(rank, 1) {
			return bucketEnd(i)
		}
	}
	return 0
}

// powers visits the powers of two of 1024 ns between which there are durations,
// with the number of those up to each.
func (s *summedHistogram) powers(visit func(micros, count uint64)) {
	sum, told, i := uint64(0), uint64(0), 0
	for end := uint64(1024); sum < s.total; end *= 2 {
		for ; i < histogramBuckets && bucketEnd(i) <= end; i++ {
			sum += s.buckets[i]
		}
		if i == histogramBuckets {
			sum = s.total
		}
		if sum > told {
			told = sum
			// Redis names a bucket by the largest number that its histogram, which knows
			// 128 steps for each power of two, can't tell from the bound.
			visit((end+end/128-1)/1000, sum)
		}
	}
}
