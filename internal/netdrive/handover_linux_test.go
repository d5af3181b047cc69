package netdrive

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestConnectionsMoveBetweenLoopsUnnoticed hands all connections to and fro while
// their clients work.
func TestConnectionsMoveBetweenLoopsUnnoticed(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(3, runtime.GOMAXPROCS(0))))
	f := newFixture(t, NewEpoll, Limits{})
	f.listen(t, "tcp", "127.0.0.1:0")
	e := f.driver.(*Epoll)
	var stop atomic.Bool
	var moves, clients sync.WaitGroup
	for i := range 12 {
		nc := f.dial(t)
		clients.Go(func() {
			for n := 0; n < 300; n++ {
				// A request in two pieces, so that a part of it moves along.
				send(t, nc, strings.Repeat("COUNT\r\n", 10)+"ECHO ")
				send(t, nc, fmt.Sprintf("%d-%d\r\n", i, n))
				text := ""
				for k := range 10 {
					text += fmt.Sprintf(":%d\r\n", 10*n+k+1)
				}
				word := fmt.Sprintf("%d-%d", i, n)
				want(t, nc, text+fmt.Sprintf("$%d\r\n%s\r\n", len(word), word))
			}
		})
	}
	eventually(t, "the loops", func() bool { return f.executed.Load() > 0 })
	moves.Go(func() {
		for n := 0; !stop.Load(); n++ {
			from, to := e.loops[n%3], e.loops[(n+1)%3]
			done := make(chan struct{})
			from.post(func(l *eventLoop) {
				l.handOver(to, 1, 1)
				close(done)
			})
			<-done
		}
	})
	clients.Wait()
	stop.Store(true)
	moves.Wait()
}

func TestLoadMeterCountsShares(t *testing.T) {
	var m loadMeter
	const ms = int64(1e6)
	used := int64(0)
	tell := func() int64 { return used }
	for _, step := range []struct {
		mono, used int64
		closed     bool
		busy       int32
	}{{10 * ms, 5 * ms, false, 0}, {49 * ms, 20 * ms, false, 0}, {60 * ms, 30 * ms, true, 50}, {100 * ms, 70 * ms, false, 50}, {110 * ms, 80 * ms, true, 100}, {210 * ms, 80 * ms, true, 0}} {
		used = step.used
		if closed := m.tick(step.mono, tell); closed != step.closed || m.busy.Load() != step.busy {
			t.Errorf("at %d ms with %d ms used: closed %v, busy %d %%; want %v, %d %%", step.mono/ms, used/ms, closed, m.busy.Load(), step.closed, step.busy)
		}
	}
}
