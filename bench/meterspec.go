package main

import (
	"time"

	"github.com/bowline-kv/bowline/internal/histogram"
)

// meterArgument makes this binary a meter process.
const meterArgument = "meter"

// meterSpec is what a meter is started with: one line of JSON on its standard
// input. It answers with one line of [meterResult] when it is connected, and then
// takes pairs of [meterOrder]: begin, end. After each end it tells what it saw.
type meterSpec struct {
	Address string `json:"address"`
	Key     string `json:"key"`
	// PeriodNanos is the time from one GET to the next when the reply comes sooner.
	PeriodNanos int64 `json:"period_ns"`
}

// meterOrder begins and ends a measurement.
type meterOrder struct {
	Begin bool `json:"begin"`
}

// meterResult tells of one measurement.
type meterResult struct {
	Latency    histogram.Histogram `json:"latency"`
	MaxNanos   int64               `json:"max_ns"`
	MaxAtNanos int64               `json:"max_at_ns"` // when it was sent, from the begin
	Failure    string              `json:"failure,omitempty"`
}

// meterPeriod leaves the cores of a small machine to the server and to what is
// being measured. A wait that is longer than this is missed by no meter: a GET is
// under way, or the next is sent before it ends.
const meterPeriod = 200 * time.Microsecond
