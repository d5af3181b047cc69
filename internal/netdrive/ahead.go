package netdrive

import (
	"errors"
	"os"
	"time"
)

// resumeMost bounds one wait of a session; then it is fed, and waits again.
const resumeMost = time.Hour

// waitResumed returns when a session that waits may be fed again; false when the
// connection is to be closed. Meanwhile messages are sent. What the client sends
// is read, but not run: so it is noticed when the client goes away.
func (c *conn) waitResumed(until int64) bool {
	pause := min(max(time.Duration(until-c.p.o.Now().Mono), 0), resumeMost)
	end := time.Now().Add(pause)
	c.mu.Unlock() // so that deliver can work
	for c.readAhead(end) {
	}
	c.mu.Lock()
	c.now = c.p.o.Now()
	c.s.SetPending(len(c.buf))
	c.s.TakeInbox()
	return c.out.flush() && !c.gone && !c.killed.Load() && !c.p.stopping.Load()
}

// readAhead reads once while the session waits; false when it is to be fed, or the
// client is gone.
func (c *conn) readAhead(end time.Time) bool {
	if len(c.buf) == cap(c.buf) {
		if cap(c.buf) >= readMax { // enough for now
			c.waitWoken(end)
			return false
		}
		c.buf = append(make([]byte, 0, max(readMin, 2*cap(c.buf))), c.buf...)
	}
	c.ahead.Store(true)
	defer c.ahead.Store(false)
	c.nc.SetReadDeadline(end)
	select {
	case <-c.woken: // before ahead was set
		return false
	default:
	}
	if c.p.stopping.Load() {
		return false
	}
	n, err := c.in.Read(c.buf[len(c.buf):cap(c.buf)])
	c.buf = c.buf[:len(c.buf)+n]
	if n > 0 {
		c.count(n)
		return true
	}
	c.gone = !errors.Is(err, os.ErrDeadlineExceeded)
	return false
}

// waitWoken waits without reading, for a while at most.
func (c *conn) waitWoken(end time.Time) {
	timer := time.NewTimer(min(time.Until(end), heldPoll))
	defer timer.Stop()
	select {
	case <-c.woken:
	case <-timer.C:
	}
}
