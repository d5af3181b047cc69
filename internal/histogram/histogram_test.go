package histogram

import (
	"encoding/json"
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
		var h, left, right Histogram
		for i, d := range list {
			h.Add(time.Duration(d))
			if i%3 == 0 {
				left.Add(time.Duration(d))
			} else {
				right.Add(time.Duration(d))
			}
		}
		left.Merge(&right)
		slices.Sort(list)
		for _, percent := range []float64{0, 1, 50, 90, 99, 99.9, 100} {
			rank := max(int(math.Ceil(percent*float64(len(list))/100)), 1)
			want := list[rank-1]
			got := int64(h.Percentile(percent))
			if got < want || float64(got-want) > float64(want)/128 {
				t.Fatalf("percentile %v of %d durations is %d, want %d", percent, len(list), got, want)
			}
			if merged := int64(left.Percentile(percent)); merged != got {
				t.Fatalf("percentile %v is %d when merged, want %d", percent, merged, got)
			}
		}
		if int64(h.Max()) != list[len(list)-1] || h.Count() != uint64(len(list)) {
			t.Fatalf("%d durations up to %d", h.Count(), h.Max())
		}
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		var again Histogram
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(again.buckets, h.buckets) || again.n != h.n || again.sum != h.sum || again.max != h.max {
			t.Fatalf("%s became another", text)
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
	if last := bucketOf(math.MaxInt64); last != bucketCount-1 {
		t.Errorf("the last bucket is %d of %d", last, bucketCount)
	}
}

func TestEmptyHistogram(t *testing.T) {
	var h Histogram
	if h.Percentile(50) != 0 || h.Mean() != 0 || h.Max() != 0 {
		t.Error("it is not 0")
	}
	h.Add(-time.Second) // a clock that was set back
	h.Add(2 * time.Second)
	if h.Max() != 2*time.Second || h.Mean() != time.Second {
		t.Errorf("max %v, mean %v", h.Max(), h.Mean())
	}
}

func TestHistogramOfNobody(t *testing.T) {
	for _, text := range []string{`{"buckets":[[7296,1]]}`, `{"buckets":[[18446744073709551615,1]]}`, `{"buckets":7}`, `7`} {
		if err := json.Unmarshal([]byte(text), new(Histogram)); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}
