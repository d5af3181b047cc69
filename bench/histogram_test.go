package main

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestBucketsAreNarrowAndInOrder(t *testing.T) {
	if got := bucketOf(math.MaxInt64); got != bucketCount-1 {
		t.Errorf("the longest duration is in bucket %d of %d", got, bucketCount)
	}
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Uint64Range(0, math.MaxInt64).Draw(t, "ns") >> rapid.IntRange(0, 62).Draw(t, "shift")
		i := bucketOf(ns)
		end := bucketMax(i)
		if end < ns || end-ns > ns/32 {
			t.Fatalf("%d is in a bucket that ends with %d", ns, end)
		}
		if bucketOf(end) != i || i+1 < bucketCount && bucketOf(end+1) != i+1 {
			t.Fatalf("bucket %d does not end with %d", i, end)
		}
	})
}

func TestPercentileIsThatOfTheSortedValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 1e12), 1, 200).Draw(t, "values")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		var whole, merged, part histogram
		for _, v := range values {
			whole.add(time.Duration(v))
			part.add(time.Duration(v))
			merged.merge(part.export())
			part = histogram{}
		}
		if merged != whole {
			t.Fatal("merging the parts does not make the whole")
		}
		slices.Sort(values)
		exact := values[max(0, int(math.Ceil(q*float64(len(values))))-1)]
		if got := int64(whole.percentile(q)); got < exact || got-exact > exact/32 {
			t.Fatalf("percentile %v is %d, exactly %d", q, got, exact)
		}
	})
}

func TestHistogramTakesAnything(t *testing.T) {
	var h histogram
	if h.percentile(0.5) != 0 {
		t.Error("an empty histogram has a percentile")
	}
	h.add(-time.Second)
	h.merge([][2]uint64{{bucketCount, 7}, {math.MaxUint64, 7}})
	if h.total != 1 || h.percentile(1) != 0 {
		t.Errorf("total %d, maximum %v, want 1 and 0", h.total, h.percentile(1))
	}
}
