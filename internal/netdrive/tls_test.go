package netdrive

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/reply"
)

// stall connects and does not begin its handshake.
func stall(t *testing.T, f *fixture) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	nc.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { nc.Close() })
	return nc
}

func TestUnfinishedHandshakesKeepNobodyWaiting(t *testing.T) {
	forTLS(t, Limits{}, func(t *testing.T, f *fixture) {
		for range 20 {
			nc := stall(t, f)
			send(t, nc, "\x16\x03\x01\x02") // the beginning of a first record
		}
		nc := f.dial(t)
		ping(t, nc)
		eventually(t, "all are listed", func() bool { return f.registry.Len() == 21 })
		f.driver.LimitsChanged() // does not end them
		ping(t, nc)
		if n := f.registry.Len(); n != 21 {
			t.Errorf("%d sessions are left", n)
		}
		// Stopping the driver, which the test's end does, does not wait for them.
	})
}

func TestHandshakesHaveLimits(t *testing.T) {
	t.Run("time", func(t *testing.T) {
		forTLS(t, Limits{HandshakeTime: 10 * time.Millisecond}, func(t *testing.T, f *fixture) {
			wantEnd(t, stall(t, f), "")
			f.setLimits(func(l *Limits) { l.HandshakeTime = patience })
			nc := f.dial(t)
			ping(t, nc)
			if n := f.driver.Stats().HandshakesFailed; n != 1 {
				t.Errorf("%d handshakes failed, want 1", n)
			}
		})
	})
	t.Run("number", func(t *testing.T) {
		forTLS(t, Limits{Handshakes: 3}, func(t *testing.T, f *fixture) {
			done := f.dial(t)
			ping(t, done) // counts no longer
			oldest, other := stall(t, f), stall(t, f)
			eventually(t, "they are listed", func() bool { return f.registry.Len() == 3 })
			stall(t, f)
			stall(t, f)
			wantEnd(t, oldest, "")
			ping(t, done)
			other.SetDeadline(time.Now().Add(time.Millisecond))
			if _, err := other.Read(make([]byte, 1)); err == io.EOF {
				t.Error("more than one was cut off")
			}
			if n := f.driver.Stats().Rejected; n != 1 {
				t.Errorf("%d rejected, want 1", n)
			}
		})
	})
}

func TestPlainTextAtATLSPortIsCutOff(t *testing.T) {
	forTLS(t, Limits{}, func(t *testing.T, f *fixture) {
		nc := stall(t, f)
		send(t, nc, "PING\r\n")
		got, _ := io.ReadAll(nc)
		if strings.Contains(string(got), "PONG") {
			t.Errorf("the answer is %q", got)
		}
		if n := f.executed.Load(); n != 0 {
			t.Errorf("%d commands were executed", n)
		}
		ping(t, f.dial(t))
	})
}

// A client by TLS reads why it may not come in. (From this machine it may, so the
// test takes a listener whose connections come from elsewhere.)
func TestStrangersLearnByTLSWhyTheyAreRefused(t *testing.T) {
	f := newFixture(t, New, Limits{LoopbackOnly: true})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.addr = l.Addr().String()
	server := material(t)
	f.client = &tls.Config{RootCAs: server.ClientCAs, ServerName: "node"}
	f.serve(t, Secure(strangers{l}, func() *tls.Config { return server }))
	wantEnd(t, f.dial(t), "-"+reply.Protected+"\r\n")
	if s := f.driver.Stats(); s.Rejected != 1 || s.HandshakesFailed != 0 {
		t.Errorf("%+v", s)
	}
	f.setLimits(func(l *Limits) { l.LoopbackOnly = false })
	ping(t, f.dial(t))
}

// strangers are connections whose other end is on another machine.
type strangers struct{ net.Listener }

func (l strangers) Accept() (net.Conn, error) {
	nc, err := l.Listener.Accept()
	return stranger{nc}, err
}

type stranger struct{ net.Conn }

func (stranger) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 7} }

// A client that reads slowly gets everything: no write of TLS is cut short.
func TestSlowReadersGetTheirRepliesWhole(t *testing.T) {
	forTLS(t, Limits{}, func(t *testing.T, f *fixture) {
		nc := f.dial(t)
		const n, size = 24, 1 << 20 // more than the system's buffers take
		go io.WriteString(nc, strings.Repeat(command("FILL", "1048576"), n)+command("QUIT"))
		eventually(t, "the replies are made", func() bool { return f.executed.Load() == n+1 })
		got, err := io.ReadAll(nc)
		if want := n*(len("$1048576\r\n")+size+2) + len("+OK\r\n"); len(got) != want || err != nil {
			t.Errorf("%d bytes, %v, want %d", len(got), err, want)
		}
	})
}
