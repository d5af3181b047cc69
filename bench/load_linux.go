package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bowline-kv/bowline/internal/histogram"
)

// loadMain is the whole life of a load process.
func loadMain(in io.Reader, out io.Writer) error {
	// What it allocates is small and done before the first slice; a collection
	// would only blur the measurement.
	debug.SetGCPercent(-1)
	orders, results := json.NewDecoder(in), json.NewEncoder(out)
	var spec loadSpec
	if err := orders.Decode(&spec); err != nil {
		return fmt.Errorf("read the load's specification: %w", err)
	}
	l, err := newLoad(spec)
	if err != nil {
		return err
	}
	defer l.close()
	for {
		var o loadOrder
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read an order: %w", err)
		}
		if err := results.Encode(l.slice(o)); err != nil {
			return fmt.Errorf("report a slice: %w", err)
		}
	}
}

// load drives all connections from one thread:
//
//	wait -> read each ready socket once -> all replies there? count it, send the next pipeline
type load struct {
	spec     loadSpec
	template template
	poll     int // epoll descriptor
	conns    []*loadConn
	in       []byte
	events   []unix.EpollEvent

	numbers numbers
	left    int64 // commands of the slice that are not yet sent
	busy    int   // connections that wait for replies
	latency histogram.Histogram
}

// loadConn is one connection.
type loadConn struct {
	fd       int
	pipeline []byte // as long as the longest, filled in anew each time
	unsent   []byte // end of pipeline that the socket did not take
	waiting  int    // replies to come
	sent     time.Time
	replies  counter
}

func newLoad(spec loadSpec) (*load, error) {
	w := findWorkload(spec.Workload)
	if w == nil || spec.Connections < 1 || spec.Pipeline < 1 || spec.Keys < 1 {
		return nil, fmt.Errorf("no such load: %+v", spec)
	}
	if w.keys > 0 {
		spec.Keys = w.keys
	}
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make an epoll instance: %w", err)
	}
	l := &load{
		spec: spec, template: w.template(spec.ValueBytes), poll: poll,
		in: make([]byte, 64<<10), events: make([]unix.EpollEvent, 256),
	}
	for i := range spec.Connections {
		fd, err := connect(spec.Address)
		if err != nil {
			l.close()
			return nil, err
		}
		l.conns = append(l.conns, &loadConn{fd: fd, pipeline: l.template.repeat(spec.Pipeline)})
		if err := l.arm(unix.EPOLL_CTL_ADD, i, unix.EPOLLIN); err != nil {
			l.close()
			return nil, err
		}
	}
	return l, nil
}

func (l *load) close() {
	for _, c := range l.conns {
		unix.Close(c.fd)
	}
	unix.Close(l.poll)
}

// arm says what connection i waits for.
func (l *load) arm(op, i int, events uint32) error {
	if err := unix.EpollCtl(l.poll, op, l.conns[i].fd, &unix.EpollEvent{Events: events, Fd: int32(i)}); err != nil {
		return fmt.Errorf("watch a connection: %w", err)
	}
	return nil
}

// slice sends the ordered number of commands and waits for all replies.
func (l *load) slice(o loadOrder) loadResult {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l.numbers = numbers{
		state: o.Seed, keys: uint64(l.spec.Keys), order: o.Order,
		expiry: uint64(l.spec.Expiry), expirySpread: uint64(l.spec.ExpirySpread),
	}
	l.left, l.latency = o.Commands, histogram.Histogram{}
	for _, c := range l.conns {
		c.replies = counter{}
	}
	cpu, began := ownCPU(), time.Now()
	err := l.run()
	r := loadResult{
		Commands:     o.Commands,
		ElapsedNanos: int64(time.Since(began)),
		CPUNanos:     int64(ownCPU() - cpu),
		Latency:      l.latency,
	}
	for _, c := range l.conns {
		r.Nulls += c.replies.nulls
		r.Errors += c.replies.errors
		if r.FirstError == "" {
			r.FirstError = c.replies.firstErr
		}
	}
	if err != nil {
		r.Failure = err.Error()
	}
	return r
}

func (l *load) run() error {
	now := time.Now()
	for i := range l.conns {
		if err := l.send(i, now); err != nil {
			return err
		}
	}
	for l.busy > 0 {
		n, err := unix.EpollWait(l.poll, l.events, -1)
		if err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return fmt.Errorf("wait for replies: %w", err)
		}
		for i := range l.events[:n] {
			if err := l.handle(&l.events[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *load) handle(ev *unix.EpollEvent) error {
	i := int(ev.Fd)
	if ev.Events&unix.EPOLLOUT != 0 {
		if err := l.resume(i); err != nil {
			return err
		}
	}
	if ev.Events&^unix.EPOLLOUT == 0 {
		return nil
	}
	c := l.conns[i]
	n, err := unix.Read(c.fd, l.in)
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		return nil
	case err != nil:
		return fmt.Errorf("read replies: %w", err)
	case n == 0:
		return fmt.Errorf("read replies: %w", io.ErrUnexpectedEOF)
	}
	got, err := c.replies.count(l.in[:n])
	if err != nil {
		return err
	}
	if got > c.waiting {
		return fmt.Errorf("%d replies where %d were due", got, c.waiting)
	}
	if c.waiting -= got; c.waiting > 0 {
		return nil
	}
	now := time.Now()
	l.latency.Add(now.Sub(c.sent))
	l.busy--
	return l.send(i, now)
}

// send starts the next pipeline of connection i, if there is one.
func (l *load) send(i int, now time.Time) error {
	n := int(min(l.left, int64(l.spec.Pipeline)))
	if n == 0 {
		return nil
	}
	l.left -= int64(n)
	l.busy++
	c := l.conns[i]
	for k := range n {
		l.template.fill(c.pipeline, k, &l.numbers)
	}
	c.waiting, c.sent = n, now
	c.unsent = c.pipeline[:n*len(l.template.bytes)]
	if err := c.write(); err != nil || len(c.unsent) == 0 {
		return err
	}
	return l.arm(unix.EPOLL_CTL_MOD, i, unix.EPOLLIN|unix.EPOLLOUT)
}

// resume goes on with a pipeline that the socket did not take at once.
func (l *load) resume(i int) error {
	c := l.conns[i]
	if err := c.write(); err != nil || len(c.unsent) > 0 {
		return err
	}
	return l.arm(unix.EPOLL_CTL_MOD, i, unix.EPOLLIN)
}

// write gives the socket what it takes.
func (c *loadConn) write() error {
	n, err := unix.Write(c.fd, c.unsent)
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		return nil
	case err != nil:
		return fmt.Errorf("send commands: %w", err)
	}
	c.unsent = c.unsent[n:]
	return nil
}
