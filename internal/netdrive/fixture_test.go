package netdrive

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bowline-kv/bowline/internal/acl"
	"github.com/bowline-kv/bowline/internal/secure"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait; nothing is expected to need it.
const patience = 30 * time.Second

// host is the process of the sessions: open, with a log that is durable up to a
// number.
type host struct{ durable *atomic.Uint64 }

// everybody is the user of all sessions.
var everybody = session.NewAccount(acl.NewDefault(""))

func (host) Identity() session.Identity      { return session.Identity{Databases: 1} }
func (host) Account(string) *session.Account { return everybody }
func (h host) Durable(p shard.Position) bool { return uint64(p.Seq) <= h.durable.Load() }
func (host) Authenticate(*session.Session, session.Instant, []byte, string, []byte) *session.Account {
	return everybody
}

func (host) BulkMax() int { return 512 << 20 }

// fixture is a driver that serves a listener on loopback, by an executor that
// knows a few commands: PING, ECHO x, FILL n (a reply of n bytes), COUNT (how
// many the connection has counted so far), HOLD n ms (a reply that waits for
// position n of the log, for so many milliseconds; 0: for ever), QUEUE x (as
// between MULTI and EXEC), BLOCK ms (waits for an answer), ANSWER x (gives it to
// all who wait), and QUIT.
type fixture struct {
	driver   Driver
	registry *session.Registry
	limits   atomic.Pointer[Limits]
	addr     string
	client   *tls.Config // nil: clients connect without TLS
	counts   sync.Map    // session id to *atomic.Int64
	blocked  sync.Map    // session id to *session.Session
	executed atomic.Int64
	durable  atomic.Uint64
	endTick  atomic.Pointer[func()] // nil: nothing is done
}

// drivers are what every test of this package holds for.
var drivers = map[string]func(Options) Driver{
	"portable": func(o Options) Driver { return NewPortable(o) },
	"epoll":    NewEpoll,
}

// forDrivers runs a test with each driver, and by TLS.
func forDrivers(t *testing.T, limits Limits, test func(t *testing.T, f *fixture)) {
	forPlain(t, limits, test)
	forTLS(t, limits, test)
}

// forPlain runs a test with each driver.
func forPlain(t *testing.T, limits Limits, test func(t *testing.T, f *fixture)) {
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, open, limits)
			f.listen(t, "tcp", "127.0.0.1:0")
			test(t, f)
		})
	}
}

// forTLS runs a test by TLS, with the driver that is the default on this system.
func forTLS(t *testing.T, limits Limits, test func(t *testing.T, f *fixture)) {
	t.Run("TLS", func(t *testing.T) {
		f := newFixture(t, New, limits)
		f.listenTLS(t)
		test(t, f)
	})
}

func newFixture(t *testing.T, open func(Options) Driver, limits Limits) *fixture {
	f := &fixture{}
	f.registry = session.NewRegistry(host{&f.durable})
	if limits.Clients == 0 {
		limits.Clients = 100
	}
	f.limits.Store(&limits)
	began := time.Now()
	f.driver = open(Options{
		Registry:    f.registry,
		NewExecutor: func() session.Executor { return &executor{f} },
		Now: func() session.Instant {
			now := time.Now()
			return session.Instant{Wall: now.UnixMicro(), Mono: int64(now.Sub(began)) + 1}
		},
		Limits: func() Limits { return *f.limits.Load() },
		EndTick: func() {
			if end := f.endTick.Load(); end != nil {
				(*end)()
			}
		},
		Log: slog.New(slog.DiscardHandler),
	})
	return f
}

// listen serves an address until the test ends.
func (f *fixture) listen(t *testing.T, network, addr string) {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	f.addr = l.Addr().String()
	f.serve(t, l)
}

func (f *fixture) serve(t *testing.T, l net.Listener) {
	served := make(chan error, 1)
	go func() { served <- f.driver.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := f.driver.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != ErrStopped {
			t.Errorf("Serve gives %v", err)
		}
		if n := f.registry.Len(); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
}

// listenTLS serves an address with a certificate of its own.
func (f *fixture) listenTLS(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.addr = l.Addr().String()
	server := material(t)
	f.client = &tls.Config{RootCAs: server.ClientCAs, ServerName: "node"}
	f.serve(t, Secure(l, func() *tls.Config { return server }))
}

// material is the configuration of a node; its ClientCAs know the certificate.
var material = func() func(t *testing.T) *tls.Config {
	once := sync.OnceValues(func() (*tls.Config, error) {
		authority, err := secure.NewAuthority(rand.Reader, time.Now(), time.Hour)
		if err != nil {
			return nil, err
		}
		cert, key, err := authority.Issue(time.Now(), time.Hour, "node")
		if err != nil {
			return nil, err
		}
		files := map[string][]byte{"cert": cert, "key": key, "ca": authority.PEM}
		m, err := secure.Load(secure.Settings{CertFile: "cert", KeyFile: "key", CAFile: "ca", AuthClients: "no", Tickets: true},
			secure.Files{ReadFile: func(path string) ([]byte, error) { return files[path], nil }})
		if err != nil {
			return nil, err
		}
		return m.Server, nil
	})
	return func(t *testing.T) *tls.Config {
		t.Helper()
		c, err := once()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
}()

func (f *fixture) setLimits(change func(l *Limits)) {
	l := *f.limits.Load()
	change(&l)
	f.limits.Store(&l)
}

// executor runs the fixture's commands.
type executor struct{ f *fixture }

func (e *executor) Execute(s *session.Session, b *session.Batch) int {
	for i := range b.Commands {
		e.f.executed.Add(1)
		e.run(s, b.Now, b.Commands[i].Args)
		if s.Closing || len(s.W.B) >= session.OutputHigh || s.Blocked() {
			return i + 1
		}
	}
	return len(b.Commands)
}

// GiveUp implements session.Executor.
func (e *executor) GiveUp(s *session.Session) bool {
	if _, waits := e.f.blocked.LoadAndDelete(s.ID); !waits {
		return false
	}
	s.W.NullArray()
	return true
}

func (e *executor) run(s *session.Session, now session.Instant, args [][]byte) {
	switch string(bytes.ToUpper(args[0])) {
	case "PING":
		s.W.Simple("PONG")
	case "ECHO":
		s.W.Bulk(args[1])
	case "FILL":
		n, _ := strconv.Atoi(string(args[1]))
		s.W.Bulk(make([]byte, n))
	case "COUNT":
		n, _ := e.f.counts.LoadOrStore(s.ID, new(atomic.Int64))
		s.W.Int(n.(*atomic.Int64).Add(1))
	case "QUEUE":
		if s.Transaction == nil {
			s.Begin()
		}
		s.Queue(&session.Command{Args: args})
		s.W.Simple("QUEUED")
	case "HOLD":
		seq, _ := strconv.Atoi(string(args[1]))
		millis, _ := strconv.Atoi(string(args[2]))
		deadline := int64(0)
		if millis > 0 {
			deadline = now.Mono + int64(millis)*1e6
		}
		at := len(s.W.B)
		s.W.Simple("HELD")
		s.Hold(at, shard.Position{Seq: shard.Sequence(seq)}, deadline)
	case "BLOCK": // milliseconds, 0: for ever
		millis, _ := strconv.Atoi(string(args[1]))
		until := int64(0)
		if millis > 0 {
			until = now.Mono + int64(millis)*1e6
		}
		s.Block(until)
		e.f.blocked.Store(s.ID, s)
	case "ANSWER": // the only one that is blocked
		answered := int64(0)
		e.f.blocked.Range(func(id, other any) bool {
			if _, waits := e.f.blocked.LoadAndDelete(id); waits {
				w := resp.Writer{Proto: 2}
				w.Bulk(args[1])
				other.(*session.Session).Answer(w, nil)
				answered++
			}
			return true
		})
		s.W.Int(answered)
	case "QUIT":
		s.W.OK()
		s.Closing = true
	default:
		s.W.Error("ERR no such command")
	}
}

// dial connects; the connection is closed before the driver is stopped.
func (f *fixture) dial(t *testing.T) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	nc = f.wrap(nc)
	nc.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { nc.Close() })
	return nc
}

// wrap lets a connection speak as the fixture's clients do.
func (f *fixture) wrap(nc net.Conn) net.Conn {
	if f.client != nil {
		return tls.Client(nc, f.client)
	}
	return nc
}

func send(t *testing.T, nc net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(nc, text); err != nil {
		t.Fatalf("write %.50q: %v", text, err)
	}
}

// want reads exactly the text.
func want(t *testing.T, nc net.Conn, text string) {
	t.Helper()
	got := make([]byte, len(text))
	n, err := io.ReadFull(nc, got)
	if err != nil || string(got) != text {
		t.Fatalf("reply %.100q, %v, want %.100q", got[:n], err, text)
	}
}

// wantEnd reads to the end of the stream, which has to be the text.
func wantEnd(t *testing.T, nc net.Conn, text string) {
	t.Helper()
	got, err := io.ReadAll(nc)
	if err != nil || string(got) != text {
		t.Fatalf("%.100q (%d bytes), %v, want %.100q and the end", got, len(got), err, text)
	}
}

func ping(t *testing.T, nc net.Conn) {
	t.Helper()
	send(t, nc, "PING\r\n")
	want(t, nc, "+PONG\r\n")
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("this does not come true: %s", what)
		}
	}
}

// command is a request in wire form.
func command(args ...string) string {
	text := fmt.Sprintf("*%d\r\n", len(args))
	for _, a := range args {
		text += fmt.Sprintf("$%d\r\n%s\r\n", len(a), a)
	}
	return text
}
