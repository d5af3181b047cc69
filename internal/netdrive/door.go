package netdrive

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/resp"
)

// door decides who may come in, and counts; the drivers share it.
type door struct {
	o        Options
	counters counters
	work     work
}

type counters struct {
	rejected, in, out, reads, writes, queryLimit, outputLimit, handshakesFailed atomic.Uint64
}

// Stats sums what happened since the start.
func (d *door) Stats() Stats {
	c := &d.counters
	s := Stats{
		Rejected: c.rejected.Load(), In: c.in.Load(), Out: c.out.Load(),
		Reads: c.reads.Load(), Writes: c.writes.Load(),
		QueryLimit: c.queryLimit.Load(), OutputLimit: c.outputLimit.Load(),
		HandshakesFailed: c.handshakesFailed.Load(),
	}
	d.work.addTo(&s)
	return s
}

// admit makes the session of a new connection, or refuses it and closes it. One
// by TLS may still be unwelcome, which it learns after its handshake.
func (d *door) admit(nc net.Conn, links session.Links) (s *session.Session, ok bool) {
	limits := d.o.Limits()
	if text := d.unwelcome(nc); text != "" && !links.TLS {
		d.refuse(nc, text)
		return nil, false
	}
	if tcp, ok := nc.(*net.TCPConn); ok {
		tcp.SetKeepAliveConfig(net.KeepAliveConfig{
			Enable: limits.KeepAlive > 0, Idle: limits.KeepAlive, Interval: limits.KeepAlive / 3, Count: 3,
		})
	}
	s, ok = d.o.Registry.Add(addressText(nc, nc.RemoteAddr()), addressText(nc, nc.LocalAddr()), d.o.Now(), limits.Clients, links)
	switch {
	case !ok && links.TLS: // no handshake is worth it: the client finds the connection closed
		d.counters.rejected.Add(1)
		nc.Close()
	case !ok:
		d.refuse(nc, reply.MaxClients)
	}
	return s, ok
}

// unwelcome says why the other end may not be a client; "": it may.
func (d *door) unwelcome(nc net.Conn) string {
	if d.o.Limits().LoopbackOnly && !fromHere(nc.RemoteAddr()) {
		return reply.Protected
	}
	return ""
}

// queryTooLong says whether a request that is not complete, with the commands
// that are queued since MULTI, is over its limit, and notes it.
func (d *door) queryTooLong(s *session.Session, bytes int) bool {
	limits := d.o.Limits()
	limit, over := limits.Request, limits.Request > 0 && bytes > limits.Request
	if !over {
		if s.Transaction != nil {
			bytes += s.Transaction.Bytes
		}
		limit = limits.QueryBuffer
		over = limit > 0 && bytes > limit
	}
	if !over {
		return false
	}
	d.counters.queryLimit.Add(1)
	d.o.Log.Warn("client closed: its request is over the query buffer limit", "client", s.Remote(), "bytes", bytes, "limit", limit)
	return true
}

// backlog watches the replies that wait for one client.
type backlog struct {
	over time.Time // since when they are above the soft limit; zero: they are not
}

// tooLong says whether the waiting replies are over the client's limits, and
// notes it.
func (b *backlog) tooLong(d *door, s *session.Session, bytes int) bool {
	limits := d.o.Limits()
	if s.Subscribed() {
		limits.OutputHard, limits.OutputSoft, limits.OutputSoftTime = limits.PubSubHard, limits.PubSubSoft, limits.PubSubSoftTime
	}
	s.SetOutput(bytes)
	if limits.OutputSoft <= 0 || bytes <= limits.OutputSoft {
		b.over = time.Time{}
	} else if b.over.IsZero() {
		b.over = time.Now()
	}
	hard := limits.OutputHard > 0 && bytes > limits.OutputHard
	soft := !b.over.IsZero() && time.Since(b.over) >= limits.OutputSoftTime
	if !hard && !soft {
		return false
	}
	d.counters.outputLimit.Add(1)
	d.o.Log.Warn("client closed: it does not read its replies", "client", s.Remote(), "bytes", bytes)
	return true
}

// refuseTimeout bounds the write of a refusal. A socket takes it at once; what has no
// buffer waits for its reader.
const refuseTimeout = time.Second

func (d *door) refuse(nc net.Conn, text string) {
	d.counters.rejected.Add(1)
	var w resp.Writer
	w.Error(text)
	nc.SetWriteDeadline(time.Now().Add(refuseTimeout))
	nc.Write(w.B) // the peer may be gone; there is nobody to tell
	nc.Close()
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
