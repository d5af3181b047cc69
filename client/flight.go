package client

import (
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/resp"
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

	able    bool // the sender could read himself; never changes once sent
	lends   bool // the sender copies the elements of replies before release
	waiting bool // he waits; guarded by the connection's mu once sent
	leads   bool // he had the inbox when he began to wait
	follows bool // done means: he has the inbox now

	// Set by the connection, read after done.

	start, end uint64 // where its bytes are in the connection's stream
	sent       uint64 // after a failure: how many of its bytes were written, at most
	err        error  // why replies are missing

	one  [1]Reply // out of a single request
	many []Reply  // out of several, kept for the next use
	text []byte   // room for the strings of replies to come, see own

	elems []resp.Value // the same for their elements; kept when they were only lent
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
	f.text = nil // the replies have it now
	if f.lends && cap(f.elems) <= elemRoomMax {
		clear(f.elems)
		f.elems = f.elems[:0]
	} else {
		f.elems = nil
	}
	f.out, f.err, f.able, f.lends, f.waiting, f.leads, f.follows = nil, nil, false, false, false, false, false
	f.got.Store(0)
	f.skip, f.start, f.end, f.sent = 0, 0, 0, 0
	p.pool.Put(f)
}

// take stores one reply, which borrows from a read buffer, and as many elements from an
// arena; true: it was the last.
func (f *flight) take(v *resp.Value, elems int) bool {
	if f.skip > 0 {
		f.skip--
		return false
	}
	n := f.got.Load()
	f.own(v, elems)
	f.out[n].v = *v
	f.got.Store(n + 1)
	return int(n)+1 == len(f.out)
}

var okText = []byte("OK")

// own makes a value that borrows one that does not. The strings of a value lie in one
// piece of memory, and those of the next replies of a pipeline too; so do its elements,
// unless they have an array of their own. The commonest answer, "OK", and numbers cost
// nothing.
func (f *flight) own(v *resp.Value, elems int) {
	if v.Elems == nil && v.Attrs == nil {
		switch {
		case v.Str == nil:
			return
		case v.Kind == resp.KindSimple && string(v.Str) == "OK":
			v.Str = okText[:2:2]
			return
		}
	}
	f.text = room(f, f.text, textSize(v), textRoomMax)
	if elems > 0 {
		f.elems = room(f, f.elems, elems, elemRoomMax)
	}
	f.keep(v, elems > 0)
}

const (
	// textRoomMax is the largest piece of memory, in bytes, that the strings of several
	// replies share: whoever keeps one of them keeps all.
	textRoomMax = 16 << 10
	// elemRoomMax is the same for elements, in elements.
	elemRoomMax = textRoomMax / 72
)

// room sees that there is room for n more in a list, and for further replies like it.
func room[T any](f *flight, list []T, n, most int) []T {
	if list != nil && cap(list)-len(list) >= n {
		return list
	}
	if n < most {
		n = min(n*(len(f.out)-int(f.got.Load())), most)
	}
	return make([]T, 0, n)
}

// keep moves the strings of a value into the room, and with borrowed its elements.
func (f *flight) keep(v *resp.Value, borrowed bool) {
	if v.Str != nil {
		at := len(f.text)
		f.text = append(f.text, v.Str...)
		v.Str = f.text[at:len(f.text):len(f.text)]
	}
	f.keepAll(&v.Elems, borrowed)
	if v.Attrs != nil {
		f.keepAll(v.Attrs, borrowed)
	}
}

func (f *flight) keepAll(list *[]resp.Value, borrowed bool) {
	if *list == nil {
		return
	}
	if borrowed {
		at := len(f.elems)
		f.elems = append(f.elems, *list...)
		*list = f.elems[at:len(f.elems):len(f.elems)]
	}
	for i := range *list {
		f.keep(&(*list)[i], borrowed)
	}
}

// textSize counts the bytes of all strings of a value.
func textSize(v *resp.Value) int {
	n := len(v.Str)
	for i := range v.Elems {
		n += textSize(&v.Elems[i])
	}
	for i := range v.Attributes() {
		n += textSize(&v.Attributes()[i])
	}
	return n
}

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

// first is the oldest of a queue that is not empty.
func (q *fifo) first() *flight { return q.ring[q.head] }

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
