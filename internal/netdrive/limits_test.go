package netdrive

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/reply"
)

func TestConnectionsOverTheLimitAreRefusedPolitely(t *testing.T) {
	forDrivers(t, Limits{Clients: 2}, func(t *testing.T, f *fixture) {
		a, b := f.dial(t), f.dial(t)
		ping(t, a)
		ping(t, b)
		for range 3 {
			if f.client == nil {
				wantEnd(t, f.dial(t), "-"+reply.MaxClients+"\r\n")
			} else if got, _ := io.ReadAll(f.dial(t)); len(got) > 0 { // there is no handshake, and so nothing can be said
				t.Errorf("by TLS, %q is said", got)
			}
		}
		ping(t, a)
		ping(t, b)
		if n := f.driver.Stats().Rejected; n != 3 {
			t.Errorf("%d connections rejected, want 3", n)
		}
		a.Close()
		eventually(t, "a place is free", func() bool { return f.registry.Len() == 1 })
		ping(t, f.dial(t))
		f.setLimits(func(l *Limits) { l.Clients = 3 }) // counts for the next one already
		ping(t, f.dial(t))
	})
}

func TestClientThatReadsNothingIsDroppedAtItsHardLimit(t *testing.T) {
	forDrivers(t, Limits{OutputHard: 1 << 20}, func(t *testing.T, f *fixture) {
		stuck, other := f.dial(t), f.dial(t)
		one := command("FILL", "65536")
		for range 300 { // more than the system's buffers take
			if _, err := io.WriteString(stuck, one); err != nil {
				break // it was dropped
			}
			ping(t, other)
		}
		eventually(t, "the client is dropped", func() bool {
			return f.registry.Len() == 1 && f.driver.Stats().OutputLimit == 1
		})
		ping(t, other)
	})
}

// The soft limit holds for a client that sends nothing more, too.
func TestClientThatReadsNothingIsDroppedAtItsSoftLimit(t *testing.T) {
	forDrivers(t, Limits{OutputSoft: 1 << 20, OutputSoftTime: time.Millisecond}, func(t *testing.T, f *fixture) {
		stuck, other := f.dial(t), f.dial(t)
		ping(t, other)
		send(t, stuck, strings.Repeat(command("FILL", "1048576"), 20))
		eventually(t, "the client is dropped", func() bool {
			return f.registry.Len() == 1 && f.driver.Stats().OutputLimit == 1
		})
		ping(t, other)
	})
}

func TestRequestOverItsLimitIsCutOff(t *testing.T) {
	t.Run("request", func(t *testing.T) { testRequestLimit(t, Limits{Request: 1 << 20}) })
	t.Run("query buffer", func(t *testing.T) { testRequestLimit(t, Limits{QueryBuffer: 1 << 20}) })
}

func testRequestLimit(t *testing.T, limits Limits) {
	forDrivers(t, limits, func(t *testing.T, f *fixture) {
		big, other := f.dial(t), f.dial(t)
		ping(t, other)
		request := command("ECHO", strings.Repeat("x", 3<<20))
		io.WriteString(big, request) // fails when the server is quick
		io.Copy(io.Discard, big)     // ends when the server closes
		if n := f.driver.Stats().QueryLimit; n != 1 {
			t.Errorf("%d connections closed for their request, want 1", n)
		}
		ping(t, other)
		fits := f.dial(t)
		send(t, fits, command("ECHO", strings.Repeat("x", 1000<<10)))
		want(t, fits, "$1024000\r\n"+strings.Repeat("x", 1000<<10)+"\r\n")
	})
}

// On a machine that has no time for the busy client it is idle too; then another one
// goes on in its place.
func TestIdleClientsAreClosedAndOthersNot(t *testing.T) {
	const limit = 100 * time.Millisecond
	forDrivers(t, Limits{Idle: limit}, func(t *testing.T, f *fixture) {
		last := time.Now() // when the busy client began what it did last
		busy := f.dial(t)
		work := func() {
			began, reply := time.Now(), make([]byte, len("+PONG\r\n"))
			io.WriteString(busy, "PING\r\n") // a failure shows in the reply
			_, err := io.ReadFull(busy, reply)
			switch {
			case err == nil && string(reply) == "+PONG\r\n":
			case err != nil && time.Since(last) >= limit:
				busy = f.dial(t)
			default:
				t.Fatalf("%v after its last request the busy client reads %q, %v", time.Since(last), reply, err)
			}
			last = began
		}
		idle := f.dial(t)
		ping(t, idle)
		ended := make(chan error, 1)
		go func() { _, err := io.ReadAll(idle); ended <- err }()
		for {
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("the idle client sees %v", err)
				}
				work()
				return
			default:
				work()
			}
		}
	})
}

// CONFIG SET timeout concerns connections that are waiting already.
func TestNewIdleLimitHoldsForWaitingConnections(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		idle := f.dial(t)
		ping(t, idle)
		f.setLimits(func(l *Limits) { l.Idle = time.Millisecond })
		f.driver.LimitsChanged()
		wantEnd(t, idle, "")

		f.setLimits(func(l *Limits) { l.Idle = time.Hour })
		nc := f.dial(t)
		ping(t, nc)
		f.setLimits(func(l *Limits) { l.Idle = 0 })
		f.driver.LimitsChanged()
		ping(t, nc)
	})
}

func TestUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "netdrive") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, open, Limits{LoopbackOnly: true})
			f.listen(t, "unix", filepath.Join(dir, name))
			nc, err := net.Dial("unix", f.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			nc.SetDeadline(time.Now().Add(patience))
			ping(t, nc)
			if got := f.registry.All()[0].Remote(); got != f.addr+":0" {
				t.Errorf("the client's address is %q", got)
			}
			send(t, nc, strings.Repeat("PING\r\n", 1000)+"QUIT\r\n")
			wantEnd(t, nc, strings.Repeat("+PONG\r\n", 1000)+"+OK\r\n")
		})
	}
}

func TestProtectedModeRefusesOtherMachines(t *testing.T) {
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, open, Limits{LoopbackOnly: true})
			l := redistest.NewPipes()
			f.serve(t, l)
			for _, from := range []string{"10.1.2.3", "192.168.0.1", "2001:db8::1", "::ffff:10.0.0.1"} {
				wantEnd(t, l.Connect(from), "-"+reply.Protected+"\r\n")
			}
			for _, from := range []string{"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"} {
				nc := l.Connect(from)
				ping(t, nc)
				nc.Close()
			}
			f.setLimits(func(l *Limits) { l.LoopbackOnly = false })
			nc := l.Connect("10.1.2.3")
			defer nc.Close()
			ping(t, nc)
			if n := f.driver.Stats().Rejected; n != 4 {
				t.Errorf("%d connections rejected, want 4", n)
			}
		})
	}
}

// TestQueuedCommandsCountAsRequest: what waits for EXEC is memory that a client
// holds, like an incomplete request.
func TestQueuedCommandsCountAsRequest(t *testing.T) {
	forDrivers(t, Limits{QueryBuffer: 10000}, func(t *testing.T, f *fixture) {
		nc, other := f.dial(t), f.dial(t)
		part := strings.Repeat("x", 990)
		for range 9 { // 9963 bytes with the names, and what holds them
			send(t, nc, "QUEUE "+part+"\r\n")
			want(t, nc, "+QUEUED\r\n")
		}
		send(t, nc, "QUEUE "+part+"\r\n")
		wantEnd(t, nc, "+QUEUED\r\n")
		if n := f.driver.Stats().QueryLimit; n != 1 {
			t.Errorf("%d connections were closed for the limit", n)
		}
		ping(t, other)
	})
}
