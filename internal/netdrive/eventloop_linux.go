package netdrive

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bowline-kv/bowline/internal/session"
)

// eventLoop is one thread with its own epoll instance. A tick of it:
//
//	wait for ready sockets -> read each once, run its commands -> end of the tick -> write the replies
//
// Everything here but the queue is owned by the loop's thread.
type eventLoop struct {
	e     *Epoll
	index int
	poll  int // epoll descriptor
	wake  int // eventfd that ends a wait
	batch *session.Batch
	conns map[*socket]struct{}
	held  map[*socket]struct{} // those with replies that are kept back
	ends  map[*socket]struct{} // those that are being closed
	// paused are those whose sessions are suspended; nextResume is a time
	// (Instant.Mono) before which none of them has waited long enough.
	paused     map[*socket]struct{}
	nextResume int64
	// in is where every socket is read to; only what is left of an incomplete
	// command is copied out of it.
	in     []byte
	events []unix.EpollEvent
	byFD   []*socket // index: descriptor
	// dirty are the sockets with replies of this tick.
	dirty []*socket
	ready int // sockets that the last wait found
	// buffers are empty reply buffers to borrow from.
	buffers  [][]byte
	draining bool // Shutdown was called
	// now is the time at which this tick began, or its newest batch ended.
	now   session.Instant
	swept int64 // Instant.Mono of the last sweep
	load  loadMeter
	// serves: it had connections at the end of the last window.
	serves atomic.Bool
	work   work
	// commandNanos is the time of this tick's commands.
	commandNanos int64
	ended        uint64 // commands that had run at the last end of a tick
	again        bool   // somebody called WakeHeld since
	// waits: replies are kept back, or may be soon.
	waits atomic.Bool

	mu     sync.Mutex
	queue  []func(*eventLoop) // guarded by mu: what other threads want done here
	closed bool               // guarded by mu: nothing is taken from the queue any more
	asleep atomic.Bool        // the loop waits, or is about to: a wake is needed
}

const (
	eventsPerTick = 256
	// busyReady is how many sockets are ready after a wait of a busy loop.
	busyReady = 4
	// buffersKept bounds the reply buffers that a loop keeps for the next tick.
	buffersKept = 64
	// sweepPeriod is how often idle connections are looked for.
	sweepPeriod = time.Second
)

func newEventLoop(e *Epoll, index int) (*eventLoop, error) {
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err == nil {
		err = unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, wake, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(wake)})
	}
	if err != nil {
		unix.Close(poll)
		return nil, err
	}
	return &eventLoop{
		e: e, index: index, poll: poll, wake: wake,
		conns: map[*socket]struct{}{}, held: map[*socket]struct{}{}, ends: map[*socket]struct{}{}, paused: map[*socket]struct{}{}, events: make([]unix.EpollEvent, eventsPerTick),
	}, nil
}

func (l *eventLoop) close() {
	unix.Close(l.poll)
	unix.Close(l.wake)
}

// post asks the loop to do something between two ticks. Any thread may call it;
// false: the loop has ended, and will not do it.
func (l *eventLoop) post(f func(*eventLoop)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.enqueue(f)
}

// take makes the loop the owner of a connection that another loop has released,
// in one step with asking for it to be added: what is posted for the connection
// from then on runs after that, and what the old loop is still asked to do it
// passes on. false: as post.
func (l *eventLoop) take(c *socket) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.enqueue(func(l *eventLoop) { l.add(c) }) {
		return false
	}
	c.loop.Store(l)
	return true
}

// enqueue is post with l.mu held.
func (l *eventLoop) enqueue(f func(*eventLoop)) bool {
	if l.closed {
		return false
	}
	l.queue = append(l.queue, f)
	if l.asleep.Load() {
		unix.Write(l.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // it can only fail by being signaled already
	}
	return true
}

// run is the loop's thread. It ends after Shutdown, with the last connection.
func (l *eventLoop) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		l.runQueue()
		if l.draining && len(l.conns) == 0 && l.end() {
			return
		}
		n := l.wait()
		l.ready = n
		l.now = l.e.portable.o.Now()
		began, ran := l.now.Mono, l.ran()
		for i := range l.events[:n] {
			l.handle(&l.events[i])
		}
		l.endTick()
		for _, c := range l.dirty {
			c.dirty = false
			l.flush(c)
		}
		clear(l.dirty)
		l.dirty = l.dirty[:0]
		l.now = l.e.portable.o.Now()
		l.work.add(l.now.Mono-began, l.commandNanos, l.ran()-ran)
		l.commandNanos = 0
		l.lookAtTimes()
		l.waits.Store(len(l.held) > 0)
		if l.load.tick(l.now.Mono, l.ran(), threadTime) {
			l.balance()
		}
	}
}

// endTick lets the host make safe what the commands of this tick, and of what
// was done between it and the one before, have written.
func (l *eventLoop) endTick() {
	end := l.e.portable.o.EndTick
	if end == nil {
		return
	}
	// Set before: another thread may be making our writes safe at this moment.
	l.waits.Store(true)
	l.again, l.ended = false, l.ran()
	end()
}

// owes says that the tick must come to its end again without waiting: commands
// ran behind it, or replies still wait after a wake.
func (l *eventLoop) owes() bool {
	return l.e.portable.o.EndTick != nil && (l.ended != l.ran() || l.again && len(l.held) > 0)
}

// lookAgain makes the loop look at the replies that are kept back, which it does
// in each tick.
func (l *eventLoop) lookAgain() { l.again = true }

// ran counts the commands that were run here.
func (l *eventLoop) ran() uint64 {
	if l.batch == nil {
		return 0
	}
	return l.batch.Ran
}

// end closes the queue, unless something was posted meanwhile.
func (l *eventLoop) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = len(l.queue) == 0
	return l.closed
}

func (l *eventLoop) runQueue() {
	l.mu.Lock()
	todo := l.queue
	l.queue = nil
	l.mu.Unlock()
	for _, f := range todo {
		f(l)
	}
}

// wait gives the number of ready sockets in l.events. A busy loop first looks
// without blocking, which needs no hand-over of the processor to other
// goroutines; one that has little to do would find nothing, and look twice.
func (l *eventLoop) wait() int {
	if l.ready >= busyReady {
		if n := pollNow(l.poll, l.events); n != 0 {
			return max(n, 0)
		}
	}
	l.asleep.Store(true)
	defer l.asleep.Store(false)
	l.mu.Lock()
	posted := len(l.queue) > 0
	l.mu.Unlock()
	if posted { // before asleep was set, so that nobody woke us
		return 0
	}
	n, err := unix.EpollWait(l.poll, l.events, int(l.patience()/time.Millisecond))
	if err != nil { // EINTR
		return 0
	}
	return n
}

// patience is how long a wait may last, so that everything with a time in it is
// looked at.
func (l *eventLoop) patience() time.Duration {
	if l.owes() {
		return 0
	}
	p := sweepPeriod
	if len(l.ends) > 0 {
		p = lingerQuiet
	}
	if len(l.held) > 0 {
		p = min(p, heldSweep)
	}
	if len(l.paused) > 0 {
		// In whole milliseconds, rounded up.
		p = min(p, max(0, time.Duration(l.nextResume-l.now.Mono)+time.Millisecond-1))
	}
	return p
}

// heldSweep is how exactly the deadlines of replies that are kept back are met.
const heldSweep = 5 * time.Millisecond

func (l *eventLoop) handle(ev *unix.EpollEvent) {
	fd := int(ev.Fd)
	if fd == l.wake {
		var counter [8]byte
		unix.Read(l.wake, counter[:])
		return
	}
	c := l.byFD[fd]
	if c == nil {
		return
	}
	if ev.Events&unix.EPOLLOUT != 0 {
		if !l.drain(c) {
			return
		}
	}
	switch {
	case ev.Events&(unix.EPOLLIN|unix.EPOLLHUP|unix.EPOLLERR|unix.EPOLLRDHUP) == 0:
	case c.lingers:
		l.passOver(c)
	case c.paused: // the client is gone; as in Redis it does not wait for the reply
		l.drop(c)
	case !c.closing:
		l.receive(c)
	}
}

// add takes over a connection: a new one, or one that another loop gave away.
func (l *eventLoop) add(c *socket) {
	l.adopt(c)
	if l.draining && c.fd >= 0 {
		l.hangUp(c)
	}
}

func (l *eventLoop) adopt(c *socket) {
	c.loop.Store(l)
	for len(l.byFD) <= c.fd {
		l.byFD = append(l.byFD, make([]*socket, max(64, len(l.byFD)))...)
	}
	l.byFD[c.fd] = c
	l.conns[c] = struct{}{}
	if len(c.s.W.B) > 0 {
		l.held[c] = struct{}{}
	}
	c.armed = 0
	if c.paused {
		l.pause(c)
	} else {
		l.arm(c)
	}
}

// arm tells epoll what the connection waits for.
func (l *eventLoop) arm(c *socket) {
	var want uint32
	switch {
	case c.paused:
		want |= unix.EPOLLRDHUP
	case !c.closing || c.lingers:
		want |= unix.EPOLLIN
	}
	if len(c.out) > 0 {
		want |= unix.EPOLLOUT
	}
	if want == c.armed {
		return
	}
	op := unix.EPOLL_CTL_MOD
	if c.armed == 0 {
		op = unix.EPOLL_CTL_ADD
	}
	c.armed = want
	if err := unix.EpollCtl(l.poll, op, c.fd, &unix.EpollEvent{Events: want, Fd: int32(c.fd)}); err != nil {
		l.e.portable.o.Log.Error("connection lost", "client", c.s.Remote(), "error", err)
		l.drop(c)
	}
}

// release takes a connection out of this loop without closing it.
func (l *eventLoop) release(c *socket) {
	if c.armed != 0 {
		unix.EpollCtl(l.poll, unix.EPOLL_CTL_DEL, c.fd, nil)
	}
	l.byFD[c.fd] = nil
	delete(l.conns, c)
	delete(l.held, c)
	delete(l.ends, c)
	delete(l.paused, c)
}

// drop closes a connection at once.
func (l *eventLoop) drop(c *socket) {
	if _, mine := l.conns[c]; !mine {
		return
	}
	l.release(c)
	unix.Close(c.fd)
	c.fd = -1
	c.s.Discard()
	l.e.portable.o.Registry.Remove(c.s)
}

// hangUp closes a connection as soon as its replies are delivered. It is called
// again with each step towards that.
func (l *eventLoop) hangUp(c *socket) {
	if c.paused {
		c.paused = false
		delete(l.paused, c)
	}
	if !c.closing {
		c.closing = true
		c.deadline = l.now.Mono + int64(drainTimeout)
	}
	l.ends[c] = struct{}{}
	switch {
	case len(c.out) > 0 || len(c.s.W.B) > 0: // drain or wake come back here
	case c.gone || unix.Shutdown(c.fd, unix.SHUT_WR) != nil:
		l.drop(c)
		return
	default:
		// Closing a socket that holds unread bytes resets the connection, and the
		// system then throws away replies that the client has not received yet.
		c.lingers = true
		c.quiet = l.now.Mono + int64(lingerQuiet)
	}
	l.arm(c)
}

// passOver throws away what a client sends whose connection is being closed.
func (l *eventLoop) passOver(c *socket) {
	n, err := readNow(c.fd, l.scrap())
	switch {
	case n > 0:
		l.e.portable.counters.in.Add(uint64(n))
		c.quiet = l.now.Mono + int64(lingerQuiet)
	case err != unix.EAGAIN && err != unix.EINTR:
		l.drop(c)
	}
}

// scrap is a buffer that nobody reads.
func (l *eventLoop) scrap() []byte {
	if l.in == nil {
		l.in = make([]byte, readMax)
	}
	return l.in
}

// finish is Shutdown: what was received is answered, then all is closed.
func (l *eventLoop) finish() {
	l.draining = true
	for c := range l.conns {
		if !c.closing && !c.paused {
			l.receive(c) // what is in the socket's buffer already
		}
	}
	for c := range l.conns {
		if l.flush(c) && !c.closing {
			l.hangUp(c)
		}
	}
}

func (l *eventLoop) cutAll() {
	for c := range l.conns {
		l.drop(c)
	}
}

// sweep looks at all connections, once in a while.
func (l *eventLoop) sweep() {
	idle := l.e.portable.o.Limits().Idle
	for c := range l.conns {
		switch {
		case idle > 0 && !c.closing && !c.paused && time.Duration(l.now.Mono-c.s.LastMono()) >= idle:
			l.drop(c)
		case len(c.out)+c.kept > 0 && l.tooLong(c):
			l.drop(c)
		}
	}
}

// resumeDue resumes the sessions that have waited long enough. Whoever may go on
// before was woken.
func (l *eventLoop) resumeDue() {
	next := int64(math.MaxInt64)
	for c := range l.paused {
		waits, until := c.s.Suspended()
		if !waits || l.now.Mono >= until {
			l.resume(c)
			l.flush(c)
		}
		if c.paused {
			_, until = c.s.Suspended()
			next = min(next, until)
		}
	}
	l.nextResume = next
}

// lookAtTimes goes on with what waits for a moment.
func (l *eventLoop) lookAtTimes() {
	for c := range l.held {
		if l.flush(c) && c.closing && !c.lingers {
			l.hangUp(c)
		}
	}
	if len(l.paused) > 0 && l.now.Mono >= l.nextResume {
		l.resumeDue()
	}
	for c := range l.ends {
		if l.now.Mono >= c.deadline || c.lingers && l.now.Mono >= c.quiet {
			l.drop(c)
		}
	}
	if l.now.Mono-l.swept >= int64(sweepPeriod) {
		l.swept = l.now.Mono
		l.sweep()
	}
}
