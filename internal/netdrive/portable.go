package netdrive

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/resp"
)

// Portable is the driver with one goroutine per connection. Its methods may be
// called from any goroutine.
type Portable struct {
	o        Options
	counters counters
	batches  batchList
	running  sync.WaitGroup // accept loops and connections
	stopping atomic.Bool

	mu        sync.Mutex
	listeners map[net.Listener]struct{} // guarded by mu
	conns     map[*conn]struct{}        // guarded by mu
}

type counters struct {
	rejected, in, out, reads, writes, queryLimit, outputLimit atomic.Uint64
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
	return &Portable{o: o, listeners: map[net.Listener]struct{}{}, conns: map[*conn]struct{}{}}
}

// Stats sums what happened since the start.
func (p *Portable) Stats() Stats {
	c := &p.counters
	return Stats{
		Rejected: c.rejected.Load(), In: c.in.Load(), Out: c.out.Load(),
		Reads: c.reads.Load(), Writes: c.writes.Load(),
		QueryLimit: c.queryLimit.Load(), OutputLimit: c.outputLimit.Load(),
	}
}

// acceptPause is the wait after a failed accept (no file descriptors left).
const acceptPause = 50 * time.Millisecond

// Serve accepts connections until the listener fails or Shutdown is called,
// which gives [ErrStopped]. It closes the listener.
func (p *Portable) Serve(l net.Listener) error {
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
			p.accept(nc)
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

// refuseTimeout bounds the write of a refusal.
const refuseTimeout = 100 * time.Millisecond

func (p *Portable) refuse(nc net.Conn, text string) {
	p.counters.rejected.Add(1)
	var w resp.Writer
	w.Error(text)
	nc.SetWriteDeadline(time.Now().Add(refuseTimeout))
	nc.Write(w.B) // the peer may be gone; there is nobody to tell
	nc.Close()
}

func (p *Portable) accept(nc net.Conn) {
	limits := p.o.Limits()
	if limits.LoopbackOnly && !fromHere(nc.RemoteAddr()) {
		p.refuse(nc, reply.Protected)
		return
	}
	if tcp, ok := nc.(*net.TCPConn); ok {
		tcp.SetKeepAliveConfig(net.KeepAliveConfig{
			Enable: limits.KeepAlive > 0, Idle: limits.KeepAlive, Interval: limits.KeepAlive / 3, Count: 3,
		})
	}
	c := &conn{p: p, nc: nc}
	s, ok := p.o.Registry.Add(addressText(nc, nc.RemoteAddr()), addressText(nc, nc.LocalAddr()), p.o.Now(), limits.Clients, c.cut)
	if !ok {
		p.refuse(nc, reply.MaxClients)
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
	p.mu.Unlock()
	go c.run()
}

// fromHere says whether the peer is on this machine.
func fromHere(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// addressText writes an address as Redis does: the path of a unix socket, which
// the client's end has not, with port 0.
func addressText(nc net.Conn, a net.Addr) string {
	if a.Network() == "unix" {
		return nc.LocalAddr().String() + ":0"
	}
	return a.String()
}

// Shutdown stops accepting, lets each connection finish the commands that it
// has received and closes it. When ctx ends first, what is left is cut off and
// the context's error returned. It may be called more than once.
func (p *Portable) Shutdown(ctx context.Context) error {
	p.mu.Lock()
	p.stopping.Store(true)
	for l := range p.listeners {
		l.Close()
	}
	for c := range p.conns {
		c.nc.SetReadDeadline(time.Unix(1, 0)) // ends its wait for more
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
