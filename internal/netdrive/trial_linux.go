package netdrive

import (
	"sync"
	"time"
)

// trial finds out whether one more loop brings anything. Where the clients, or others,
// need the processor that it would run on, it only takes from them: then its
// connections go back to the loop that they came from, and the next trial has to
// wait.
type trial struct {
	mu     sync.Mutex
	joined *eventLoop // under trial; guarded by mu, like all below; nil: none is
	from   *eventLoop // which gave it its connections
	began  int64      // Instant.Mono
	before int64      // commands a second of all loops, without it
	next   int64      // no trial begins before
	wait   time.Duration
}

const (
	// trialTime is after how long a new loop is judged.
	trialTime = 10 * loadWindow
	// trialGain is by how many percent the commands a second must have grown.
	trialGain = 10
	// The next trial comes so much later, the longer the more have failed.
	trialWaitLeast = 2 * time.Second
	trialWaitMost  = 30 * time.Second
)

// begin says whether a loop may give connections to one that has none.
func (t *trial) begin(from, joined *eventLoop) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.joined != nil || from.now.Mono < t.next {
		return false
	}
	t.joined, t.from, t.began, t.before = joined, from, from.now.Mono, from.e.rate()
	return true
}

// verdict is asked by each loop once a window. It gives the loop that is to have the
// connections back which this one was given on trial; nil: this one goes on.
func (t *trial) verdict(l *eventLoop) *eventLoop {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.joined != l || l.now.Mono-t.began < int64(trialTime) {
		return nil
	}
	t.joined = nil
	if l.e.rate()*100 >= t.before*(100+trialGain) {
		t.wait = 0
		return nil
	}
	t.wait = min(max(2*t.wait, trialWaitLeast), trialWaitMost)
	t.next = l.now.Mono + int64(t.wait)
	return t.from
}

// rate is how many commands a second all loops run.
func (e *Epoll) rate() int64 {
	total := int64(0)
	for _, l := range e.loops {
		total += l.load.rate.Load()
	}
	return total
}
