package main

import "slices"

// spread sums up repeated measurements of one thing.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spreadOf is zero for no values.
func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return spread{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Min: sorted[0], Max: sorted[n-1]}
}

// slice is one measurement of one server.
type slice struct {
	Commands      int64   `json:"commands"`
	Seconds       float64 `json:"seconds"`
	ServerSeconds float64 `json:"server_cpu_seconds"`
	LoadSeconds   float64 `json:"load_cpu_seconds"`
}

// micros is the server's CPU per command in microseconds.
func (s slice) micros() float64 { return over(s.ServerSeconds*1e6, float64(s.Commands)) }

func (s slice) perSecond() float64 { return over(float64(s.Commands), s.Seconds) }

// loadMicros is the load's CPU per command in microseconds.
func (s slice) loadMicros() float64 { return over(s.LoadSeconds*1e6, float64(s.Commands)) }

// relative is the server's CPU in units of the load's CPU.
func (s slice) relative() float64 { return over(s.ServerSeconds, s.LoadSeconds) }

// pair holds two slices that ran one after the other.
type pair struct {
	Redis   slice `json:"redis"`
	Bowline slice `json:"bowline"`
}

func spreadOfPairs(pairs []pair, value func(pair) float64) spread {
	values := make([]float64, len(pairs))
	for i, p := range pairs {
		values[i] = value(p)
	}
	return spreadOf(values)
}

// cpuRatio compares CPU per command, each side in units of its own load's CPU
// per command: both sides ran the same commands.
func cpuRatio(p pair) float64 { return over(p.Bowline.relative(), p.Redis.relative()) }

func rawCPURatio(p pair) float64 { return over(p.Bowline.micros(), p.Redis.micros()) }

// loadRatio says how far the yardstick of cpuRatio is the same for both servers.
func loadRatio(p pair) float64 { return over(p.Bowline.loadMicros(), p.Redis.loadMicros()) }

func throughputRatio(p pair) float64 { return over(p.Bowline.perSecond(), p.Redis.perSecond()) }

// over divides, and gives 0 where there is nothing to divide by.
func over(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
