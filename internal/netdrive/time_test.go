package netdrive

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// virtual serves pipes by the portable driver in virtual time.
func virtual(t *testing.T, limits Limits, test func(t *testing.T, f *fixture, l *redistest.Pipes)) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, drivers["portable"], limits)
		l := redistest.NewPipes()
		f.serve(t, l)
		test(t, f, l)
	})
}

func TestIdleTimeCountsFromTheLastRequest(t *testing.T) {
	virtual(t, Limits{Idle: 10 * time.Second}, func(t *testing.T, f *fixture, l *redistest.Pipes) {
		nc := l.Connect("127.0.0.1")
		for range 20 {
			time.Sleep(9 * time.Second)
			ping(t, nc)
		}
		silent := time.Now()
		wantEnd(t, nc, "")
		if d := time.Since(silent); d != 10*time.Second {
			t.Errorf("closed after %v", d)
		}
	})
}

func TestIdleTimeMayChangeWhileAClientWaits(t *testing.T) {
	virtual(t, Limits{}, func(t *testing.T, f *fixture, l *redistest.Pipes) {
		nc := l.Connect("127.0.0.1")
		ping(t, nc)
		set := func(idle time.Duration) {
			f.setLimits(func(l *Limits) { l.Idle = idle })
			f.driver.LimitsChanged()
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		set(time.Minute) // begins now, as nobody counted before
		set(2 * time.Minute)
		time.Sleep(110 * time.Second)
		ping(t, nc)
		set(0)
		time.Sleep(time.Hour)
		ping(t, nc)
		silent := time.Now()
		set(30 * time.Second)
		wantEnd(t, nc, "")
		if d := time.Since(silent); d != 30*time.Second {
			t.Errorf("closed after %v", d)
		}
	})
}

func TestSoftLimitHoldsOnlyAfterItsSeconds(t *testing.T) {
	limits := Limits{OutputSoft: 100000, OutputSoftTime: 10 * time.Second}
	virtual(t, limits, func(t *testing.T, f *fixture, l *redistest.Pipes) {
		nc := l.Connect("127.0.0.1")
		read := func(n int) {
			t.Helper()
			if _, err := io.CopyN(io.Discard, nc, int64(n)); err != nil {
				t.Fatal(err)
			}
		}
		size := len("$200000\r\n\r\n") + 200000
		// Too much, but not for long, twice.
		for range 2 {
			send(t, nc, command("FILL", "200000"))
			time.Sleep(9 * time.Second)
			read(size)
			time.Sleep(9 * time.Second)
		}
		// Below the limit for as long as it likes.
		send(t, nc, command("FILL", "90000"))
		time.Sleep(time.Hour)
		read(len("$90000\r\n\r\n") + 90000)
		// Too much for too long, although it reads a little.
		send(t, nc, command("FILL", "200000"))
		since := time.Now()
		for f.registry.Len() > 0 {
			time.Sleep(100 * time.Millisecond)
			nc.SetReadDeadline(time.Now().Add(time.Millisecond))
			nc.Read(make([]byte, 1))
		}
		if d := time.Since(since); d < limits.OutputSoftTime || d > limits.OutputSoftTime+2*limitsEvery {
			t.Errorf("dropped after %v", d)
		}
		if n := f.driver.Stats().OutputLimit; n != 1 {
			t.Errorf("%d connections dropped, want 1", n)
		}
	})
}

func TestLastRepliesAreDeliveredWithinABound(t *testing.T) {
	virtual(t, Limits{}, func(t *testing.T, f *fixture, l *redistest.Pipes) {
		nc := l.Connect("127.0.0.1")
		send(t, nc, command("FILL", "200000")+"QUIT\r\n")
		since := time.Now()
		for f.registry.Len() > 0 {
			time.Sleep(100 * time.Millisecond)
		}
		if d := time.Since(since); d < drainTimeout || d > drainTimeout+time.Second {
			t.Errorf("given up after %v", d)
		}
	})
}

func TestShutdownWaitsForASlowReader(t *testing.T) {
	virtual(t, Limits{}, func(t *testing.T, f *fixture, l *redistest.Pipes) {
		nc := l.Connect("127.0.0.1")
		send(t, nc, command("FILL", "200000"))
		synctest.Wait()
		done := make(chan error)
		go func() { done <- f.driver.Shutdown(context.Background()) }()
		time.Sleep(drainTimeout - time.Second)
		wantEnd(t, nc, "$200000\r\n"+strings.Repeat("\x00", 200000)+"\r\n")
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// failing is a listener without file descriptors for a while.
type failing struct {
	*redistest.Pipes
	failures int
}

func (l *failing) Accept() (net.Conn, error) {
	if l.failures > 0 {
		l.failures--
		return nil, &net.OpError{Op: "accept", Err: io.ErrNoProgress}
	}
	return l.Pipes.Accept()
}

func TestFailedAcceptsAreTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, drivers["portable"], Limits{})
		l := &failing{redistest.NewPipes(), 10}
		f.serve(t, l)
		since := time.Now()
		nc := l.Connect("127.0.0.1")
		ping(t, nc)
		if d := time.Since(since); d != 10*acceptPause {
			t.Errorf("accepted after %v", d)
		}
		nc.Close()
	})
}
