package main

import "github.com/bowline-kv/bowline/internal/histogram"

// loadSpec is what a load process is started with: one line of JSON on its
// standard input, with [loadOrder] lines after it. It answers each order with
// one line of [loadResult], and ends with its input.
type loadSpec struct {
	Address     string `json:"address"`
	Workload    string `json:"workload"`
	Connections int    `json:"connections"`
	Pipeline    int    `json:"pipeline"`
	ValueBytes  int    `json:"value_bytes"`
	Keys        int64  `json:"keys"`
	// Expiry is for workloads whose keys expire: milliseconds since 1970, and how
	// many milliseconds later the last keys may.
	Expiry       int64 `json:"expiry,omitempty"`
	ExpirySpread int64 `json:"expiry_spread,omitempty"`
}

// loadOrder asks for one slice.
type loadOrder struct {
	Commands int64  `json:"commands"`
	Seed     uint64 `json:"seed"`
	Order    order  `json:"order"`
}

// loadResult tells of one slice.
type loadResult struct {
	Commands     int64               `json:"commands"`
	ElapsedNanos int64               `json:"elapsed_ns"`
	CPUNanos     int64               `json:"cpu_ns"`
	Nulls        int64               `json:"nulls"`
	Errors       int64               `json:"errors"`
	FirstError   string              `json:"first_error,omitempty"`
	Latency      histogram.Histogram `json:"latency"` // of pipelines
	Failure      string              `json:"failure,omitempty"`
}
