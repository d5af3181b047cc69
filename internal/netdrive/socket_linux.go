package netdrive

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/bowline-kv/bowline/internal/session"
)

// socket is one connection of an event loop. An idle one holds no buffer.
type socket struct {
	s    *session.Session
	loop atomic.Pointer[eventLoop] // who owns the fields below
	fd   int
	// in is the start of a command whose rest has not arrived; nil: none.
	in []byte
	// out are replies that the socket did not take yet; nil: none.
	out      []byte
	kept     int    // bytes that the session keeps back
	armed    uint32 // what epoll was told to wait for; 0: it does not know the socket
	dirty    bool   // listed in the loop's dirty sockets
	closing  bool   // nothing is read any more; closed when out is written
	deadline int64  // Instant.Mono at which a closing connection is given up
	quiet    int64  // and a lingering one
	backlog  backlog
	// lingers: everything is sent; what the client still sends is passed over
	// until it closes, or is silent.
	lingers bool
	gone    bool // the client closed its end
	// paused: the session is suspended. Nothing is read, and in holds what it was fed
	// and did not consume.
	paused bool
	// ran counts reads in a window of the load meter, which tells active
	// connections from idle ones.
	ran, window uint32
}

// kill closes the connection from any thread.
func (c *socket) kill() {
	if l := c.loop.Load(); l != nil {
		l.post(func(l *eventLoop) {
			if owner := c.loop.Load(); owner != l {
				c.kill() // it was handed over meanwhile
				return
			}
			l.drop(c)
		})
	}
}

// wake makes the loop look for replies that may leave, from any thread.
func (c *socket) wake() {
	if l := c.loop.Load(); l != nil {
		l.post(func(l *eventLoop) {
			if c.loop.Load() != l {
				c.wake() // it was handed over meanwhile
				return
			}
			if !c.closing {
				c.s.TakeInbox()
			}
			if c.paused {
				l.resume(c)
			}
			if l.flush(c) && c.closing && !c.lingers {
				l.hangUp(c)
			}
		})
	}
}

// receive reads a socket once and runs the commands that are complete.
func (l *eventLoop) receive(c *socket) {
	l.scrap()
	data, ok := l.readInto(c)
	if !ok {
		return
	}
	if c.window != l.load.window {
		c.window, c.ran = l.load.window, 0
	}
	c.ran++
	l.serve(c, data)
	if c.fd >= 0 && !c.closing && !c.dirty {
		c.dirty = true
		l.dirty = append(l.dirty, c)
	}
}

// serve feeds a session, keeps what it did not consume, and sees to what follows.
func (l *eventLoop) serve(c *socket, data []byte) {
	if l.batch == nil {
		l.batch = session.NewBatch(l.e.portable.o.NewExecutor())
	}
	if c.s.W.B == nil {
		c.s.W.B = l.borrow()
	}
	for more := true; more; {
		var n int
		n, more = l.batch.Feed(c.s, l.now, data)
		l.commandNanos += l.batch.Now.Mono - l.now.Mono
		l.now = l.batch.Now
		data = data[n:]
		if (more || c.s.Closing) && !l.flush(c) {
			return
		}
	}
	l.keep(c, data)
	if l.e.portable.queryTooLong(c.s, len(c.in)) {
		c.in = nil
		if l.flush(c) { // what was executed is answered
			l.hangUp(c)
		}
		return
	}
	if c.s.Closing {
		l.hangUp(c)
		return
	}
	if waits, _ := c.s.Suspended(); waits {
		l.pause(c)
	}
}

// pause stops reading from a session that is suspended.
func (l *eventLoop) pause(c *socket) {
	_, until := c.s.Suspended()
	if l.nextResume = min(l.nextResume, until); len(l.paused) == 0 {
		l.nextResume = until
	}
	c.paused = true
	l.paused[c] = struct{}{}
	l.arm(c)
}

// resume feeds a session that was suspended again. The caller flushes.
func (l *eventLoop) resume(c *socket) {
	c.paused = false
	delete(l.paused, c)
	l.serve(c, c.in)
	if c.fd >= 0 && !c.paused {
		l.arm(c)
	}
}

// readInto gives what is to be parsed: the kept start of a command and what was
// read behind it. ok is false when there is nothing, or no connection any more.
func (l *eventLoop) readInto(c *socket) (data []byte, ok bool) {
	held := len(c.in)
	into := l.in
	if held > readMax/2 { // a large command gathers in a buffer of its own
		c.in = growFor(c.in, c.s.Missing())
		into = c.in[:cap(c.in)]
	} else {
		copy(into, c.in)
	}
	n, err := readNow(c.fd, into[held:])
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return nil, false
	case err != nil:
		l.drop(c)
		return nil, false
	case n == 0: // the client will send no more, but may still read
		c.gone = true
		if l.flush(c) {
			l.hangUp(c)
		}
		return nil, false
	}
	l.e.portable.counters.reads.Add(1)
	l.e.portable.counters.in.Add(uint64(n))
	return into[:held+n], true
}

// growFor makes room for the rest of a command, of which missing bytes are
// lacking at least, but never for much more than was already received.
func growFor(buf []byte, missing int) []byte {
	if cap(buf)-len(buf) >= readMax/2 {
		return buf
	}
	bigger := make([]byte, len(buf), growth(len(buf), cap(buf), missing))
	copy(bigger, buf)
	return bigger
}

// keep stores what is left of an incomplete command.
func (l *eventLoop) keep(c *socket, rest []byte) {
	switch {
	case len(rest) == 0:
		c.in = nil
	case cap(c.in) > readMax/2 && len(rest) > readMax/2:
		if whole := c.in[:cap(c.in)]; &whole[0] == &rest[0] { // it gathers where it is
			c.in = whole[:len(rest)]
		} else {
			c.in = whole[:copy(whole, rest)]
		}
	default:
		c.in = append([]byte(nil), rest...)
	}
	c.s.SetPending(len(c.in))
}

// flush writes what the session has answered and may be sent; false when the
// connection is gone.
func (l *eventLoop) flush(c *socket) bool {
	if c.fd < 0 {
		return false
	}
	ready := c.s.Releasable(l.now.Mono)
	if ready > 0 {
		c.s.Parts(ready, func(part []byte) { l.send(c, part) })
		if c.fd < 0 {
			return false
		}
		c.s.Sent(ready)
		if len(c.out) > 0 {
			l.arm(c)
		}
	}
	before := c.kept
	if c.kept = c.s.Kept(); len(c.out)+c.kept+before > 0 && l.tooLong(c) {
		l.drop(c)
		return false
	}
	if len(c.s.W.B) == 0 {
		if !c.s.Closing {
			l.giveBack(c)
		}
		delete(l.held, c)
	} else {
		l.held[c] = struct{}{}
	}
	return c.fd >= 0
}

// tooLong says whether what waits for a client is over its limits.
func (l *eventLoop) tooLong(c *socket) bool {
	return c.backlog.tooLong(&l.e.portable.door, c.s, len(c.out)+c.kept)
}

// send writes a part of the replies and keeps what the socket does not take.
func (l *eventLoop) send(c *socket, part []byte) {
	if c.fd < 0 {
		return
	}
	if len(c.out) == 0 && len(part) > 0 {
		n, ok := l.write(c, part)
		if !ok {
			return
		}
		part = part[n:]
	}
	if len(part) > 0 {
		c.out = append(c.out, part...)
	}
}

// write sends as much as the socket takes; false when the connection is gone.
func (l *eventLoop) write(c *socket, data []byte) (int, bool) {
	n, err := writeNow(c.fd, data)
	if n > 0 {
		l.e.portable.counters.writes.Add(1)
		l.e.portable.counters.out.Add(uint64(n))
	}
	if err != nil && err != unix.EAGAIN && err != unix.EINTR {
		l.drop(c)
		return 0, false
	}
	return max(n, 0), true
}

// drain goes on with replies that waited; false when the connection is gone.
func (l *eventLoop) drain(c *socket) bool {
	n, ok := l.write(c, c.out)
	if !ok {
		return false
	}
	if n < len(c.out) {
		c.out = c.out[n:]
		c.s.SetOutput(len(c.out) + c.kept)
		return true
	}
	c.out, c.backlog = nil, backlog{}
	c.s.SetOutput(c.kept)
	if c.closing {
		l.hangUp(c)
		return c.fd >= 0
	}
	l.arm(c)
	return true
}

// borrow gives an empty reply buffer.
func (l *eventLoop) borrow() []byte {
	if n := len(l.buffers); n > 0 {
		b := l.buffers[n-1]
		l.buffers = l.buffers[:n-1]
		return b
	}
	return make([]byte, 0, outputKept)
}

// giveBack returns a session's reply buffer.
func (l *eventLoop) giveBack(c *socket) {
	b := c.s.W.B
	c.s.W.B = nil
	if b != nil && len(l.buffers) < buffersKept && cap(b) <= 2*session.OutputHigh {
		l.buffers = append(l.buffers, b[:0])
	}
}
