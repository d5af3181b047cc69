package client

import (
	"fmt"
	"time"

	"github.com/bowline-kv/bowline/resp"
)

// inbox is the reader's side of a connection.
type inbox struct {
	c     *conn
	buf   []byte // buf[from:] is not yet parsed
	from  int
	rr    resp.ReplyReader
	arena [arenaSize]resp.Value // of the elements of a small reply, until it is delivered
	queue fifo                  // taken over from the connection
	cur   *flight               // waits for replies

	self    *flight // of the caller who reads; nil: the connection's own reader does
	reached bool    // self has its end
	polite  bool    // the last flight was of one who reads himself
}

// arenaSize is how many elements the largest reply has that needs no array of its own
// to be read into.
const arenaSize = 16

// run delivers replies until the flight until has all of its own, and whatever else is
// there; for ever when it is nil, or, idle, until nobody waits any more.
func (in *inbox) run(until *flight) (idle bool, err error) {
	in.self, in.reached = until, false
	var v resp.Value
	for {
		n, lent, err := in.rr.NextIn(&v, in.buf[in.from:], in.arena[:0])
		switch {
		case err == nil:
			in.from += n
			if err := in.deliver(&v, len(lent)); err != nil {
				return false, err
			}
			continue
		case err != resp.ErrIncomplete:
			return false, fmt.Errorf("read from %s: %w", in.c.nc.RemoteAddr(), err)
		}
		switch {
		case in.reached:
			return false, nil
		case until == nil && in.polite && in.c.leave():
			return true, nil
		case in.settled():
			return false, errRetired
		}
		if err := in.read(); err != nil {
			return false, err
		}
	}
}

func (in *inbox) read() error {
	in.makeRoom()
	c := in.c
	n, err := c.nc.Read(in.buf[len(in.buf):cap(in.buf)])
	if n > 0 {
		c.reads.Add(1)
	}
	if c.alive != nil {
		c.heard = time.Now()
	}
	in.buf = in.buf[:len(in.buf)+n]
	if err != nil && n == 0 {
		return fmt.Errorf("read from %s: %w", c.nc.RemoteAddr(), err)
	}
	return nil
}

// settled reports whether a draining connection has nothing to wait for any more.
func (in *inbox) settled() bool {
	c := in.c
	if !c.gone.Load() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.draining && c.unanswered() == 0
}

// makeRoom moves what is left to the front and sees that there is room behind it.
func (in *inbox) makeRoom() {
	rest := len(in.buf) - in.from
	switch need := rest + max(in.rr.Missing(), readSize/4); {
	case rest == 0 && cap(in.buf) > bufferKeepMax:
		in.buf = make([]byte, 0, readSize)
	case cap(in.buf) < need:
		grown := make([]byte, rest, max(readSize, need, 2*cap(in.buf)))
		copy(grown, in.buf[in.from:])
		in.buf = grown
	case in.from > 0:
		copy(in.buf, in.buf[in.from:])
		in.buf = in.buf[:rest]
	}
	in.from = 0
}

// deliver gives a reply, which borrows elems elements, to the flight that waits for it.
func (in *inbox) deliver(v *resp.Value, elems int) error {
	if v.Kind == resp.KindPush {
		if in.c.push != nil {
			in.c.push(v.Clone())
		}
		return nil
	}
	if in.cur == nil && !in.next() {
		if in.c.stray != nil {
			in.c.stray(v.Clone())
			return nil
		}
		return fmt.Errorf("read from %s: a reply that nobody asked for: %s", in.c.nc.RemoteAddr(), v.Kind)
	}
	f := in.cur
	if f.take(v, elems) {
		in.cur = nil
		in.polite = f.able
		in.c.answered.Store(f.end)
		in.finish(f)
	}
	return nil
}

// finish tells a flight's sender.
func (in *inbox) finish(f *flight) {
	if f == in.self {
		in.reached = true
		return
	}
	f.done <- struct{}{}
}

// next takes the oldest flight, and with it all that the connection has, so that the
// lock is taken once for many replies.
func (in *inbox) next() bool {
	if in.queue.n == 0 {
		in.c.mu.Lock()
		in.queue, in.c.queue = in.c.queue, in.queue
		in.c.mu.Unlock()
	}
	in.cur = in.queue.pop()
	return in.cur != nil
}

// abort fails all flights. The connection is closed: no new ones come.
func (in *inbox) abort() {
	c := in.c
	c.mu.Lock()
	for c.inWrite { // it fails soon, and then says how much the socket took
		c.written.Wait()
	}
	err, handed := c.err, c.handed
	if c.watchdog != nil {
		c.watchdog.Stop()
	}
	c.mu.Unlock()
	for in.cur != nil || in.next() {
		f := in.cur
		in.cur = nil
		f.err = err
		f.sent = min(max(handed, f.start), f.end) - f.start
		in.finish(f)
	}
}
