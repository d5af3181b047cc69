package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// report is everything that was measured; --json writes it as it is.
type report struct {
	Facts     []string         `json:"facts"`
	Rows      []rowResult      `json:"rows"`
	Failovers []failoverResult `json:"failovers,omitempty"`
	Builds    []buildResult    `json:"builds,omitempty"`
}

// rowResult is one row: the runs of all clients, in the order of subjects.
type rowResult struct {
	Row     string         `json:"row"`
	Clients []clientResult `json:"clients"`
	// Ratios of Bowline to the best other, absent when only one client was measured.
	CPU        *judged `json:"cpu_ratio,omitempty"`
	Throughput *judged `json:"throughput_ratio,omitempty"`
	Allocs     *judged `json:"allocs,omitempty"`
}

// clientResult is the medians of a client's runs, and the runs.
type clientResult struct {
	Client    string      `json:"client"`
	CPUMicros float64     `json:"cpu_us"`
	PerSecond float64     `json:"per_second"`
	Allocs    float64     `json:"allocs"`
	P50Micros float64     `json:"p50_us"`
	P99Micros float64     `json:"p99_us"`
	Runs      []runResult `json:"runs"`
}

// judged is a value beside its bar.
type judged struct {
	Value float64 `json:"value"`
	Best  string  `json:"best_other,omitempty"`
	Bar   float64 `json:"bar"`
	OK    bool    `json:"ok"`
}

func (r runResult) cpuMicros() float64 { return micros(r.CPU) / float64(r.Commands) }
func (r runResult) perSecond() float64 { return float64(r.Commands) / r.Elapsed.Seconds() }
func (r runResult) allocs() float64    { return float64(r.Mallocs) / float64(r.Commands) }

// summarize sums up the runs of a client.
func summarize(name string, runs []runResult) clientResult {
	over := func(f func(runResult) float64) float64 {
		list := make([]float64, len(runs))
		for i := range runs {
			list[i] = f(runs[i])
		}
		return median(list)
	}
	return clientResult{
		Client: name, Runs: runs,
		CPUMicros: over(runResult.cpuMicros), PerSecond: over(runResult.perSecond), Allocs: over(runResult.allocs),
		P50Micros: over(func(r runResult) float64 { return r.P50Micros }),
		P99Micros: over(func(r runResult) float64 { return r.P99Micros }),
	}
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	n := len(list)
	if n == 0 {
		return 0
	}
	return (list[(n-1)/2] + list[n/2]) / 2
}

// judge compares Bowline with the best other client of a row.
func (r *rowResult) judge(of row) {
	at := slices.IndexFunc(r.Clients, func(c clientResult) bool { return c.Client == ours })
	if at < 0 {
		return
	}
	own := &r.Clients[at]
	if bar, bounded := of.allocationBar(); bounded {
		r.Allocs = &judged{Value: own.Allocs, Bar: bar, OK: own.Allocs <= bar+allocationsSlack}
	}
	var cheapest, fastest *clientResult
	for i := range r.Clients {
		c := &r.Clients[i]
		if i == at {
			continue
		}
		if cheapest == nil || c.CPUMicros < cheapest.CPUMicros {
			cheapest = c
		}
		if fastest == nil || c.PerSecond > fastest.PerSecond {
			fastest = c
		}
	}
	if cheapest == nil {
		return
	}
	cpu, bar := ratioOf(own, cheapest, runResult.cpuMicros), of.cpuBar()
	r.CPU = &judged{Value: cpu, Best: cheapest.Client, Bar: bar, OK: cpu <= bar}
	speed, bar := ratioOf(own, fastest, runResult.perSecond), of.throughputBar()
	r.Throughput = &judged{Value: speed, Best: fastest.Client, Bar: bar, OK: speed >= bar}
}

// ratioOf is the median over the rounds of the ratio of two clients.
func ratioOf(a, b *clientResult, f func(runResult) float64) float64 {
	list := make([]float64, min(len(a.Runs), len(b.Runs)))
	for i := range list {
		list[i] = f(a.Runs[i]) / f(b.Runs[i])
	}
	return median(list)
}

// misses counts the values that are off their bars.
func (r *report) misses() int {
	n := 0
	count := func(j *judged) {
		if j != nil && !j.OK {
			n++
		}
	}
	for i := range r.Rows {
		count(r.Rows[i].CPU)
		count(r.Rows[i].Throughput)
		count(r.Rows[i].Allocs)
	}
	for i := range r.Failovers {
		count(r.Failovers[i].Judged)
	}
	for i := range r.Builds {
		count(r.Builds[i].Judged)
	}
	return n
}

func (r *report) writeJSON(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
