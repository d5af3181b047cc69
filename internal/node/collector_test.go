package node

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"
)

func TestPercentileIsTheUpperBoundOfItsBucket(t *testing.T) {
	buckets := []float64{math.Inf(-1), 1, 2, 3, math.Inf(1)}
	for _, c := range []struct {
		counts []uint64
		q      float64
		want   float64
	}{
		{[]uint64{0, 0, 0, 0}, 0.999, 0},
		{[]uint64{10, 0, 0, 0}, 0.999, 1},
		{[]uint64{999, 1, 0, 0}, 0.999, 1},
		{[]uint64{998, 2, 0, 0}, 0.999, 2},
		{[]uint64{1, 1, 1, 1}, 0.5, 2},
		{[]uint64{0, 0, 0, 5}, 0.5, 3},
	} {
		if got := percentile(&metrics.Float64Histogram{Counts: c.counts, Buckets: buckets}, c.q); got != c.want {
			t.Errorf("percentile(%v, %v) = %v, want %v", c.counts, c.q, got, c.want)
		}
	}
}

func TestCollectorCountsCollections(t *testing.T) {
	before := collector()
	runtime.GC()
	after := collector()
	if after.Cycles <= before.Cycles {
		t.Errorf("%d cycles after a collection, %d before", after.Cycles, before.Cycles)
	}
	if after.HeapBytes == 0 || after.PauseP999 <= 0 {
		t.Errorf("%+v lacks numbers", after)
	}
}
