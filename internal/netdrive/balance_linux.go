package netdrive

import (
	"sync/atomic"
	"time"
)

// loadMeter measures how much of the time a loop works, window by window.
type loadMeter struct {
	opened  time.Time     // start of the window
	began   time.Time     // start of this tick's work
	working time.Duration // in this window, up to the last tick
	// busy is the share of the last window that was work, in percent. Other
	// loops read it.
	busy atomic.Int32
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

func (m *loadMeter) begin() { m.began = time.Now() }

// end closes the tick; true when it closed a window too.
func (m *loadMeter) end(now time.Time) bool {
	m.working += now.Sub(m.began)
	span := now.Sub(m.opened)
	if span < loadWindow {
		return false
	}
	m.busy.Store(int32(100 * m.working / span))
	m.opened, m.working = now, 0
	return true
}

// balance runs between two ticks, once a window. A loop that is busy nearly all
// the time gives half of its active connections to the least busy loop; a later
// loop whose work the first one could do as well gives everything back.
func (l *eventLoop) balance() {
	loops := l.e.loops
	busy := l.load.busy.Load()
	switch {
	case l.draining || len(loops) == 1:
	case busy >= busyHigh:
		target := loops[0]
		for _, other := range loops {
			if other != l && (target == l || other.load.busy.Load() < target.load.busy.Load()) {
				target = other
			}
		}
		if gap := busy - target.load.busy.Load(); gap >= busyGap {
			l.handOver(target, int(gap)/2, int(busy))
		}
	case l.index > 0 && len(l.conns) > 0 && busy+loops[0].load.busy.Load() < busyJoin:
		l.handOver(loops[0], 1, 1)
	}
	for c := range l.conns {
		c.ran = 0
	}
}

// handOver gives connections with the share part/whole of this window's reads to
// another loop, and idle ones only when everything goes.
func (l *eventLoop) handOver(target *eventLoop, part, whole int) {
	total := 0
	for c := range l.conns {
		total += int(c.ran)
	}
	goal := total * part / whole
	given := 0
	for c := range l.conns {
		if c.closing || part < whole && (c.ran == 0 || given+int(c.ran) > goal) {
			continue
		}
		given += int(c.ran)
		l.release(c)
		c.ran = 0
		target.post(func(t *eventLoop) { t.add(c) })
	}
}
