package main

import (
	"fmt"
	"time"
)

// operation is what a goroutine does over and over.
type operation string

const (
	opGet  operation = "GET"
	opSet  operation = "SET"
	opMget operation = "MGET"
)

// row is one line of the table.
type row struct {
	Op         operation `json:"op"`
	Goroutines int       `json:"goroutines"`
	// Depth is how many commands a pipeline has, or how many keys an MGET; 1: a single
	// command.
	Depth int `json:"depth"`
}

func (r row) name() string {
	switch {
	case r.Op == opMget:
		return fmt.Sprintf("MGET of %d/%dg", r.Depth, r.Goroutines)
	case r.Depth > 1:
		return fmt.Sprintf("%s/pipeline of %d/%dg", r.Op, r.Depth, r.Goroutines)
	}
	return fmt.Sprintf("%s/%dg", r.Op, r.Goroutines)
}

// commands is how many an operation counts as: an MGET is one.
func (r row) commands() int {
	if r.Op == opMget {
		return 1
	}
	return r.Depth
}

// Bars for Bowline: ratios to the best other client.
const (
	cpuMax           = 0.83 // from manyGoroutines up
	cpuMaxAlone      = 1.05
	throughputMin    = 1.0
	throughputAlone  = 1 / cpuMaxAlone
	manyGoroutines   = 8
	allocationsSet   = 0
	allocationsGet   = 1
	allocationsSlack = 0.05 // growing buffers and the runtime's own, spread over all commands
)

func (r row) cpuBar() float64 {
	if r.Goroutines < manyGoroutines {
		return cpuMaxAlone
	}
	return cpuMax
}

func (r row) throughputBar() float64 {
	if r.Goroutines < manyGoroutines {
		return throughputAlone
	}
	return throughputMin
}

// allocationBar is the bar for single commands; bounded is false where there is none.
func (r row) allocationBar() (bar float64, bounded bool) {
	switch {
	case r.Depth > 1:
		return 0, false
	case r.Op == opSet:
		return allocationsSet, true
	}
	return allocationsGet, true
}

// plan says how much is measured.
type plan struct {
	rounds     int
	slice      time.Duration
	lead       time.Duration
	keys       int
	valueBytes int
	failovers  int // rounds; 0: no row
	builds     int // rounds; 0: no row
	cancelable bool
	rows       []row
}

func defaultPlan() plan {
	p := plan{
		rounds: 5, slice: 500 * time.Millisecond, lead: 200 * time.Millisecond,
		keys: 100_000, valueBytes: 64, failovers: 3, builds: 3,
	}
	for _, op := range []operation{opGet, opSet} {
		for _, n := range []int{1, 8, 64, 512} {
			p.rows = append(p.rows, row{op, n, 1})
		}
	}
	for _, depth := range []int{16, 100} {
		for _, op := range []operation{opGet, opSet} {
			for _, n := range []int{1, 8} {
				p.rows = append(p.rows, row{op, n, depth})
			}
		}
	}
	for _, n := range []int{1, 8} {
		p.rows = append(p.rows, row{opMget, n, 100})
	}
	return p
}

// shorten makes the quick form of a plan.
func (p *plan) shorten() {
	p.rounds, p.slice, p.lead = 3, 250*time.Millisecond, 100*time.Millisecond
	p.failovers, p.builds = 1, 0
}
