package node

import (
	"math"
	"runtime/metrics"
	"time"

	"github.com/bowline-kv/bowline/internal/server"
)

// collector asks the Go runtime what its garbage collector did.
func collector() server.Collector {
	samples := []metrics.Sample{
		{Name: "/sched/pauses/total/gc:seconds"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/total:cpu-seconds"},
		{Name: "/cpu/classes/idle:cpu-seconds"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/memory/classes/heap/objects:bytes"},
	}
	metrics.Read(samples)
	for i := range samples {
		if samples[i].Value.Kind() == metrics.KindBad { // a toolchain that names them differently
			return server.Collector{}
		}
	}
	c := server.Collector{
		PauseP999: time.Duration(percentile(samples[0].Value.Float64Histogram(), 0.999) * 1e9),
		Cycles:    samples[4].Value.Uint64(),
		HeapBytes: samples[5].Value.Uint64(),
	}
	if used := samples[2].Value.Float64() - samples[3].Value.Float64(); used > 0 {
		c.CPUPercent = 100 * samples[1].Value.Float64() / used
	}
	return c
}

// percentile is the upper bound of the bucket in which the share q of the
// values is reached, 0 for an empty histogram; for the last bucket, which may
// have no upper bound, it is the lower one.
func percentile(h *metrics.Float64Histogram, q float64) float64 {
	total := uint64(0)
	for _, n := range h.Counts {
		total += n
	}
	if total == 0 {
		return 0
	}
	rank, sum := uint64(math.Ceil(q*float64(total))), uint64(0)
	for i, n := range h.Counts {
		if sum += n; sum >= rank {
			if upper := h.Buckets[i+1]; !math.IsInf(upper, 1) {
				return upper
			}
			return h.Buckets[i]
		}
	}
	return 0
}
