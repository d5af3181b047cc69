package client

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-kv/bowline/resp"
)

// conn is one connection. Requests of many goroutines follow each other on it without
// waiting for replies; the replies come back in the same order.
//
// Who sends appends to a buffer under the lock. The first to find nobody writing
// writes, for all who came meanwhile too. A goroutine of the connection writes when the
// peer may be slow to take bytes, so that no caller ever waits in a write: a caller's
// context would have no say there. Who reads: see reader.go.
type conn struct {
	nc    net.Conn
	limit time.Duration // without a byte for so long while replies are due, it is dead; 0: never
	push  func(resp.Value)
	stray func(resp.Value) // takes values that answer nothing; nil: they are a fault
	ended func()           // called when the connection is dead; nil: nothing

	mu       sync.Mutex
	pending  []byte // not yet handed to nc
	spare    []byte // the other buffer, while nobody writes from it
	queue    fifo   // sent and not yet seen by the reader
	appended uint64 // all bytes ever put into pending
	handed   uint64 // of these, given to nc
	writing  bool   // somebody sees to pending
	inWrite  bool   // nc has bytes of which it is not known yet how many it took
	written  sync.Cond
	draining bool  // nothing new is accepted; close when the last reply is there
	armed    bool  // the watchdog runs
	err      error // why the connection is closed

	reading bool          // somebody has the inbox; guarded by mu
	in      inbox         // of whoever reads
	turn    chan struct{} // gives the inbox to the connection's own reader
	alive   func() bool   // looks at the socket without waiting; nil: callers never read
	heard   time.Time     // of the last read; of whoever reads

	answered atomic.Uint64 // of appended, the bytes whose replies were delivered
	reads    atomic.Uint64 // counts reads with data
	gone     atomic.Bool   // mirrors err and draining, for a look without the lock
	wake     chan struct{} // for the second writer
	dead     chan struct{} // closed when the last flight has its end
	watchdog *time.Timer
	seen     uint64 // reads, at the watchdog's last look
	idle     int    // looks without progress

	known   knownScripts
	callers *atomic.Int64 // of the whole client: how many are sending or waiting

	zone string // what HELLO said of the availability zone
}

const (
	// unansweredMax is how many bytes without a reply a socket surely takes without
	// blocking, so that callers may write themselves.
	unansweredMax = 32 << 10
	// pendingMax bounds what waits for a peer that takes nothing.
	pendingMax = 64 << 20
	// bufferKeepMax is the largest buffer that a connection keeps while idle.
	bufferKeepMax = 256 << 10
	readSize      = 16 << 10
	// callersFew is how many callers of a client are too few to expect that another is
	// about to send.
	callersFew = 2
	// writeRounds is how often a caller writes for others after it wrote for itself.
	writeRounds = 4
	// watchLooks is into how many looks at least the watchdog divides its limit.
	watchLooks = 4
)

func newConn(nc net.Conn, limit time.Duration, push func(resp.Value)) *conn {
	c := &conn{nc: nc, limit: limit, push: push, reading: true,
		wake: make(chan struct{}, 1), turn: make(chan struct{}, 1), dead: make(chan struct{})}
	c.written.L, c.in.c = &c.mu, c
	c.known.flushes, c.callers = new(atomic.Uint64), new(atomic.Int64)
	return c
}

func (c *conn) start() {
	go c.read()
	go c.writeBehind()
}

// send queues a flight and the bytes of its requests. With an error nothing was
// queued, and nothing of it will be sent.
func (c *conn) send(f *flight, asking bool, calls ...*call) error {
	c.mu.Lock()
	if err := c.refuses(); err != nil {
		c.mu.Unlock()
		return err
	}
	if c.stale() && !c.alive() {
		c.close(fmt.Errorf("read from %s: %w", c.nc.RemoteAddr(), io.EOF))
		c.mu.Unlock()
		return errUnsent
	}
	before := len(c.pending)
	f.start = c.appended
	if asking {
		c.pending = append(c.pending, askingWire...)
		f.skip = 1
	}
	for _, q := range calls {
		c.pending = c.known.encode(c.pending, q)
	}
	c.appended += uint64(len(c.pending) - before)
	f.end = c.appended
	busy := c.callers.Load() > callersFew || c.queue.n > 0 || c.answered.Load() < f.start
	c.queue.push(f)
	c.assign(f)
	if !c.armed {
		c.arm()
	}
	if c.writing {
		c.mu.Unlock()
		return nil
	}
	c.writing = true
	slow := c.unanswered() > unansweredMax
	c.mu.Unlock()
	if slow {
		c.wake <- struct{}{}
		return nil
	}
	if busy {
		// Others are at it: let those who are ready to send come first, one write
		// for all of them costs less than one each. A few on other connections are
		// not worth the switch.
		runtime.Gosched()
	}
	c.write(true)
	return nil
}

func (c *conn) refuses() error {
	switch {
	case c.err != nil || c.draining:
		return errUnsent
	case len(c.pending) > pendingMax:
		return errBacklog
	}
	return nil
}

var (
	errBacklog = errors.New("too many bytes wait for the node")
	askingWire = resp.AppendCommandStrings(nil, "ASKING")
)

// write hands pending to the socket until there is none. A caller of ours does not
// write for ever, nor to a socket that may block: then the second writer goes on. Who
// calls has set writing.
func (c *conn) write(caller bool) {
	c.mu.Lock()
	for round := 0; len(c.pending) > 0 && c.err == nil; round++ {
		if caller && (round == writeRounds || c.unanswered() > unansweredMax) {
			c.mu.Unlock()
			c.wake <- struct{}{}
			return
		}
		out := c.pending
		c.pending, c.spare = c.spare[:0], nil
		c.handed += uint64(len(out))
		c.inWrite = true
		c.mu.Unlock()
		n, err := c.nc.Write(out)
		c.mu.Lock()
		c.inWrite = false
		if c.err != nil {
			c.written.Signal()
		}
		if err != nil {
			c.handed -= uint64(len(out) - n)
			c.close(fmt.Errorf("write to %s: %w", c.nc.RemoteAddr(), err))
			break
		}
		if cap(out) <= bufferKeepMax {
			c.spare = out[:0]
		}
	}
	c.writing = false
	c.mu.Unlock()
}

// unanswered counts the bytes sent or to be sent whose replies have not come.
func (c *conn) unanswered() uint64 { return c.appended - c.answered.Load() }

func (c *conn) writeBehind() {
	for {
		select {
		case <-c.wake:
			c.write(false)
		case <-c.dead:
			return
		}
	}
}

// close ends the connection; the reader then fails what is in flight. mu is held.
func (c *conn) close(err error) {
	if c.err == nil {
		c.err = err
		c.gone.Store(true)
		c.nc.Close()
		c.callReader()
	}
}

// fail is close for those who don't hold the lock.
func (c *conn) fail(err error) {
	c.mu.Lock()
	c.close(err)
	c.mu.Unlock()
}

// drain accepts nothing new and closes after the last reply that is due.
func (c *conn) drain(err error) {
	c.mu.Lock()
	c.draining = true
	c.gone.Store(true)
	if c.unanswered() == 0 {
		c.close(err)
	}
	c.mu.Unlock()
}

// dropped is why the connection ended, nil when it has not or the client ended it.
func (c *conn) dropped() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.err, errRetired) || errors.Is(c.err, ErrClosed) {
		return nil
	}
	return c.err
}

// usable may be wrong a moment later; send is not.
func (c *conn) usable() bool { return !c.gone.Load() }
