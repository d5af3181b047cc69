package client

import (
	"fmt"
	"time"
)

// look is the time between two looks of the watchdog; 0: there is nothing to watch.
func (c *conn) look() time.Duration {
	every := c.limit / watchLooks
	if c.alive != nil && (every == 0 || every > unreadMax) {
		return unreadMax
	}
	return every
}

// arm starts the watchdog. mu is held.
func (c *conn) arm() {
	every := c.look()
	if every == 0 {
		return
	}
	c.armed, c.idle, c.seen = true, 0, c.reads.Load()
	if c.watchdog == nil {
		c.watchdog = time.AfterFunc(every, c.watch)
		return
	}
	c.watchdog.Reset(every)
}

// watch closes the connection when replies are due and nothing has come since several
// looks, and sees that it does not stay without a reader.
func (c *conn) watch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = false
	if c.err != nil {
		return
	}
	every := c.look()
	switch n := c.reads.Load(); {
	case n != c.seen:
		c.seen, c.idle = n, 0
	case c.unanswered() == 0:
		c.callReader()
		return
	default:
		c.callReader()
		if c.idle++; c.limit > 0 && time.Duration(c.idle)*every >= c.limit {
			c.close(fmt.Errorf("wait for %s: %w", c.nc.RemoteAddr(), errTimeout))
			return
		}
	}
	c.armed = true
	c.watchdog.Reset(every)
}
