package main

// yardstick is a way to compare the CPU of two servers.
type yardstick string

const (
	yardstickRelative yardstick = "cpu" // in units of the load's CPU
	yardstickRaw      yardstick = "raw" // as the kernel counts it
)

// loadTolerance is how far the loads of the two servers may differ in their own
// CPU per command for it to be a unit of measure.
const loadTolerance = 0.10

// judgedCPU chooses what a row's CPU is judged by.
//
// Dividing by the load's CPU cancels the machine's drift, but only while the load
// costs the same beside both servers. It does not where one server answers in
// larger batches: the load then reads less often, becomes cheaper, and the
// division charges the saving to the server that caused it (or hides a cost, the
// other way round). So the division holds while the loads agree within
// loadTolerance, which is about the noise of either; beyond it the row is judged
// by raw CPU, where the interleaved slices and their median must do against the
// drift.
//
// Choosing the measure with the narrower spread instead was considered: a biased
// one may well be the narrower, and then the bias decides.
func judgedCPU(pairs []pair) (yardstick, spread) {
	load := spreadOfPairs(pairs, loadRatio).Median
	if load > 1+loadTolerance || load < 1/(1+loadTolerance) {
		return yardstickRaw, spreadOfPairs(pairs, rawCPURatio)
	}
	return yardstickRelative, spreadOfPairs(pairs, cpuRatio)
}
