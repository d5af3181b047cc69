package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait; nothing is expected to need it.
const patience = 30 * time.Second

// settings makes a configuration of names and values in turn.
func settings(t *testing.T, pairs ...string) *config.Config {
	t.Helper()
	cfg := config.New()
	for i := 0; i < len(pairs); i += 2 {
		if err := cfg.Load(pairs[i], []string{pairs[i+1]}, "test"); err != nil {
			t.Fatal(err)
		}
	}
	return cfg
}

// drivers are the values of the setting network that tests run with.
var drivers = []string{"portable", "epoll"}

// startNode serves a free port of loopback until the test ends.
func startNode(t *testing.T, pairs ...string) *Node {
	t.Helper()
	listeners, err := ListenLoopback(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, err := Start(Options{Config: settings(t, pairs...), Version: "test", Log: slog.New(slog.DiscardHandler), Listeners: listeners})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	return n
}

func stop(t *testing.T, n *Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func dial(t *testing.T, n *Node) *redistest.Conn {
	t.Helper()
	return redistest.Dial(t, "tcp", n.Addrs()[0].String())
}

func expect(t *testing.T, c *redistest.Conn, want string, args ...string) {
	t.Helper()
	if got := fmt.Sprint(c.Do(args...)); got != want {
		t.Errorf("%q: got %s, want %s", args, got, want)
	}
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

func TestExpiredKeysGoAwayByThemselves(t *testing.T) {
	n := startNode(t, "hz", "500")
	c := dial(t, n)
	for i := range 1000 {
		expect(t, c, "OK", "SET", fmt.Sprint("k", i), "v", "PX", "1")
	}
	expect(t, c, "OK", "SET", "stays", "v", "EX", "1000")
	eventually(t, "one key is left", func() bool { return c.Do("DBSIZE") == int64(1) })
	if info := fmt.Sprint(c.Do("INFO", "stats")); !strings.Contains(info, "expired_keys:1000\r\n") {
		t.Errorf("INFO stats: %s", info)
	}
}

func TestSettingsOfConnectionsFollowConfigSet(t *testing.T) {
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			n := startNode(t, "network", driver)
			admin := dial(t, n)
			expect(t, admin, "OK", "CONFIG", "SET", "maxclients", "2")
			idle := dial(t, n)
			expect(t, idle, "PONG", "PING")
			expect(t, admin, "PONG", "PING")
			if got, _ := io.ReadAll(dial(t, n).Net()); string(got) != "-ERR max number of clients reached\r\n" {
				t.Errorf("the third client reads %q", got)
			}
			expect(t, admin, "OK", "CONFIG", "SET", "maxclients", "100", "client-output-buffer-limit", "normal 1mb 0 0")
			expect(t, admin, "OK", "SET", "large", strings.Repeat("x", 1<<20))
			for range 30 { // more than the system's buffers take
				idle.Net().Write(redistest.Encode("GET", "large")) // fails once the client is dropped
			}
			eventually(t, "the client that does not read is gone", func() bool {
				return strings.Contains(fmt.Sprint(admin.Do("INFO", "stats")), "client_output_buffer_limit_disconnections:1\r\n")
			})
			expect(t, admin, "OK", "CONFIG", "SET", "client-query-buffer-limit", "1mb")
			big := dial(t, n)
			io.WriteString(big.Net(), "*2\r\n$4\r\nECHO\r\n$3000000\r\n"+strings.Repeat("x", 2<<20)) // fails when the server is quick
			io.Copy(io.Discard, big.Net())
			if info := fmt.Sprint(admin.Do("INFO", "stats")); !strings.Contains(info, "client_query_buffer_limit_disconnections:1\r\n") {
				t.Errorf("INFO stats: %s", info)
			}
			quiet := dial(t, n)
			expect(t, quiet, "PONG", "PING")
			expect(t, admin, "OK", "CONFIG", "SET", "timeout", "1")
			if got, err := io.ReadAll(quiet.Net()); len(got) > 0 || err != nil {
				t.Errorf("the quiet client reads %q, %v", got, err)
			}
		})
	}
}

func TestPasswordMayBeSetWhileClientsAreConnected(t *testing.T) {
	n := startNode(t)
	before := dial(t, n)
	expect(t, before, "OK", "CONFIG", "SET", "requirepass", "secret")
	expect(t, before, "PONG", "PING") // who is in stays in, as in Redis
	after := dial(t, n)
	expect(t, after, "NOAUTH Authentication required.", "PING")
	expect(t, after, "WRONGPASS invalid username-password pair or user is disabled.", "AUTH", "wrong")
	expect(t, after, "OK", "AUTH", "secret")
	expect(t, after, "PONG", "PING")
	expect(t, after, "OK", "AUTH", "default", "secret")
}

func TestStopAnswersWhatWasSent(t *testing.T) {
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			n := startNode(t, "network", driver)
			c := dial(t, n)
			const commands = 1000
			c.Write([]byte(strings.Repeat("INCR a\r\n", commands)))
			if got := c.Receive(); got != int64(1) {
				t.Fatalf("first reply %v", got)
			}
			done := make(chan struct{})
			go func() { stop(t, n); close(done) }()
			last := int64(1)
			for {
				v, err := c.TryReceive()
				if err != nil {
					break
				}
				last = v.(int64)
			}
			<-done
			tx := n.space.NewTx().Overview().Databases[0]
			if last != commands || tx.Keys != 1 {
				t.Errorf("the last reply is %d, want %d; %d keys", last, commands, tx.Keys)
			}
			stop(t, n) // once more does no harm
		})
	}
}

func TestListenersFollowBindPortAndUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "node") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	port := freePort(t)
	n, err := Start(Options{
		// An address that this machine has not is passed over after a '-'.
		Config:  settings(t, "bind", "127.0.0.1 -192.0.2.1", "port", fmt.Sprint(port), "unixsocket", socket),
		Version: "test", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if addrs := fmt.Sprint(n.Addrs()); addrs != fmt.Sprintf("[127.0.0.1:%d %s]", port, socket) || n.Port() != port {
		t.Errorf("addresses %s, port %d", addrs, n.Port())
	}
	expect(t, dial(t, n), "PONG", "PING")
	expect(t, redistest.Dial(t, "unix", socket), "PONG", "PING")

	_, err = Start(Options{Config: settings(t, "port", "0", "unixsocket", socket), Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "another process is listening on it") {
		t.Errorf("a second node on the socket: %v", err)
	}
	_, err = Start(Options{Config: settings(t, "bind", "127.0.0.1", "port", fmt.Sprint(port)), Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("a second node on the port: %v", err)
	}
	stop(t, n)
	if _, err := os.Lstat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket file: %v", err)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// A start that fails in its last step must not keep the first one's port.
func TestFailedStartLeavesNothingOpen(t *testing.T) {
	port := freePort(t)
	cfg := settings(t, "bind", "127.0.0.1", "port", fmt.Sprint(port), "unixsocket", filepath.Join(t.TempDir(), "none", "socket"))
	if _, err := Start(Options{Config: cfg, Log: slog.New(slog.DiscardHandler)}); err == nil || !strings.Contains(err.Error(), "open unix socket") {
		t.Fatalf("Start gives %v", err)
	}
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatalf("the port is still taken: %v", err)
	}
	l.Close()
	if _, err := Start(Options{Config: settings(t, "port", "0"), Log: slog.New(slog.DiscardHandler)}); !errors.Is(err, errNoListener) {
		t.Errorf("without anything to listen on: %v", err)
	}
}

func TestListenLoopbackPassesOverTakenPorts(t *testing.T) {
	taken, err := ListenLoopback(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer CloseListeners(taken)
	port := taken[0].Addr().(*net.TCPAddr).Port
	open, err := ListenLoopback(3, port)
	if err != nil {
		t.Fatal(err)
	}
	defer CloseListeners(open)
	seen := map[int]bool{port: true}
	for _, l := range open {
		p := l.Addr().(*net.TCPAddr).Port
		if seen[p] {
			t.Errorf("port %d twice", p)
		}
		seen[p] = true
	}
	// At the end of the range the system chooses.
	high, err := ListenLoopback(4, 65535)
	if err != nil {
		t.Fatal(err)
	}
	CloseListeners(high)
}
