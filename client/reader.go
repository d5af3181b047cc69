package client

import (
	"context"
	"time"
)

// Who reads a connection changes. One goroutine at a time has the inbox:
//
//	nobody <---> a caller who waits for his reply ---> the next such caller
//	   \_____________________   |   ^
//	                          \  v   | (never: he gives it up only to nobody)
//	                     the connection's own reader
//
// A caller alone on a connection writes, reads and is done: nobody has to be woken. He
// can do so only when his context never ends, for a read can't be left. All others
// are served by the connection's own reader, which keeps the inbox until nobody waits.
// It also takes an inbox that nobody has for unreadMax, so that the end of an idle
// connection is noticed, and messages that answer nothing are read.
//
// A flight that is due always has a reader, now or soon: one who gives the inbox up
// sees under the lock who still waits. Only a sender of several flights who waits for
// another of them may leave one without; he takes the inbox when its turn comes, and
// anybody else who waits behind takes it at once.

const (
	// unreadMax is how long a connection may be without a reader, or twice that.
	unreadMax = 20 * time.Millisecond
	// staleAfter is how long a connection that nobody reads is believed to be open
	// without a look.
	staleAfter = time.Millisecond
)

// read is the connection's own reader.
func (c *conn) read() {
	for {
		idle, err := c.in.run(nil)
		if !idle {
			c.end(err)
			return
		}
		select {
		case <-c.turn:
			c.in.polite = false
		case <-c.dead:
			return
		}
	}
}

// end fails what has no reply. Who calls it has the inbox, for ever.
func (c *conn) end(err error) {
	c.fail(err)
	c.in.abort()
	if c.ended != nil {
		c.ended()
	}
	close(c.dead)
}

// callReader gives the inbox to the connection's own reader when nobody has it. mu is
// held.
func (c *conn) callReader() {
	if !c.reading {
		c.reading = true
		c.turn <- struct{}{}
	}
}

// assign sees that a new flight will have a reader. mu is held.
func (c *conn) assign(f *flight) {
	switch {
	case c.reading:
	case f.able && f.waiting:
		c.reading, f.leads = true, true
	case !f.able:
		c.callReader()
	}
}

// stale reports whether the connection may have ended unnoticed. mu is held.
func (c *conn) stale() bool {
	return !c.reading && c.unanswered() == 0 && time.Since(c.heard) > staleAfter
}

// leave gives the inbox of the connection's own reader up when nobody waits.
func (c *conn) leave() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alive == nil || c.err != nil || c.draining || c.unanswered() > 0 {
		return false
	}
	c.reading = false
	if !c.armed {
		c.arm()
	}
	return true
}

// await waits for a flight's end; with an error it is not done yet, and may never be
// released.
func (c *conn) await(ctx context.Context, f *flight) error {
	if f.able && !f.waiting {
		c.claim(f)
	}
	switch {
	case f.leads:
		c.lead(f)
		return nil
	case ctx.Done() == nil:
		<-f.done
	default:
		select {
		case <-f.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if f.follows {
		c.lead(f)
	}
	return nil
}

// claim makes a sender read who begins to wait now.
func (c *conn) claim(f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.waiting = true
	if !c.reading && c.answered.Load() < f.end {
		c.reading, f.leads = true, true
	}
}

// lead reads until a flight of the caller's has its replies, and then gives the inbox
// to the next.
func (c *conn) lead(f *flight) {
	if _, err := c.in.run(f); err != nil {
		c.end(err)
		return
	}
	c.mu.Lock()
	next, due := c.oldest()
	switch {
	case c.err != nil, c.draining:
		c.turn <- struct{}{}
	case next == nil, next.able && !next.waiting && due == 1:
		c.reading = false
	case next.able && next.waiting:
		next.follows = true
		c.mu.Unlock()
		next.done <- struct{}{}
		return
	default:
		c.turn <- struct{}{}
	}
	c.mu.Unlock()
}

// oldest gives the flight whose reply is due next, and how many are due. Who calls it
// has the inbox and holds mu.
func (c *conn) oldest() (f *flight, due int) {
	due = c.in.queue.n + c.queue.n
	switch {
	case c.in.cur != nil:
		return c.in.cur, due + 1
	case c.in.queue.n > 0:
		return c.in.queue.first(), due
	case c.queue.n > 0:
		return c.queue.first(), due
	}
	return nil, 0
}
