package netdrive

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// TestEndOfTickComesBeforeTheReplies has a host that makes everything durable when
// a tick ends.
func TestEndOfTickComesBeforeTheReplies(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		end := func() { f.durable.Store(uint64(f.executed.Load())) }
		f.endTick.Store(&end)
		nc := f.dial(t)
		for i := range 50 {
			n := int(f.executed.Load())
			send(t, nc, fmt.Sprintf("HOLD %d 0\r\nHOLD %d 0\r\n", n+1, n+2))
			want(t, nc, "+HELD\r\n+HELD\r\n")
			if i == 0 {
				ping(t, nc)
			}
		}
	})
}

// TestHeldLoopEndsItsTickAgain has a host whose work is done by somebody else at the
// first end of a tick, as with two event loops: the second has to follow by itself.
func TestHeldLoopEndsItsTickAgain(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		var calls atomic.Int64
		end := func() {
			if f.executed.Load() == 0 {
				return
			}
			if calls.Add(1) == 1 {
				go f.driver.WakeHeld()
				return
			}
			f.durable.Store(9)
		}
		f.endTick.Store(&end)
		nc := f.dial(t)
		send(t, nc, "HOLD 9 0\r\n")
		want(t, nc, "+HELD\r\n")
	})
}

// TestMessagesForAHeldClientCount: they wait with its replies, but not without
// bounds.
func TestMessagesForAHeldClientCount(t *testing.T) {
	forDrivers(t, Limits{OutputHard: 100_000}, func(t *testing.T, f *fixture) {
		nc := f.dial(t)
		send(t, nc, "HOLD 5 0\r\n")
		eventually(t, "the command", func() bool { return f.executed.Load() == 1 })
		message := []byte("+" + strings.Repeat("m", 1000) + "\r\n")
		eventually(t, "the client is cut off", func() bool {
			for _, s := range f.registry.All() {
				s.Deliver(message)
			}
			return f.registry.Len() == 0
		})
		if n := f.driver.Stats().OutputLimit; n != 1 {
			t.Errorf("%d clients were closed for the limit", n)
		}
	})
}
