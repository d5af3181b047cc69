package loadgen

import (
	"fmt"
	"time"
)

// showProgress rewrites a line on a terminal each second, and takes it away in the end.
func (r *run) showProgress(ended <-chan struct{}) {
	if r.o.Progress == nil {
		return
	}
	const wipe = "\r\x1b[K"
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	began, last, before := time.Now(), time.Now(), int64(0)
	for {
		select {
		case <-ended:
			fmt.Fprint(r.o.Progress, wipe)
			return
		case now := <-ticker.C:
			phase := ""
			if now.Before(r.measureFrom) {
				phase = "  (warm-up)"
			}
			done := r.done.Load()
			rate := float64(done-before) / now.Sub(last).Seconds()
			last, before = now, done
			fmt.Fprintf(r.o.Progress, "%s%4.0f s  %9.0f commands/s  %d in all, %d errors%s",
				wipe, now.Sub(began).Seconds(), rate, done, r.failed.Load(), phase)
		}
	}
}
