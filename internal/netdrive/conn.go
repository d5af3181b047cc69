package netdrive

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/resp"
)

// conn is one connection of the portable driver; its goroutine runs [conn.run].
type conn struct {
	p  *Portable
	nc net.Conn
	s  *session.Session
	// tls is the connection's TLS, above nc; nil: it is plain.
	tls *tls.Conn
	in  io.Reader // what the client sends: tls or nc
	// mu is held by the connection's goroutine but for when it waits for bytes:
	// then deliver may use the session.
	mu  sync.Mutex
	buf []byte // received and not yet consumed
	out outbox
	// active is when bytes last came; kept only while clients may be idle for a
	// limited time.
	active time.Time
	full   bool            // the newest bytes filled buf: there are probably more
	last   bool            // the last read is done: the driver is being stopped
	gone   bool            // the client closed its end, or the connection broke
	over   bool            // the session has ended
	broken bool            // the replies can't be sent, or are too many
	now    session.Instant // when the newest batch ended
	// woken tells that replies that were kept back may leave.
	woken      chan struct{}
	killed     atomic.Bool
	delivering atomic.Bool // deliver runs, or is about to
	holding    atomic.Bool // waitHeld runs
	ahead      atomic.Bool // readAhead waits, or is about to: wake has to end that
}

// The read buffer starts small, as most connections are idle, and grows with
// what the client sends in one go.
const (
	readMin  = 512
	readMax  = 64 << 10
	readKept = 16 << 10 // a larger empty buffer is given back
	// lastRead is the wait for bytes that should be there already: with TLS they
	// come in several reads, and a goroutine may have to wait for its turn.
	lastRead = 20 * time.Millisecond
)

// cut closes the socket; the goroutine then ends by itself. Any goroutine may
// call it.
func (c *conn) cut() {
	c.killed.Store(true)
	c.nc.Close()
}

func (c *conn) run() {
	defer c.p.forget(c)
	defer c.discard()
	defer c.out.wait()
	defer c.nc.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shake() {
		for c.read() && c.consume() {
		}
	}
	// Whatever ended it: the replies are still delivered.
	c.farewell()
	c.out.drain()
	c.linger()
}

// discard ends the session, which deliver then leaves alone.
func (c *conn) discard() {
	c.mu.Lock()
	c.over = true
	c.s.Discard()
	c.mu.Unlock()
}

// read waits for bytes; false when the connection is over.
func (c *conn) read() bool {
	limits := c.p.o.Limits()
	if c.p.queryTooLong(c.s, len(c.buf)) {
		return false
	}
	c.grow()
	if limits.Idle > 0 {
		c.active = time.Now()
		c.setIdleDeadline(limits.Idle)
	}
	for !c.p.stopping.Load() { // asked after the deadline was set: Shutdown's own may have been overwritten
		c.mu.Unlock()
		n, err := c.in.Read(c.buf[len(c.buf):cap(c.buf)])
		c.mu.Lock()
		c.buf = c.buf[:len(c.buf)+n]
		if n > 0 {
			c.count(n)
			return true
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			c.gone = true
			return false
		}
		// Either its time is over, or the limit has changed meanwhile.
		idle := c.p.o.Limits().Idle
		if idle > 0 && !c.active.IsZero() && time.Since(c.active) >= idle {
			return false
		}
		c.setIdleDeadline(idle)
	}
	return c.readLast()
}

func (c *conn) count(n int) {
	c.full = len(c.buf) == cap(c.buf)
	c.p.counters.reads.Add(1)
	c.p.counters.in.Add(uint64(n))
}

// readLast takes, once, what had arrived when the driver was stopped: up to a
// full buffer, so that a client that goes on sending comes to an end.
func (c *conn) readLast() bool {
	if c.last {
		return false
	}
	c.last = true
	if free := cap(c.buf) - len(c.buf); free < readMax {
		c.buf = append(make([]byte, 0, len(c.buf)+readMax), c.buf...)
	}
	c.p.mu.Lock() // until Shutdown has set its deadline
	c.nc.SetReadDeadline(time.Now().Add(lastRead))
	c.p.mu.Unlock()
	any := false
	for len(c.buf) < cap(c.buf) {
		n, err := c.in.Read(c.buf[len(c.buf):cap(c.buf)])
		c.buf = c.buf[:len(c.buf)+n]
		if n == 0 {
			c.gone = !errors.Is(err, os.ErrDeadlineExceeded)
			break
		}
		any = true
		c.count(n)
		if c.tls == nil { // else there may be more records
			break
		}
	}
	return any
}

// setIdleDeadline bounds the wait for the next bytes; idle <= 0: not at all. It
// looks again afterwards, in case LimitsChanged came between.
func (c *conn) setIdleDeadline(idle time.Duration) {
	for {
		if idle <= 0 {
			c.active = time.Time{}
			c.nc.SetReadDeadline(time.Time{})
		} else {
			if c.active.IsZero() { // there was no limit when the last bytes came
				c.active = time.Now()
			}
			c.nc.SetReadDeadline(c.active.Add(idle))
		}
		now := c.p.o.Limits().Idle
		if now == idle {
			return
		}
		idle = now
	}
}

// lingerQuiet is for how long nothing may come from a client before its
// connection is closed.
const lingerQuiet = 50 * time.Millisecond

// wake lets waitHeld look again. Any goroutine may call it.
func (c *conn) wake() {
	select {
	case c.woken <- struct{}{}:
	default: // it will look anyway
	}
	if c.ahead.Load() {
		c.nc.SetReadDeadline(time.Unix(1, 0)) // ends its wait
	}
	if c.holding.Load() {
		return // waitHeld takes what came
	}
	// The caller may hold locks of the key space, so it can't write itself.
	if c.delivering.CompareAndSwap(false, true) {
		go c.deliver()
	}
}

// wakeHeld lets waitHeld look again. Any goroutine may call it.
func (c *conn) wakeHeld() {
	select {
	case c.woken <- struct{}{}:
	default: // it will look anyway
	}
}

// deliver sends what came for a client whose goroutine waits for requests.
func (c *conn) deliver() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.delivering.Store(false)
	if !c.over && c.s.TakeInbox() && !c.out.flush() {
		c.cut()
	}
}

// heldPoll is how often a connection whose replies are kept back looks whether
// it was stopped meanwhile.
const heldPoll = 100 * time.Millisecond

// waitHeld returns when no reply is kept back any more; false when the
// connection is to be closed. Meanwhile nothing is read.
func (c *conn) waitHeld() bool {
	if held, _ := c.s.Held(); !held {
		return true
	}
	c.holding.Store(true)
	ok := c.untilReleased()
	c.holding.Store(false)
	// What came before that was left to us.
	return ok && (!c.s.TakeInbox() || c.out.flush())
}

func (c *conn) untilReleased() bool {
	for {
		held, deadline := c.s.Held()
		if !held {
			return true
		}
		pause := heldPoll
		if deadline != 0 {
			pause = min(pause, max(time.Duration(deadline-c.now.Mono), time.Millisecond))
		}
		timer := time.NewTimer(pause)
		select {
		case <-c.woken:
		case <-timer.C:
		}
		timer.Stop()
		c.endTick()
		c.now = c.p.o.Now()
		c.s.TakeInbox()
		if !c.out.flush() || c.killed.Load() {
			return false
		}
	}
}

// linger passes over what the client still sends. Closing a socket that holds
// unread bytes resets the connection, and the system then throws away replies
// that the client has not received yet.
func (c *conn) linger() {
	half, ok := c.nc.(interface{ CloseWrite() error })
	if c.gone || !ok || half.CloseWrite() != nil {
		return
	}
	scrap := make([]byte, readKept)
	end := time.Now().Add(drainTimeout)
	for now := time.Now(); now.Before(end); now = time.Now() {
		c.nc.SetReadDeadline(now.Add(lingerQuiet))
		n, err := c.nc.Read(scrap)
		c.p.counters.in.Add(uint64(n))
		if err != nil {
			return
		}
	}
}

// grow makes room for the next read: more after a read that left none, as much
// as the command being read is known to lack, but never much more than was
// already received.
func (c *conn) grow() {
	more := c.full && cap(c.buf) < readMax
	if len(c.buf) < cap(c.buf) && !more {
		return
	}
	size := max(readMin, 2*cap(c.buf))
	if size > readMax {
		size = growth(len(c.buf), cap(c.buf), c.s.Missing())
	}
	bigger := make([]byte, len(c.buf), size)
	copy(bigger, c.buf)
	c.buf = bigger
}

// growth is the new capacity of a buffer of large commands: enough for what is
// missing, if that is known, else double, so that all copying together costs no
// more than the bytes themselves.
func growth(have, capacity, missing int) int {
	size := 2 * capacity
	if missing < resp.MissingMax {
		size = min(size, have+missing)
	}
	return max(size, have+readMax)
}

// consume runs what was received; false when the connection is to be closed.
func (c *conn) consume() bool {
	at := 0 // where in c.buf, which may grow meanwhile
	for more := true; more; {
		var n int
		n, more = c.cycle(c.buf[at:])
		at += n
		if c.broken || !c.waitHeld() || c.s.Closing {
			return false
		}
		if waits, until := c.s.Suspended(); waits {
			if !c.waitResumed(until) {
				return false
			}
			more = true
		}
	}
	in := c.buf[at:]
	if len(in) == 0 && cap(c.buf) > readKept && !c.full {
		c.buf = nil
	} else if len(in) < len(c.buf) { // else a large command gathers where it is
		c.buf = c.buf[:copy(c.buf, in)]
	}
	c.s.SetPending(len(c.buf))
	return true
}

func (c *conn) endTick() {
	if c.p.o.EndTick != nil {
		c.p.o.EndTick()
	}
}

// cycle runs commands and sends their replies.
func (c *conn) cycle(in []byte) (consumed int, more bool) {
	b := c.p.batches.take()
	if b == nil {
		b = session.NewBatch(c.p.o.NewExecutor())
	}
	began, ran := c.p.o.Now(), b.Ran
	consumed, more = b.Feed(c.s, began, in)
	c.now, ran = b.Now, b.Ran-ran
	c.p.batches.give(b)
	c.endTick()
	c.broken = !c.out.flush()
	c.p.work.add(c.p.o.Now().Mono-began.Mono, c.now.Mono-began.Mono, ran)
	return consumed, more
}
