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
	ms := int64(1e6)
	m.opened = 0
	for now := int64(0); now < 50*ms; now += 10 * ms {
		m.begin(now)
		closed := m.end(now + 4*ms)
		if closed != (now+4*ms >= 50*ms) {
			t.Errorf("at %d ms: closed is %v", now/ms, closed)
		}
	}
	m.begin(50 * ms)
	if !m.end(60 * ms) {
		t.Fatal("the window did not close")
	}
	if got := m.busy.Load(); got != 50 {
		t.Errorf("busy %d %%, want 50: 30 ms of 60", got)
	}
}
