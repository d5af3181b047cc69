package netdrive

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"time"
)

// Secure makes of a plain listener one whose connections the drivers serve by
// TLS, each with the configuration of the moment at which it came.
func Secure(l net.Listener, config func() *tls.Config) net.Listener {
	return &secureListener{l, config}
}

type secureListener struct {
	net.Listener
	config func() *tls.Config
}

// Accept gives the connection before any handshake: that is the driver's.
func (l *secureListener) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &secureConn{nc, l.config()}, nil
}

// secureConn is a connection that is to speak TLS, and does not yet.
type secureConn struct {
	net.Conn
	config *tls.Config
}

// records is what TLS writes its records to. They go through the outbox, which
// takes them whole and at once: for TLS a connection is dead after a write that
// was cut short, and so it never sees one.
//
//	replies -> tls -> records -> outbox -> socket
//	requests <- tls <- socket
type records struct {
	net.Conn
	out *outbox
}

func (r *records) Write(b []byte) (int, error) {
	if !r.out.put(b) {
		return 0, net.ErrClosed
	}
	return len(b), nil
}

// SetWriteDeadline has no meaning here: TLS sets one for its last record.
func (r *records) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline would set both.
func (r *records) SetDeadline(time.Time) error { return errors.ErrUnsupported }

// shake does the handshake, within its time; false when the connection is over.
// A plain connection has none.
func (c *conn) shake() bool {
	if c.tls == nil {
		return true
	}
	limits := c.p.o.Limits()
	if limits.HandshakeTime > 0 {
		c.nc.SetReadDeadline(time.Now().Add(limits.HandshakeTime))
	}
	err := c.tls.Handshake()
	c.nc.SetReadDeadline(time.Time{})
	c.p.shaken(c)
	if err == nil && c.killed.Load() {
		// Requests may have come with the last message of the handshake: they must
		// not be executed, as no reply can reach the client.
		return false
	}
	if err != nil {
		c.p.counters.handshakesFailed.Add(1)
		c.p.o.Log.Debug("TLS handshake failed", "client", c.s.Remote(), "error", err)
		c.gone = errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded)
		return false
	}
	if text := c.p.unwelcome(c.nc); text != "" { // said now, so that the client can read it
		c.p.counters.rejected.Add(1)
		c.s.W.Error(text)
		c.out.flush()
		return false
	}
	return true
}

// farewell tells the other end of TLS that nothing follows.
func (c *conn) farewell() {
	if c.tls != nil && !c.killed.Load() {
		c.tls.CloseWrite() // fails before the handshake, when there is nothing to say
	}
}

// shaking notes a new connection that has its handshake before it. When there are
// too many such, the one that has had the most time is closed. p.mu is held.
func (p *Portable) shaking(c *conn) {
	most := p.o.Limits().Handshakes
	if p.unshaken = append(p.unshaken, c); most > 0 && len(p.unshaken) > most {
		p.counters.rejected.Add(1) // before the client can see it
		p.unshaken[0].cut()
		p.unshaken = slices.Delete(p.unshaken, 0, 1)
	}
}

// shaken notes that a handshake is over, one way or the other.
func (p *Portable) shaken(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.unshaken, c); i >= 0 {
		p.unshaken = slices.Delete(p.unshaken, i, i+1)
	}
}
