package netdrive

import "sync/atomic"

// work measures what is done between two waits. Such a cycle is one turn of an
// event loop or, of the portable driver, what one connection's goroutine does
// with the bytes of one read. Waiting does not count.
type work struct {
	cycles, nanos, commandNanos atomic.Uint64
	longest                     atomic.Uint64 // nanoseconds of the longest cycle
	fullest                     atomic.Uint64 // commands in the cycle that had most
}

// add notes a cycle: its time, the part of it that commands took, and their number.
func (w *work) add(nanos, commandNanos int64, commands uint64) {
	w.cycles.Add(1)
	w.nanos.Add(uint64(max(nanos, 0)))
	w.commandNanos.Add(uint64(max(commandNanos, 0)))
	raise(&w.longest, uint64(max(nanos, 0)))
	raise(&w.fullest, commands)
}

// raise makes a counter at least n.
func raise(counter *atomic.Uint64, n uint64) {
	for {
		old := counter.Load()
		if n <= old || counter.CompareAndSwap(old, n) {
			return
		}
	}
}

// addTo adds what was measured to a sum.
func (w *work) addTo(s *Stats) {
	s.Cycles += w.cycles.Load()
	s.CycleNanos += w.nanos.Load()
	s.CommandNanos += w.commandNanos.Load()
	s.CycleNanosMax = max(s.CycleNanosMax, w.longest.Load())
	s.CycleCommandsMax = max(s.CycleCommandsMax, w.fullest.Load())
}
