package netdrive

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/bowline-kv/bowline/internal/session"
)

// New makes the best driver for this system.
func New(o Options) Driver { return NewEpoll(o) }

// Epoll is the driver with one event loop per core, for plain TCP and unix
// sockets. Other connections (TLS, pipes) go to a [Portable] driver inside it.
//
//	loop 0   conn conn conn conn        takes all new connections ...
//	loop 1   conn conn                  ... until it is busy and hands some over
//
// Loops are packed, not spread: waking a second, half-idle thread costs more
// than it brings as long as one keeps up, or where there is no core for it. See
// [eventLoop.balance] and [trial].
type Epoll struct {
	portable *Portable
	loops    []*eventLoop
	start    sync.Once
	stop     sync.Once
	startErr error
	running  sync.WaitGroup // loops
	opened   atomic.Bool    // loops is filled, and stays
	trial    trial
}

// NewEpoll makes a driver that serves nothing yet.
func NewEpoll(o Options) Driver { return &Epoll{portable: NewPortable(o)} }

// Name implements [Driver].
func (e *Epoll) Name() string { return "epoll" }

// WakeHeld implements [Driver]: each loop is woken once, however many of its
// connections have replies that wait.
func (e *Epoll) WakeHeld() {
	if e.opened.Load() {
		for _, l := range e.loops {
			if l.waits.Load() {
				l.post((*eventLoop).lookAgain)
			}
		}
	}
	e.portable.WakeHeld()
}

// LimitsChanged implements [Driver]; the loops look often enough.
func (e *Epoll) LimitsChanged() { e.portable.LimitsChanged() }

// Stats implements [Driver].
func (e *Epoll) Stats() Stats {
	s := e.portable.Stats()
	if e.opened.Load() {
		for _, l := range e.loops {
			l.work.addTo(&s)
		}
	}
	return s
}

// open makes the loops; each starts its thread with its first connection.
func (e *Epoll) open() error {
	e.start.Do(func() {
		for i := range runtime.GOMAXPROCS(0) {
			l, err := newEventLoop(e, i)
			if err != nil {
				e.startErr = fmt.Errorf("open event loop %d: %w", i, err)
				return
			}
			e.loops = append(e.loops, l)
		}
		e.opened.Store(true)
		for _, l := range e.loops {
			e.running.Go(l.run)
		}
	})
	return e.startErr
}

// Serve implements [Driver].
func (e *Epoll) Serve(l net.Listener) error {
	if err := e.open(); err != nil {
		l.Close()
		return err
	}
	return e.portable.serve(l, func(nc net.Conn) {
		raw, ok := nc.(syscall.Conn)
		if !ok {
			e.portable.accept(nc)
			return
		}
		e.accept(nc, raw)
	})
}

func (e *Epoll) accept(nc net.Conn, raw syscall.Conn) {
	c := &socket{fd: -1}
	c.loop.Store(e.loops[0])
	s, ok := e.portable.admit(nc, session.Links{Kill: c.kill, Wake: c.wake})
	if !ok {
		return
	}
	c.s = s
	fd, err := takeDescriptor(nc, raw)
	if err != nil {
		e.portable.o.Log.Warn("connection lost", "client", s.Remote(), "error", err)
		e.portable.o.Registry.Remove(s)
		return
	}
	c.fd = fd
	e.loops[0].post(func(l *eventLoop) { l.add(c) })
}

// takeDescriptor takes a socket out of the runtime's poller.
func takeDescriptor(nc net.Conn, raw syscall.Conn) (fd int, err error) {
	defer nc.Close()
	rc, err := raw.SyscallConn()
	if err != nil {
		return -1, fmt.Errorf("take over socket: %w", err)
	}
	fd = -1
	controlErr := rc.Control(func(old uintptr) { fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(controlErr, err); err != nil {
		return -1, fmt.Errorf("take over socket: %w", err)
	}
	return fd, nil
}

// Shutdown implements [Driver].
func (e *Epoll) Shutdown(ctx context.Context) error {
	err := e.portable.Shutdown(ctx)
	if openErr := e.open(); openErr != nil { // never served: nothing to stop
		return errors.Join(err, openErr)
	}
	for _, l := range e.loops {
		l.post((*eventLoop).finish)
	}
	done := make(chan struct{})
	go func() { e.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		for _, l := range e.loops {
			l.post((*eventLoop).cutAll)
		}
		<-done
		err = errors.Join(err, fmt.Errorf("wait for connections: %w", ctx.Err()))
	}
	e.stop.Do(func() {
		for _, l := range e.loops {
			l.close()
		}
	})
	return err
}
