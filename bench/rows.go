package main

import (
	"fmt"
	"strconv"
	"time"
)

// plan says how much is measured.
type plan struct {
	short       bool
	connections int
	keys        int64         // key range of the traffic rows
	rounds      int           // pairs of slices, at least 5
	slice       time.Duration // about how long redis-server takes for a slice
	// lead is how long the same load runs right before a slice without being
	// measured: a server that was idle meanwhile finds its pace again, and Bowline
	// spreads over its loops.
	lead time.Duration

	commands   []string // nil: all workloads
	valueBytes []int
	memoryKeys []int64 // one row each and per size of value
	elements   int64   // of each collection; 0: no rows
	idle       int     // connections; 0: no row
	backKeys   int64   // 0: no row
	gcKeys     int64   // 0: no row
	gcTime     time.Duration

	stallKeys   int64 // 0: no rows
	stallBytes  int64 // of the one big value
	stallRounds int
	stallIdle   time.Duration // how long a server is watched while nothing happens

	diskKeys int64 // of the rows about snapshots and logs; 0: no rows

	expiryKeys    int64 // 0: no row
	evictKeys     int64 // 0: no rows
	evictAccesses int64

	// again is how often a row is measured anew that fails.
	again int
}

func defaultPlan() plan {
	return plan{
		connections: 50, keys: 1_000_000, rounds: 5, slice: 400 * time.Millisecond, lead: 150 * time.Millisecond,
		valueBytes: []int{16, 100},
		memoryKeys: []int64{1_000_000}, elements: 1_000_000, idle: 2000, backKeys: 1_000_000,
		gcKeys: 1_000_000, gcTime: 10 * time.Second,
		stallKeys: 1_000_000, stallBytes: 256 << 20, stallRounds: 3, stallIdle: time.Second,
		diskKeys: 1_000_000, expiryKeys: 1_000_000, evictKeys: 100_000, evictAccesses: 1_000_000,
	}
}

func shortPlan() plan {
	return plan{
		short: true, connections: 50, keys: 100_000, rounds: 5, slice: 250 * time.Millisecond, lead: 150 * time.Millisecond,
		commands: []string{"GET", "SET"}, valueBytes: []int{16},
		memoryKeys: []int64{200_000}, again: 2,
	}
}

func fullPlan() plan {
	p := defaultPlan()
	p.rounds, p.slice = 9, 600*time.Millisecond
	p.memoryKeys = []int64{1_000_000, 5_000_000}
	p.backKeys, p.gcKeys, p.gcTime = 10_000_000, 10_000_000, 30*time.Second
	p.stallRounds = 5
	p.diskKeys, p.evictKeys, p.evictAccesses = 5_000_000, 1_000_000, 10_000_000
	return p
}

// pipelines are the depths that every command is measured at.
var pipelines = []int{1, 16, 64}

// trafficRow is a row about speed.
type trafficRow struct {
	profile    string // of durability; "": nothing is kept on a disk
	workload   *workload
	pipeline   int
	valueBytes int // 0: the command has no value
}

func (r trafficRow) name() string {
	name := r.workload.name + "/p" + strconv.Itoa(r.pipeline)
	if r.profile != "" {
		name = r.profile + "/" + name
	}
	if r.valueBytes > 0 {
		name += fmt.Sprintf("/%dB", r.valueBytes)
	}
	return name
}

// trafficRows lists the rows by size of value, so that the keys are filled once
// for each size.
func (p *plan) trafficRows() []trafficRow {
	var rows []trafficRow
	for nth, size := range p.valueBytes {
		for i := range workloads {
			w := &workloads[i]
			if !p.wants(w.name) || nth > 0 && !w.sized {
				continue
			}
			for _, depth := range pipelines {
				row := trafficRow{workload: w, pipeline: depth}
				if w.sized {
					row.valueBytes = size
				}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func (p *plan) wants(command string) bool {
	for _, c := range p.commands {
		if c == command {
			return true
		}
	}
	return p.commands == nil
}

// countName writes a number of keys for people: 200k, 1M.
func countName(n int64) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return strconv.FormatInt(n/1_000_000, 10) + "M"
	case n >= 1000 && n%1000 == 0:
		return strconv.FormatInt(n/1000, 10) + "k"
	}
	return strconv.FormatInt(n, 10)
}
