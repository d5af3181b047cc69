package netdrive

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-kv/bowline/internal/session"
)

// Portable is the driver with one goroutine per connection. Its methods may be
// called from any goroutine.
type Portable struct {
	door
	batches  batchList
	running  sync.WaitGroup // accept loops and connections
	stopping atomic.Bool

	mu        sync.Mutex
	listeners map[net.Listener]struct{} // guarded by mu
	conns     map[*conn]struct{}        // guarded by mu
	unshaken  []*conn                   // before the end of their handshake, oldest first; guarded by mu
}

// batchList keeps the batches that no connection uses at the moment. There are
// never more than ran at the same time, so nothing is thrown away: executors
// hold counters.
type batchList struct {
	mu   sync.Mutex
	free []*session.Batch // guarded by mu
}

func (l *batchList) take() *session.Batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 {
		b := l.free[n-1]
		l.free = l.free[:n-1]
		return b
	}
	return nil
}

func (l *batchList) give(b *session.Batch) {
	l.mu.Lock()
	l.free = append(l.free, b)
	l.mu.Unlock()
}

// ErrStopped is returned by [Portable.Serve] after [Portable.Shutdown].
var ErrStopped = errors.New("driver was stopped")

// NewPortable makes a driver that serves nothing yet.
func NewPortable(o Options) *Portable {
	return &Portable{door: door{o: o}, listeners: map[net.Listener]struct{}{}, conns: map[*conn]struct{}{}}
}

// acceptPause is the wait after a failed accept (no file descriptors left).
const acceptPause = 50 * time.Millisecond

// Name implements [Driver].
func (p *Portable) Name() string { return "portable" }

// Serve implements [Driver].
func (p *Portable) Serve(l net.Listener) error { return p.serve(l, p.accept) }

// serve is Serve with another taker for the connections.
func (p *Portable) serve(l net.Listener, accept func(net.Conn)) error {
	p.mu.Lock()
	if p.stopping.Load() {
		p.mu.Unlock()
		l.Close()
		return ErrStopped
	}
	p.listeners[l] = struct{}{}
	p.running.Add(1)
	p.mu.Unlock()
	defer p.running.Done()
	defer l.Close()
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			accept(nc)
		case p.stopping.Load():
			return ErrStopped
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept on %s: %w", l.Addr(), err)
		default:
			p.o.Log.Warn("accept failed", "listener", l.Addr().String(), "error", err)
			time.Sleep(acceptPause)
		}
	}
}

func (p *Portable) accept(nc net.Conn) {
	c := &conn{p: p, nc: nc, in: nc, woken: make(chan struct{}, 1)}
	c.out.init(c)
	if secure, ok := nc.(*secureConn); ok {
		nc = secure.Conn
		c.nc = nc
		c.tls = tls.Server(&records{nc, &c.out}, secure.config)
		c.in = c.tls
	}
	s, ok := p.admit(nc, session.Links{Kill: c.cut, Wake: c.wake, WakeHeld: c.wakeHeld, TLS: c.tls != nil})
	if !ok {
		return
	}
	c.s = s
	p.mu.Lock()
	if p.stopping.Load() {
		p.mu.Unlock()
		p.o.Registry.Remove(s)
		nc.Close()
		return
	}
	p.conns[c] = struct{}{}
	p.running.Add(1)
	if c.tls != nil {
		p.shaking(c)
	}
	p.mu.Unlock()
	go c.run()
}

// WakeHeld implements [Driver].
func (p *Portable) WakeHeld() { p.o.Registry.WakeHeld() }

// LimitsChanged implements [Driver].
func (p *Portable) LimitsChanged() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if !slices.Contains(p.unshaken, c) {
			c.nc.SetReadDeadline(time.Unix(1, 0)) // ends its wait, which then starts again
		}
	}
}

// Shutdown implements [Driver].
func (p *Portable) Shutdown(ctx context.Context) error {
	p.mu.Lock()
	p.stopping.Store(true)
	for l := range p.listeners {
		l.Close()
	}
	for c := range p.conns {
		c.nc.SetReadDeadline(time.Unix(1, 0)) // ends its wait for more
	}
	for _, c := range p.unshaken { // there is nothing to finish
		c.cut()
	}
	p.mu.Unlock()
	done := make(chan struct{})
	go func() { p.running.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	for c := range p.conns {
		c.cut()
	}
	p.mu.Unlock()
	<-done
	return fmt.Errorf("wait for connections: %w", ctx.Err())
}

func (p *Portable) forget(c *conn) {
	p.o.Registry.Remove(c.s)
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	p.running.Done()
}
