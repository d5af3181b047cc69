package netdrive

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// loadMeter measures how much of the time a loop's thread computes, window by
// window. It counts processor time: a thread that others keep from running is
// not busy, and a second loop would only take more from them.
type loadMeter struct {
	opened int64 // Instant.Mono at the start of the window
	used   int64 // nanoseconds of processor time of the thread at that moment
	window uint32
	ran    uint64 // commands of the loop at that moment
	// busy is the share of the last window that was work, in percent, and rate how
	// many commands a second were run of late. Other loops read them.
	busy atomic.Int32
	rate atomic.Int64
}

const (
	loadWindow = 50 * time.Millisecond
	// busyHigh: a loop at this share, in percent, gives connections away.
	busyHigh = 85
	// busyJoin: two loops that together are below this share become one again.
	busyJoin = 60
	// busyGap is how much less busy the taker must be.
	busyGap = 25
)

// tick is called between two ticks; true when it has closed a window. ran counts
// the loop's commands, and used tells the processor time of the thread.
func (m *loadMeter) tick(mono int64, ran uint64, used func() int64) bool {
	span := mono - m.opened
	if span < int64(loadWindow) {
		return false
	}
	now := used()
	m.busy.Store(int32(100 * (now - m.used) / span))
	m.rate.Store((3*m.rate.Load() + int64(ran-m.ran)*int64(time.Second)/span) / 4)
	m.opened, m.used, m.ran = mono, now, ran
	return true
}

// threadTime is the processor time of the calling thread in nanoseconds.
func threadTime() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return t.Nano()
}

// balance runs between two ticks, once a window. A loop that is busy nearly all
// the time gives half of its active connections to the least busy loop; a later
// loop whose work the first one could do as well, or whose [trial] has failed, gives
// everything back.
func (l *eventLoop) balance() {
	loops := l.e.loops
	busy := l.load.busy.Load()
	back := l.e.trial.verdict(l)
	switch {
	case l.draining || len(loops) == 1:
	case back != nil:
		l.handOver(back, 1, 1)
	case busy >= busyHigh:
		target := loops[0]
		for _, other := range loops {
			if other != l && (target == l || other.load.busy.Load() < target.load.busy.Load()) {
				target = other
			}
		}
		gap := busy - target.load.busy.Load()
		if gap < busyGap || !target.serves.Load() && !l.e.trial.begin(l, target) {
			break
		}
		l.handOver(target, int(gap)/2, int(busy))
	case l.index > 0 && len(l.conns) > 0 && busy+loops[0].load.busy.Load() < busyJoin:
		l.handOver(loops[0], 1, 1)
	}
	l.serves.Store(len(l.conns) > 0)
	l.load.window++
}

// ranIn is how many reads a connection made in this window.
func (l *eventLoop) ranIn(c *socket) int {
	if c.window != l.load.window {
		return 0
	}
	return int(c.ran)
}

// handOver gives connections with the share part/whole of this window's reads to
// another loop, and idle ones only when everything goes.
func (l *eventLoop) handOver(target *eventLoop, part, whole int) {
	total := 0
	for c := range l.conns {
		total += l.ranIn(c)
	}
	goal := total * part / whole
	given := 0
	for c := range l.conns {
		ran := l.ranIn(c)
		if c.closing || part < whole && (ran == 0 || given+ran > goal) {
			continue
		}
		given += ran
		l.release(c)
		if !target.take(c) {
			l.adopt(c) // the driver is being stopped, and the other loop was quicker
			return
		}
	}
}
