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
	kept    int    // bytes that the session keeps back
	writing bool   // the writer goroutine runs
	failed  bool   // the socket is broken
	backlog backlog
	drainBy time.Time // when the writer goroutine gives up; zero: never
	idle    sync.Cond // signaled when the writer goroutine ends
}

const (
	// directWrite is how long the connection's goroutine tries to write itself.
	directWrite = 5 * time.Millisecond
	// drainTimeout bounds the delivery of the last replies before a close.
	drainTimeout = 5 * time.Second
	// limitsEvery is how often the limits are looked at while a client reads
	// nothing, besides each time that replies are added.
	limitsEvery = time.Second
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
	ready := s.Releasable(o.c.now.Mono)
	if ready == 0 && len(s.W.B) == 0 {
		return true
	}
	var err error
	if o.c.tls != nil && ready > 0 { // which calls put
		s.Parts(ready, func(part []byte) {
			if err == nil {
				_, err = o.c.tls.Write(part)
			}
		})
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed || err != nil {
		return false
	}
	if o.c.tls == nil {
		deadline := time.Now().Add(directWrite)
		s.Parts(ready, func(part []byte) { o.send(part, deadline) })
	}
	if o.failed {
		return false
	}
	if s.Sent(ready); len(s.W.B) == 0 && cap(s.W.B) > outputKept {
		s.W.B = nil
	}
	ok, before := true, o.kept
	o.kept = s.Kept()
	if len(o.waiting)+o.kept+before > 0 {
		ok = o.withinLimits()
		o.carryOn()
	}
	return ok
}

// put takes bytes of TLS; false when the connection is broken.
func (o *outbox) put(b []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.send(b, time.Now().Add(directWrite))
	o.carryOn()
	return !o.failed
}

// carryOn lets the writer goroutine have what waits; o.mu is held.
func (o *outbox) carryOn() {
	if len(o.waiting) > 0 && !o.writing && !o.failed {
		o.writing = true
		go o.run()
	}
}

// send writes a part of the replies, unless others wait already, and keeps what
// the socket does not take until the deadline; o.mu is held, but for the write.
func (o *outbox) send(part []byte, deadline time.Time) {
	if !o.writing && len(o.waiting) == 0 && !o.failed && len(part) > 0 {
		o.mu.Unlock()
		o.c.nc.SetWriteDeadline(deadline)
		n, err := o.write(part)
		o.mu.Lock()
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			o.failed = true
		}
		part = part[n:]
	}
	o.waiting = append(o.waiting, part...)
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
	if o.failed {
		return false
	}
	if !o.backlog.tooLong(&o.c.p.door, o.c.s, len(o.waiting)+o.flying+o.kept) {
		return true
	}
	o.failed = true
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
			o.setDeadline()
			o.mu.Unlock()
			n, err := o.write(rest[:min(len(rest), writeChunk)])
			o.mu.Lock()
			rest = rest[n:]
			o.flying = len(rest)
			switch {
			case err == nil, errors.Is(err, os.ErrDeadlineExceeded) && !o.drainOver():
				o.withinLimits() // which sets failed otherwise
			default:
				o.failed = true
			}
		}
		o.flying = 0
		if cap(data) <= writeChunk {
			o.spare = data[:0]
		}
	}
	o.waiting, o.spare, o.backlog = nil, nil, backlog{}
	o.c.s.SetOutput(o.kept)
	o.writing = false
	o.idle.Broadcast()
}

// setDeadline bounds the writer goroutine's next write; o.mu is held, so that
// drain's deadline is the last.
func (o *outbox) setDeadline() {
	deadline := o.drainBy
	if deadline.IsZero() {
		deadline = time.Now().Add(limitsEvery)
	}
	o.c.nc.SetWriteDeadline(deadline)
}

func (o *outbox) drainOver() bool { return !o.drainBy.IsZero() && !time.Now().Before(o.drainBy) }

// drain delivers what still waits before the connection is closed, within
// [drainTimeout].
func (o *outbox) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing && !o.failed {
		o.drainBy = time.Now().Add(drainTimeout)
		o.setDeadline()
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
