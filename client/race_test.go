//go:build race

package client

// raceEnabled: sync.Pool drops at random under the race detector, so that allocations
// can't be counted.
const raceEnabled = true
