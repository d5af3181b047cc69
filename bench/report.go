package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/bowline-kv/bowline/internal/histogram"
)

// report is everything that was measured; --json writes it as it is.
type report struct {
	Facts   []fact          `json:"facts"`
	Traffic []trafficResult `json:"traffic"`
	State   stateResults    `json:"state"`
	Stalls  []stallResult   `json:"stalls"`
	Hits    []hitResult     `json:"hits"`
	Notes   []string        `json:"notes"`
}

// fact is something about the machine or the run.
type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// percentiles of the latency of whole pipelines, in microseconds.
type percentiles struct {
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
}

func percentilesOf(h *histogram.Histogram) percentiles {
	at := func(percent float64) float64 { return float64(h.Percentile(percent)) / 1e3 }
	return percentiles{P50: at(50), P99: at(99), P999: at(99.9)}
}

// trafficResult is a measured row about speed.
type trafficResult struct {
	Row              string      `json:"row"`
	CPU              judged      `json:"cpu_ratio"` // the one of the next two that JudgedBy names
	JudgedBy         yardstick   `json:"judged_by"`
	RelativeCPU      spread      `json:"relative_cpu_ratio"`
	RawCPU           spread      `json:"raw_cpu_ratio"`
	LoadCPU          spread      `json:"load_cpu_ratio"`
	Throughput       judged      `json:"throughput_ratio"`
	RedisMicros      spread      `json:"redis_micros_per_command"`
	BowlineMicros    spread      `json:"bowline_micros_per_command"`
	RedisPerSecond   spread      `json:"redis_commands_per_second"`
	BowlinePerSecond spread      `json:"bowline_commands_per_second"`
	RedisLatency     percentiles `json:"redis_latency_micros"`
	BowlineLatency   percentiles `json:"bowline_latency_micros"`
	Pairs            []pair      `json:"pairs"`
	Failure          string      `json:"failure,omitempty"`
}

// judged is a value with its target.
type judged struct {
	spread
	Target  float64 `json:"target,omitempty"` // 0: none
	Verdict verdict `json:"verdict,omitempty"`
	miss    float64 // see target.miss
}

func judge(s spread, t *target) judged {
	j := judged{spread: s, Verdict: t.judge(s.Median), miss: t.miss(s.Median)}
	if t != nil {
		j.Target = t.limit
	}
	return j
}

// stateResult is a row about memory or the garbage collector: one number for
// each server.
type stateResult struct {
	Row     string   `json:"row"`
	Unit    string   `json:"unit"`
	Redis   *float64 `json:"redis,omitempty"`
	Bowline *float64 `json:"bowline,omitempty"`
	Target  float64  `json:"target,omitempty"` // for Bowline's number; 0: none
	Verdict verdict  `json:"verdict,omitempty"`
	Failure string   `json:"failure,omitempty"`
	miss    float64  // see target.miss
}

// newState makes a row; redis and bowline may be nil.
func newState(row, unit string, redis, bowline *float64, t *target) stateResult {
	s := stateResult{Row: row, Unit: unit, Redis: redis, Bowline: bowline}
	if t != nil && bowline != nil {
		s.Target, s.Verdict, s.miss = t.limit, t.judge(*bowline), t.miss(*bowline)
	}
	return s
}

// resultOf sums up the slices of a row.
func resultOf(row trafficRow, pairs []pair, redis, bowline *histogram.Histogram) trafficResult {
	find := func(m measure) *target {
		return findProfileTarget(row.profile, m, row.workload.name, row.pipeline, row.valueBytes)
	}
	by, cpu := judgedCPU(pairs)
	return trafficResult{
		Row:              row.name(),
		CPU:              judge(cpu, find(measureCPU)),
		JudgedBy:         by,
		RelativeCPU:      spreadOfPairs(pairs, cpuRatio),
		RawCPU:           spreadOfPairs(pairs, rawCPURatio),
		LoadCPU:          spreadOfPairs(pairs, loadRatio),
		Throughput:       judge(spreadOfPairs(pairs, throughputRatio), find(measureThroughput)),
		RedisMicros:      spreadOfPairs(pairs, func(p pair) float64 { return p.Redis.micros() }),
		BowlineMicros:    spreadOfPairs(pairs, func(p pair) float64 { return p.Bowline.micros() }),
		RedisPerSecond:   spreadOfPairs(pairs, func(p pair) float64 { return p.Redis.perSecond() }),
		BowlinePerSecond: spreadOfPairs(pairs, func(p pair) float64 { return p.Bowline.perSecond() }),
		RedisLatency:     percentilesOf(redis),
		BowlineLatency:   percentilesOf(bowline),
		Pairs:            pairs,
	}
}

// noisyRows counts the rows whose pairs of slices differ so much that their
// median says little: by more than a third of it.
func (r *report) noisyRows() int {
	n := 0
	for i := range r.Traffic {
		if s := &r.Traffic[i].CPU; s.Max-s.Min > s.Median/3 {
			n++
		}
	}
	return n
}

// broken says whether a row could not be measured.
func (r *report) broken() bool {
	for i := range r.Traffic {
		if r.Traffic[i].Failure != "" {
			return true
		}
	}
	for i := range r.State {
		if r.State[i].Failure != "" {
			return true
		}
	}
	for i := range r.Stalls {
		if r.Stalls[i].Failure != "" {
			return true
		}
	}
	for i := range r.Hits {
		if r.Hits[i].Failure != "" {
			return true
		}
	}
	return false
}

// failed says whether a row is off its target by more than the tolerance.
func (r *report) failed() bool {
	for i := range r.Traffic {
		if r.Traffic[i].failing() {
			return true
		}
	}
	return r.State.failing()
}

// outcomeOf is the error that makes the exit status 1. Targets count in the
// short form only: the others are for reading.
func outcomeOf(short bool, r *report) error {
	switch {
	case r.broken():
		return errors.New("a row could not be measured")
	case short && r.failed():
		return fmt.Errorf("a row is off its target by more than %g %%", 100*tolerance)
	}
	return nil
}

// print writes the report for people.
func (r *report) print(w io.Writer) {
	for i, f := range r.Facts {
		if i > 0 {
			fmt.Fprint(w, ", ")
		}
		fmt.Fprintf(w, "%s %s", f.Name, f.Value)
	}
	fmt.Fprint(w, "\n\n")
	if len(r.Traffic) > 0 {
		w.Write(align(trafficCells(r.Traffic)))
		fmt.Fprintln(w)
	}
	if len(r.State) > 0 {
		w.Write(align(stateCells(r.State)))
		fmt.Fprintln(w)
	}
	if len(r.Stalls) > 0 {
		w.Write(align(stallCells(r.Stalls)))
		fmt.Fprintln(w)
	}
	if len(r.Hits) > 0 {
		w.Write(align(hitCells(r.Hits)))
		fmt.Fprintln(w)
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, "note:", note)
	}
}

// writeJSON writes the report into a file.
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
