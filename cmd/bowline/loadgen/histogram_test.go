package loadgen

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A percentile is never below the truth and at most 0.8 % above it.
func TestPercentilesAgainstASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int64{100, 1e6, 1e9, math.MaxInt64}).Draw(t, "size")
		list := rapid.SliceOfN(rapid.Int64Range(0, size), 1, 300).Draw(t, "durations")
		var h, left, right histogram
		for i, d := range list {
			h.add(time.Duration(d))
			if i%3 == 0 {
				left.add(time.Duration(d))
			} else {
				right.add(time.Duration(d))
			}
		}
		left.merge(&right)
		slices.Sort(list)
		for _, percent := range []float64{0, 1, 50, 90, 99, 99.9, 100} {
			rank := max(int(math.Ceil(percent/100*float64(len(list)))), 1)
			want := list[rank-1]
			got := int64(h.percentile(percent))
			if got < want || float64(got-want) > float64(want)/128 {
				t.Fatalf("percentile %v of %d durations is %d, want %d", percent, len(list), got, want)
			}
			if merged := int64(left.percentile(percent)); merged != got {
				t.Fatalf("percentile %v is %d when merged, want %d", percent, merged, got)
			}
		}
		if int64(h.max) != list[len(list)-1] || h.n != uint64(len(list)) {
			t.Fatalf("%d durations up to %d", h.n, h.max)
		}
	})
}

// Every bucket begins right behind the one before.
func TestBucketsHaveNoGaps(t *testing.T) {
	for i := range 50 << subBits {
		end := bucketEnd(i)
		if bucketOf(end) != i || bucketOf(end+1) != i+1 {
			t.Fatalf("bucket %d ends at %d, which is in %d; the next is in %d", i, end, bucketOf(end), bucketOf(end+1))
		}
	}
}

func TestEmptyHistogram(t *testing.T) {
	var h histogram
	if h.percentile(50) != 0 || h.mean() != 0 || h.max != 0 {
		t.Error("it is not 0")
	}
	h.add(-time.Second) // a clock that was set back
	h.add(2 * time.Second)
	if h.max != 2*time.Second || h.mean() != time.Second {
		t.Errorf("max %v, mean %v", h.max, h.mean())
	}
}
