package main

import (
	"math"
	"slices"
)

// measure is something that a target limits.
type measure string

const (
	measureCPU        measure = "cpu"        // ratio to redis-server
	measureThroughput measure = "throughput" // ratio to redis-server
	measureKeyBytes   measure = "bytes/key"  // growth of resident memory
	measureElement    measure = "bytes/elem" // the same for each part of a collection
	measureConnBytes  measure = "bytes/conn" // growth of resident memory
	measureGCPause    measure = "gc pause"   // microseconds at p99.9
	measureGCPercent  measure = "gc cpu"     // percent of the process's CPU
	measureStall      measure = "stall"      // longest wait in microseconds
	measureExpiry     measure = "expiry"     // seconds until expired memory is free
	measureHits       measure = "hits"       // points of the hit ratio below redis-server's
	measureTail       measure = "tail"       // p99.9 during a snapshot over that without
)

// target is one promise of docs/performance.md, section "Targets".
type target struct {
	measure measure
	// profile is that of durability, "" where nothing is kept on a disk.
	profile string
	// commands, pipeline and valueBytes say for which rows it holds; nil or 0: all.
	commands   []string
	pipeline   int
	valueBytes int
	limit      float64
	// atLeast: more is better; otherwise less is.
	atLeast bool
}

var (
	plainCommands = []string{"GET", "SET", "INCR"}
	heavyCommands = []string{"LPUSH", "HSET", "SADD", "ZADD", "MSET10"}
)

// targets are those of docs/performance.md that this program measures.
var targets = []target{
	{measure: measureCPU, commands: plainCommands, pipeline: 1, limit: 0.95},
	{measure: measureCPU, commands: plainCommands, pipeline: 16, limit: 0.65},
	{measure: measureCPU, commands: plainCommands, pipeline: 64, limit: 0.50},
	{measure: measureCPU, commands: heavyCommands, pipeline: 1, limit: 1.0},
	{measure: measureCPU, commands: heavyCommands, pipeline: 16, limit: 0.8},
	{measure: measureCPU, commands: heavyCommands, pipeline: 64, limit: 0.7},
	{measure: measureThroughput, pipeline: 16, limit: 1.5, atLeast: true},
	{measure: measureThroughput, pipeline: 64, limit: 2, atLeast: true},
	{measure: measureThroughput, profile: profileAlways, pipeline: 1, limit: 1.3, atLeast: true},
	{measure: measureThroughput, profile: profileAlways, pipeline: 16, limit: 2.5, atLeast: true},
	{measure: measureThroughput, profile: profileEverysec, limit: 0.9, atLeast: true},
	{measure: measureTail, limit: 2},
	{measure: measureKeyBytes, valueBytes: 16, limit: 60},
	{measure: measureKeyBytes, valueBytes: 100, limit: 140},
	{measure: measureElement, commands: []string{"hashes"}, limit: 120},
	{measure: measureElement, commands: []string{"zset"}, limit: 75},
	{measure: measureElement, commands: []string{"set"}, limit: 43},
	{measure: measureElement, commands: []string{"list"}, limit: 18.6},
	{measure: measureConnBytes, limit: 1024},
	{measure: measureGCPause, limit: 1000},
	{measure: measureGCPercent, limit: 5},
	{measure: measureStall, limit: 1000},
	{measure: measureExpiry, limit: 1},
	{measure: measureHits, limit: 1},
}

// findTarget gives the target for a row without files, or nil.
func findTarget(m measure, command string, pipeline, valueBytes int) *target {
	return findProfileTarget("", m, command, pipeline, valueBytes)
}

func findProfileTarget(profile string, m measure, command string, pipeline, valueBytes int) *target {
	for i := range targets {
		t := &targets[i]
		if t.measure == m && t.profile == profile && (t.commands == nil || slices.Contains(t.commands, command)) &&
			(t.pipeline == 0 || t.pipeline == pipeline) && (t.valueBytes == 0 || t.valueBytes == valueBytes) {
			return t
		}
	}
	return nil
}

// verdict says how a value stands to its target.
type verdict string

const (
	verdictNone verdict = ""     // there is no target
	verdictMet  verdict = "ok"   // reached
	verdictOff  verdict = "off"  // missed
	verdictFail verdict = "FAIL" // missed by more than the tolerance
	// verdictNoise: missed, but so it is with nothing going on.
	verdictNoise verdict = "noise"
)

// tolerance is the share of a target by which a row may miss it before --short
// fails. The flag of that name sets it: `make test`, which has to pass on shared
// machines, asks for little.
var tolerance = 0.25

// miss says how far a value is from its target: 1 is on it, more is worse; 0
// when there is none.
func (t *target) miss(value float64) float64 {
	switch {
	case t == nil:
		return 0
	case math.IsNaN(value):
		return math.Inf(1)
	case t.atLeast && value <= 0:
		return math.Inf(1)
	case t.atLeast:
		return t.limit / value
	}
	return value / t.limit
}

// judge compares a measured value with a target, which may be nil. A value that
// could not be measured (not a number) fails.
func (t *target) judge(value float64) verdict {
	if t == nil {
		return verdictNone
	}
	met, near := value <= t.limit, value <= t.limit*(1+tolerance)
	if t.atLeast {
		met, near = value >= t.limit, value >= t.limit*(1-tolerance)
	}
	switch {
	case math.IsNaN(value):
		return verdictFail
	case met:
		return verdictMet
	case near:
		return verdictOff
	}
	return verdictFail
}

// The profiles of rows with a log: always stands beside that of redis-server, and
// everysec beside Bowline without files.
const (
	profileAlways   = "always"
	profileEverysec = "everysec"
)
