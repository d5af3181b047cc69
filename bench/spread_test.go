package main

import "testing"

func TestSpreadIsMedianLowestHighest(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want spread
	}{
		{nil, spread{}},
		{[]float64{3}, spread{3, 3, 3}},
		{[]float64{5, 1}, spread{3, 1, 5}},
		{[]float64{9, 1, 2}, spread{2, 1, 9}},
		{[]float64{4, 1, 3, 2}, spread{2.5, 1, 4}},
	} {
		if got := spreadOf(c.in); got != c.want {
			t.Errorf("spreadOf(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestRatiosAreBowlineOverRedis(t *testing.T) {
	p := pair{
		Redis:   slice{Commands: 1000, Seconds: 2, ServerSeconds: 1, LoadSeconds: 0.5},
		Bowline: slice{Commands: 1000, Seconds: 1, ServerSeconds: 0.5, LoadSeconds: 0.5},
	}
	if got := cpuRatio(p); got != 0.5 {
		t.Errorf("CPU ratio %v, want 0.5", got)
	}
	if got := throughputRatio(p); got != 2 {
		t.Errorf("throughput ratio %v, want 2", got)
	}
	if got := p.Redis.micros(); got != 1000 {
		t.Errorf("%v microseconds a command, want 1000", got)
	}
}

func TestDriftOfTheMachineCancels(t *testing.T) {
	calm := slice{Commands: 1000, Seconds: 1, ServerSeconds: 0.4, LoadSeconds: 0.2}
	slow := slice{Commands: 1000, Seconds: 3, ServerSeconds: 1.2, LoadSeconds: 0.6}
	p := pair{Redis: calm, Bowline: slow}
	if got := cpuRatio(p); got < 0.999 || got > 1.001 {
		t.Errorf("CPU ratio %v of equal servers on a machine that slowed down, want 1", got)
	}
	if got := rawCPURatio(p); got < 2.999 || got > 3.001 {
		t.Errorf("raw CPU ratio %v, want 3", got)
	}
}

func TestRowsWithAWideSpreadAreNoisy(t *testing.T) {
	row := func(low, high float64) trafficResult {
		return trafficResult{CPU: judge(spread{Median: 0.6, Min: low, Max: high}, nil)}
	}
	r := report{Traffic: []trafficResult{row(0.55, 0.65), row(0.5, 0.9), row(0.2, 0.6), {Failure: "no server"}}}
	if got := r.noisyRows(); got != 2 {
		t.Errorf("%d rows are noisy, want 2", got)
	}
}

func TestNothingMeasuredIsNoDivision(t *testing.T) {
	if cpuRatio(pair{}) != 0 || rawCPURatio(pair{}) != 0 || throughputRatio(pair{}) != 0 {
		t.Error("a ratio of nothing is not 0")
	}
}
