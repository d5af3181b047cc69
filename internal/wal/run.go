package wal

import (
	"context"
	"errors"
	"time"
)

// Run commits in the background until ctx ends: when it is asked to, and at every
// tick. When syncs go by time, it writes at every tick, so that the end of the process
// alone loses no more than a tick, and syncs when it is due; the owner sends a tick
// every 10 to 100 ms. It also makes the next segment ahead of time. The error is that
// of [Log.Err], nil when ctx ended. A full disk does not end it.
func (l *Log) Run(ctx context.Context, ticks <-chan time.Time) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.kick:
		case <-ticks:
		}
		if err := l.background(); err != nil {
			return err
		}
	}
}

func (l *Log) background() error {
	every := time.Duration(l.syncEvery.Load())
	l.commitMu.Lock()
	err := l.lead(every == 0 || l.o.Now()-l.syncedAt >= every)
	if err == nil {
		err = l.prepareNext()
		if err != nil && !errors.Is(err, ErrDiskFull) {
			l.fail(err)
			l.o.Wake()
		}
	}
	if errors.Is(err, ErrDiskFull) {
		return nil
	}
	return err
}
