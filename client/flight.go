package client

import (
	"sync"
	"sync/atomic"
)

// flight is what waits on a connection: one request or several that were written
// together, and the replies that come for them, in order. Whoever sent it waits for
// done; the connection's reader fills it.
//
//	skip   out[0]  out[1]  ...  out[len-1]
//	       |<-- got -->|
//
// A flight that its sender gave up is filled all the same and left to the collector;
// the sender may look at out[:got] at any time, for nothing there changes any more.
type flight struct {
	out  []Reply
	got  atomic.Int32 // replies in out
	skip int          // replies to pass over first, such as that of ASKING
	done chan struct{}

	// Set by the connection, read after done.

	start, end uint64 // where its bytes are in the connection's stream
	sent       uint64 // after a failure: how many of its bytes were written, at most
	err        error  // why replies are missing

	one  [1]Reply // out of a single request
	many []Reply  // out of several, kept for the next use
}

// flights keeps flights for the next commands. Every client has its own, for a channel
// must not leave the bubble of a test with virtual time.
type flights struct{ pool sync.Pool }

// single gives a flight for one reply.
func (p *flights) single() *flight {
	f := p.get()
	f.out = f.one[:]
	return f
}

// of gives a flight for n replies.
func (p *flights) of(n int) *flight {
	f := p.get()
	if cap(f.many) < n {
		f.many = make([]Reply, n)
	}
	f.out = f.many[:n]
	return f
}

func (p *flights) get() *flight {
	if f, ok := p.pool.Get().(*flight); ok {
		return f
	}
	return newFlight()
}

func newFlight() *flight { return &flight{done: make(chan struct{}, 1)} }

// repliesKeepMax is for how many replies a flight keeps room.
const repliesKeepMax = 1024

// release takes a flight back whose done was received.
func (p *flights) release(f *flight) {
	clear(f.out)
	if cap(f.many) > repliesKeepMax {
		f.many = nil
	}
	f.out, f.err = nil, nil
	f.got.Store(0)
	f.skip, f.start, f.end, f.sent = 0, 0, 0, 0
	p.pool.Put(f)
}

// take stores one reply; true: it was the last.
func (f *flight) take(r Reply) bool {
	if f.skip > 0 {
		f.skip--
		return false
	}
	n := f.got.Load()
	f.out[n] = r
	f.got.Store(n + 1)
	return int(n)+1 == len(f.out)
}

func (f *flight) finish() { f.done <- struct{}{} }

// fifo is a queue of flights in a ring.
type fifo struct {
	ring []*flight // its length is a power of two
	head int
	n    int
}

func (q *fifo) push(f *flight) {
	if q.n == len(q.ring) {
		bigger := make([]*flight, max(16, 2*len(q.ring)))
		for i := range q.n {
			bigger[i] = q.ring[(q.head+i)&(len(q.ring)-1)]
		}
		q.ring, q.head = bigger, 0
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = f
	q.n++
}

// pop gives the oldest, nil when there is none.
func (q *fifo) pop() *flight {
	if q.n == 0 {
		return nil
	}
	f := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return f
}
