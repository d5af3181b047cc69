package netdrive

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// countReplies reads the replies to COUNT up to the end of the stream.
func countReplies(nc net.Conn) (n int64, err error) {
	lines := bufio.NewScanner(nc)
	for lines.Scan() {
		got, err := strconv.ParseInt(strings.TrimPrefix(lines.Text(), ":"), 10, 64)
		if err != nil || got != n+1 {
			return n, errors.Join(errors.New("reply "+lines.Text()+" after "+strconv.FormatInt(n, 10)), err)
		}
		n = got
	}
	return n, lines.Err()
}

// Whoever had a command executed gets to know it, also those clients that go on
// sending, and those that send everything before they read.
func TestShutdownDeliversTheReplyToEveryExecutedCommand(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		const clients = 8
		var received atomic.Int64
		var readers, writers sync.WaitGroup
		for i := range clients {
			nc := f.dial(t)
			begin := make(chan struct{})
			open := sync.OnceFunc(func() { close(begin) })
			writers.Go(func() {
				defer open()
				block := strings.Repeat(command("COUNT"), 500)
				for n := 0; ; n++ {
					if n == 1+i%2*20 { // some read from the start, others much later
						open()
					}
					if _, err := io.WriteString(nc, block); err != nil {
						return
					}
				}
			})
			readers.Go(func() {
				<-begin
				n, err := countReplies(nc)
				if err != nil { // a reset is allowed to who went on sending, but must cost no reply
					t.Logf("client %d, after %d replies: %v", i, n, err)
				}
				received.Add(n)
				nc.Close()
			})
		}
		eventually(t, "all clients are busy", func() bool { return f.executed.Load() > 20*500*clients })
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := f.driver.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		readers.Wait()
		writers.Wait()
		if executed := f.executed.Load(); received.Load() != executed {
			t.Errorf("%d commands were executed, %d replies arrived", executed, received.Load())
		}
		if nc, err := net.Dial("tcp", f.addr); err == nil {
			nc.Close()
			t.Error("new connections are accepted")
		}
		if err := f.driver.Shutdown(ctx); err != nil {
			t.Errorf("the second shutdown: %v", err)
		}
	})
}

// What has arrived is executed, also what no read has brought in yet.
func TestShutdownExecutesWhatHasArrived(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		var clients []net.Conn
		const n = 1000 // in one segment
		for range 20 {
			nc := f.dial(t)
			ping(t, nc)
			clients = append(clients, nc)
		}
		for _, nc := range clients {
			send(t, nc, strings.Repeat("COUNT\r\n", n))
		}
		if err := f.driver.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i, nc := range clients {
			if got, err := countReplies(nc); got != n || err != nil {
				t.Errorf("client %d: %d replies, %v", i, got, err)
			}
		}
	})
}

func TestShutdownWaitsForAClientNoLongerThanItsContext(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		stuck, idle := f.dial(t), f.dial(t)
		ping(t, idle)
		send(t, stuck, strings.Repeat(command("FILL", "1048576"), 24))
		eventually(t, "the commands are executed", func() bool { return f.executed.Load() == 25 })
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			io.ReadAll(idle) // who does not hinder it is closed first
			cancel()
		}()
		if err := f.driver.Shutdown(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("shutdown gives %v", err)
		}
		if n := f.registry.Len(); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
}

func TestServeAfterShutdownRefuses(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		if err := f.driver.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.driver.Serve(l); err != ErrStopped {
			t.Errorf("Serve gives %v", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the listener is still open: %v", err)
		}
	})
}

func TestShutdownOfADriverThatNeverServed(t *testing.T) {
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			if err := newFixture(t, open, Limits{}).driver.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestListenerThatFailsEndsServe(t *testing.T) {
	for name, open := range drivers {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, open, Limits{})
			l := redistest.NewPipes()
			l.Close()
			if err := f.driver.Serve(l); !errors.Is(err, net.ErrClosed) {
				t.Errorf("Serve gives %v", err)
			}
			if err := f.driver.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestKillClosesAConnectionFromElsewhere(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		victim, other := f.dial(t), f.dial(t)
		ping(t, victim)
		ping(t, other)
		killed := f.registry.All()[0]
		if killed.Remote() != victim.LocalAddr().String() {
			killed = f.registry.All()[1]
		}
		killed.Kill()
		if _, err := io.ReadAll(victim); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Error(err)
		}
		eventually(t, "the session is gone", func() bool { return f.registry.Len() == 1 })
		killed.Kill() // once more does no harm
		ping(t, other)
	})
}

// Connections come, work and go from everywhere while the driver stops.
func TestConnectionsMayComeWhileTheDriverStops(t *testing.T) {
	forDrivers(t, Limits{}, func(t *testing.T, f *fixture) {
		var all sync.WaitGroup
		stop := make(chan struct{})
		for range 4 {
			all.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					nc, err := net.Dial("tcp", f.addr)
					if err != nil {
						return // closed
					}
					nc = f.wrap(nc)
					nc.SetDeadline(time.Now().Add(patience))
					io.WriteString(nc, "PING\r\nQUIT\r\n")
					io.ReadAll(nc)
					nc.Close()
				}
			})
		}
		eventually(t, "some were served", func() bool { return f.executed.Load() > 100 })
		if err := f.driver.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		close(stop)
		all.Wait()
	})
}
