package main

import "testing"

func TestCPUIsJudgedRawWhenTheLoadsDiffer(t *testing.T) {
	redis := slice{Commands: 1000, Seconds: 1, ServerSeconds: 1, LoadSeconds: 0.5}
	for _, c := range []struct {
		name       string
		load       float64 // of Bowline's slices, where redis-server's is 1
		wantBy     yardstick
		wantMedian float64
	}{
		{"equal loads", 1, yardstickRelative, 0.8},
		{"a load that is a little cheaper", 0.95, yardstickRelative, 0.8 / 0.95},
		{"a load that is much cheaper", 0.8, yardstickRaw, 0.8},
		{"a load that is much dearer", 1.2, yardstickRaw, 0.8},
		{"a load without CPU", 0, yardstickRaw, 0.8},
	} {
		p := pair{Redis: redis, Bowline: slice{Commands: 1000, Seconds: 1, ServerSeconds: 0.8, LoadSeconds: 0.5 * c.load}}
		by, got := judgedCPU([]pair{p, p, p})
		if by != c.wantBy || got.Median < c.wantMedian-1e-9 || got.Median > c.wantMedian+1e-9 {
			t.Errorf("%s: judged by %q: %v, want %q: %v", c.name, by, got.Median, c.wantBy, c.wantMedian)
		}
	}
}

func TestOneOddSliceDoesNotChangeTheYardstick(t *testing.T) {
	even := slice{Commands: 1000, Seconds: 1, ServerSeconds: 1, LoadSeconds: 0.5}
	odd := even
	odd.LoadSeconds = 2
	if by, _ := judgedCPU([]pair{{even, even}, {even, odd}, {even, even}}); by != yardstickRelative {
		t.Errorf("judged by %q", by)
	}
}
