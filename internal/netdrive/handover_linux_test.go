package netdrive

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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
		if closed := m.tick(step.mono, 0, tell); closed != step.closed || m.busy.Load() != step.busy {
			t.Errorf("at %d ms with %d ms used: closed %v, busy %d %%; want %v, %d %%", step.mono/ms, used/ms, closed, m.busy.Load(), step.closed, step.busy)
		}
	}
}

// TestALoopThatBringsNothingGivesBackWhatItGot, and the next has to wait, longer each
// time.
func TestALoopThatBringsNothingGivesBackWhatItGot(t *testing.T) {
	e := &Epoll{}
	for range 2 {
		e.loops = append(e.loops, &eventLoop{e: e})
	}
	first, second := e.loops[0], e.loops[1]
	at := func(d time.Duration, rates ...int64) {
		for i, l := range e.loops {
			l.now.Mono = int64(d)
			l.load.rate.Store(rates[i])
		}
	}
	now := time.Second
	for _, wait := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second} {
		at(now, 1000, 0)
		if !e.trial.begin(first, second) || e.trial.begin(first, second) {
			t.Fatal("there is not one trial at a time")
		}
		at(now+trialTime-1, 500, 500)
		if e.trial.verdict(second) != nil {
			t.Error("it is judged too soon")
		}
		now += trialTime
		at(now, 550, 549)
		if e.trial.verdict(first) != nil || e.trial.verdict(second) != first || e.trial.verdict(second) != nil {
			t.Errorf("a loop that brings %d percent stays", 9)
		}
		at(now+wait-1, 1000, 0)
		if e.trial.begin(first, second) {
			t.Errorf("the next trial begins before %v", wait)
		}
		now += wait
	}
	at(now, 1000, 0)
	e.trial.begin(first, second)
	at(now+trialTime, 550, 550)
	if e.trial.verdict(second) != nil {
		t.Error("a loop that brings 10 percent has to go")
	}
	if !e.trial.begin(second, first) {
		t.Error("after one that stays another one can't be tried at once")
	}
}
