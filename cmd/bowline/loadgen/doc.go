// Package loadgen is the load generator behind `bowline bench`: it sends a mix of commands
// to a cluster or a single server with package client, and reports rates, latencies and
// errors.
//
// [ParseMix], [ParseDistribution] and [ParseSize] read what the flags say, [Run] does
// the work, and [Result] prints itself as a table or as JSON.
//
// Without a rate the load is a closed loop: each worker sends its next batch when the
// last one is answered. With a rate it is an open one: batches fall due at fixed times
// whatever the server does, and latency counts from when a batch was due, so that a
// server that stops for a second is charged for all that should have come in that second.
package loadgen
