package netdrive

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/reply"
)

// silent checks that nothing comes for a moment.
func silent(t *testing.T, nc net.Conn) {
	t.Helper()
	nc.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	var one [1]byte
	if n, err := nc.Read(one[:]); n > 0 {
		t.Fatalf("%q came, and %v", one[:n], err)
	}
	nc.SetDeadline(time.Now().Add(patience))
}

func TestHeldRepliesLeaveWhenTheyAreDurable(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		held, other := f.dial(t), f.dial(t)
		send(t, held, "PING\r\nHOLD 5 0\r\nPING\r\nHOLD 7 0\r\nPING\r\n")
		want(t, held, "+PONG\r\n")
		silent(t, held)
		ping(t, other) // nobody else waits
		f.durable.Store(6)
		f.driver.WakeHeld()
		want(t, held, "+HELD\r\n+PONG\r\n")
		silent(t, held)
		f.durable.Store(7)
		f.driver.WakeHeld()
		want(t, held, "+HELD\r\n+PONG\r\n")
		ping(t, held)
	})
}

func TestHeldRepliesAreGivenUpAtTheirDeadline(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		nc := f.dial(t)
		f.durable.Store(1)
		send(t, nc, "HOLD 5 20\r\nPING\r\nHOLD 6 20\r\nHOLD 1 20\r\n")
		want(t, nc, "-"+reply.NoReplicas+"\r\n+PONG\r\n-"+reply.NoReplicas+"\r\n+HELD\r\n")
		ping(t, nc)
	})
}

func TestQuitWaitsForHeldReplies(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		nc := f.dial(t)
		send(t, nc, "HOLD 5 0\r\nQUIT\r\n")
		silent(t, nc)
		f.durable.Store(5)
		f.driver.WakeHeld()
		wantEnd(t, nc, "+HELD\r\n+OK\r\n")
	})
}

func TestHeldClientThatGoesAwayIsForgotten(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		nc := f.dial(t)
		send(t, nc, "HOLD 5 0\r\n")
		eventually(t, "the command", func() bool { return f.executed.Load() == 1 })
		nc.Close()
		f.durable.Store(5)
		f.driver.WakeHeld()
		eventually(t, "the end of the session", func() bool { return f.registry.Len() == 0 })
	})
}

// TestMessagesArriveBetweenReplies delivers to clients that are idle and to
// those that are busy, from several goroutines.
func TestMessagesArriveBetweenReplies(t *testing.T) {
	const senders, each = 4, 500
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		idle, busy := f.dial(t), f.dial(t)
		ping(t, idle)
		ping(t, busy)
		var wait sync.WaitGroup
		for n := range senders {
			wait.Go(func() {
				for i := range each {
					for _, s := range f.registry.All() {
						s.Deliver(fmt.Appendf(nil, "+message %d %d\r\n", n, i))
					}
				}
			})
		}
		wait.Go(func() {
			for range each {
				io.WriteString(busy, "PING\r\nPING\r\n")
			}
		})
		check := func(nc net.Conn, pongs int) {
			next := make([]int, senders)
			lines := newLines(nc)
			for range senders*each + pongs {
				line := lines.next(t)
				var n, i int
				if _, err := fmt.Sscanf(line, "+message %d %d", &n, &i); err == nil {
					if i != next[n] {
						t.Fatalf("message %d of sender %d comes after %d", i, n, next[n])
					}
					next[n]++
				} else if line != "+PONG" {
					t.Fatalf("torn line %q", line)
				}
			}
		}
		check(idle, 0)
		check(busy, 2*each)
		wait.Wait()
	})
}

// lines reads whole lines.
type lines struct {
	nc  net.Conn
	buf strings.Builder
}

func newLines(nc net.Conn) *lines { return &lines{nc: nc} }

func (l *lines) next(t *testing.T) string {
	t.Helper()
	for {
		text := l.buf.String()
		if line, rest, ok := strings.Cut(text, "\r\n"); ok {
			l.buf.Reset()
			l.buf.WriteString(rest)
			return line
		}
		part := make([]byte, 4096)
		n, err := l.nc.Read(part)
		if err != nil {
			t.Fatalf("read: %v (so far %q)", err, text)
		}
		l.buf.Write(part[:n])
	}
}
