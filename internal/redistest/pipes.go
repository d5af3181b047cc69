package redistest

import (
	"bufio"
	"net"
	"testing"
)

// Pipes is a listener for the server's ends of pipes: a network inside the process,
// for virtual time.
type Pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

// NewPipes makes one.
func NewPipes() *Pipes { return &Pipes{make(chan net.Conn), make(chan struct{})} }

// Accept implements [net.Listener].
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case nc := <-p.conns:
		return nc, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener]. It may be called twice.
func (p *Pipes) Close() error {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	return nil
}

// Addr implements [net.Listener].
func (p *Pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// Connect gives the client's end of a pipe whose server's end sees the address.
func (p *Pipes) Connect(from string) net.Conn {
	client, server := net.Pipe()
	p.conns <- pipeFrom{server, &net.TCPAddr{IP: net.ParseIP(from), Port: 1234}}
	return client
}

// Dial connects a client of this machine. The connection is closed with the test.
func (p *Pipes) Dial(tb testing.TB) *Conn {
	tb.Helper()
	nc := p.Connect("127.0.0.1")
	tb.Cleanup(func() { nc.Close() })
	return &Conn{tb: tb, nc: nc, rd: bufio.NewReader(nc)}
}

type pipeFrom struct {
	net.Conn
	remote net.Addr
}

// RemoteAddr implements [net.Conn].
func (p pipeFrom) RemoteAddr() net.Addr { return p.remote }
