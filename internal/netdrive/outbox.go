package netdrive

import (
	"errors"
	"os"
	"sync"
	"time"
)

// outbox carries a connection's replies to the socket. As long as the client
// reads, the connection's own goroutine writes them. When the socket takes no
// more, the rest waits in memory, up to the client's limits, and a goroutine of
// its own writes it, so that requests are still read meanwhile: a client that
// sends a long pipeline before it reads does not block itself.
type outbox struct {
	c *conn

	mu      sync.Mutex
	waiting []byte // guarded by mu, like all below
	spare   []byte // an empty buffer to take turns with waiting
	flying  int    // bytes that the writer goroutine has taken and not yet written
	writing bool   // the writer goroutine runs
	failed  bool   // the socket is broken
	over    time.Time
	idle    sync.Cond // signaled when the writer goroutine ends
}

const (
	// directWrite is how long the connection's goroutine tries to write itself.
	directWrite = 5 * time.Millisecond
	// drainTimeout bounds the delivery of the last replies before a close.
	drainTimeout = 5 * time.Second
	// writeChunk is how much is written between two looks at what still waits.
	writeChunk = 64 << 10
	// outputKept is the largest empty buffer that a connection keeps.
	outputKept = 4 << 10
)

func (o *outbox) init(c *conn) {
	o.c = c
	o.idle.L = &o.mu
}

// flush hands over what the session wrote; false when the connection is broken
// or over its limits.
func (o *outbox) flush() bool {
	s := o.c.s
	data := s.W.B
	if len(data) == 0 {
		return true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed {
		return false
	}
	if !o.writing {
		o.mu.Unlock()
		o.c.nc.SetWriteDeadline(time.Now().Add(directWrite))
		n, err := o.write(data)
		o.mu.Lock()
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			o.failed = true
			return false
		}
		data = data[n:]
	}
	ok := true
	if len(data) > 0 {
		o.waiting = append(o.waiting, data...)
		ok = o.withinLimits()
		if ok && !o.writing {
			o.writing = true
			// Deadlines are set under mu only, so that drain's is the last.
			o.c.nc.SetWriteDeadline(time.Time{})
			go o.run()
		}
	}
	if cap(s.W.B) > outputKept {
		s.W.B = nil
	} else {
		s.W.B = s.W.B[:0]
	}
	return ok
}

func (o *outbox) write(data []byte) (int, error) {
	n, err := o.c.nc.Write(data)
	if n > 0 {
		o.c.p.counters.writes.Add(1)
		o.c.p.counters.out.Add(uint64(n))
	}
	return n, err
}

// withinLimits says whether the waiting replies are few enough; o.mu is held.
func (o *outbox) withinLimits() bool {
	limits := o.c.p.o.Limits()
	n := len(o.waiting) + o.flying
	o.c.s.SetOutput(n)
	if limits.OutputSoft <= 0 || n <= limits.OutputSoft {
		o.over = time.Time{}
	} else if o.over.IsZero() {
		o.over = time.Now()
	}
	hard := limits.OutputHard > 0 && n > limits.OutputHard
	soft := !o.over.IsZero() && time.Since(o.over) >= limits.OutputSoftTime
	if !hard && !soft {
		return true
	}
	o.failed = true
	o.c.p.counters.outputLimit.Add(1)
	o.c.p.o.Log.Warn("client closed: it does not read its replies", "client", o.c.s.Remote(), "bytes", n)
	o.c.nc.Close() // ends the writer
	return false
}

// run is the writer goroutine: it ends when nothing waits any more.
func (o *outbox) run() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.waiting) > 0 && !o.failed {
		data := o.waiting
		o.waiting, o.spare = o.spare[:0], nil
		for rest := data; len(rest) > 0 && !o.failed; {
			o.flying = len(rest)
			o.c.s.SetOutput(len(o.waiting) + o.flying)
			o.mu.Unlock()
			n, err := o.write(rest[:min(len(rest), writeChunk)])
			o.mu.Lock()
			rest = rest[n:]
			o.failed = o.failed || err != nil
		}
		o.flying = 0
		if cap(data) <= writeChunk {
			o.spare = data[:0]
		}
	}
	o.waiting, o.spare, o.over = nil, nil, time.Time{}
	o.c.s.SetOutput(0)
	o.writing = false
	o.idle.Broadcast()
}

// drain delivers what still waits before the connection is closed, within
// [drainTimeout].
func (o *outbox) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing && !o.failed {
		o.c.nc.SetWriteDeadline(time.Now().Add(drainTimeout))
	}
	for o.writing {
		o.idle.Wait()
	}
}

// wait returns when the writer goroutine has ended; the socket is closed.
func (o *outbox) wait() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing {
		o.idle.Wait()
	}
}
