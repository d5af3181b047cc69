package loadgen

import (
	"context"
	"sync/atomic"
	"time"
)

// pace says when batches are sent: at once, or at fixed times. All workers share it.
type pace struct {
	start    time.Time
	interval float64 // between two batches, in nanoseconds; 0: no rate
	taken    atomic.Int64
}

// newPace makes the pace of batches of so many commands; rate is that of commands, per
// second, 0: as fast as they are answered.
func newPace(start time.Time, rate float64, batch int) *pace {
	p := &pace{start: start}
	if rate > 0 {
		p.interval = float64(batch) / rate * float64(time.Second)
	}
	return p
}

// next waits until a batch is due and gives that time, which may be long ago when all
// workers were busy. ok is false when ctx ends first.
func (p *pace) next(ctx context.Context) (due time.Time, ok bool) {
	if ctx.Err() != nil {
		return due, false
	}
	if p.interval == 0 {
		return time.Now(), true
	}
	due = p.due(p.taken.Add(1) - 1)
	if end, ok := ctx.Deadline(); ok && !due.Before(end) {
		return due, false
	}
	wait := time.Until(due)
	if wait <= 0 {
		return due, true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return due, true
	case <-ctx.Done():
		return due, !time.Now().Before(due) // both may have come at once
	}
}

func (p *pace) due(i int64) time.Time {
	return p.start.Add(time.Duration(float64(i) * p.interval))
}

// dueBefore counts the batches that were due before a time, from the first at or after
// from on.
func (p *pace) dueBefore(from, end time.Time) int64 {
	if p.interval == 0 {
		return 0
	}
	upTo := func(t time.Time) int64 { // due before t
		n := max(int64(float64(t.Sub(p.start))/p.interval), 0)
		for n > 0 && !p.due(n-1).Before(t) {
			n--
		}
		for p.due(n).Before(t) {
			n++
		}
		return n
	}
	return max(upTo(end)-upTo(from), 0)
}
