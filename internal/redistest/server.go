package redistest

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// startTimeout bounds the wait for a started server's first answer.
const startTimeout = 20 * time.Second

// Server is a redis-server process that belongs to one test.
type Server struct {
	// Addr is the TCP address on loopback.
	Addr string
	// Socket is the path of the unix socket.
	Socket string
	// PID is the process id.
	PID int
}

// Start runs redis-server with the given extra arguments (for instance
// "--cluster-enabled", "yes") in a temporary directory, without persistence,
// and waits until it answers. The process ends with the test.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	return launch(tb, debian(tb), plain(args))
}

// arguments are those of a server, for a port and a directory.
type arguments func(s *Server, port, dir string) []string

// plain is a server without persistence, with extra arguments.
func plain(extra []string) arguments {
	return func(s *Server, port, dir string) []string {
		return append([]string{
			"--port", port, "--bind", "127.0.0.1", "--unixsocket", s.Socket,
			"--dir", dir, "--save", "", "--appendonly", "no", "--enable-debug-command", "yes", "--daemonize", "no",
			"--loglevel", "warning",
		}, extra...)
	}
}

// debian is the redis-server that Debian's package has installed.
func debian(tb testing.TB) (binary string) {
	tb.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("BOWLINE_REQUIRE_REDIS") != "" {
			tb.Fatalf("redis-server is required: %v", err)
		}
		tb.Skip("redis-server is not installed")
	}
	return binary
}

// launch runs a server and waits until it answers. It ends with the test.
func launch(tb testing.TB, binary string, args arguments) *Server {
	tb.Helper()
	// A socket path has a limit of about 100 bytes, which tb.TempDir can exceed.
	dir, err := os.MkdirTemp("", "redistest")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	for attempt := 0; ; attempt++ {
		s, out := start(tb, binary, dir, args)
		if s != nil {
			return s
		}
		// Another process may have taken the port between the probe and the start.
		if attempt == 4 || !bytes.Contains(out, []byte("Address already in use")) {
			tb.Fatalf("%s did not answer; its output:\n%s", binary, out)
		}
	}
}

func start(tb testing.TB, binary, dir string, args arguments) (*Server, []byte) {
	port := strconv.Itoa(freePort(tb))
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", port), Socket: filepath.Join(dir, "redis.sock")}
	var out bytes.Buffer
	cmd := exec.Command(binary, args(s, port, dir)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		tb.Fatalf("start %s: %v", binary, err)
	}
	exited := make(chan struct{})
	go func() { cmd.Wait(); close(exited) }()
	stop := func() { cmd.Process.Kill(); <-exited }
	s.PID = cmd.Process.Pid
	deadline := time.Now().Add(startTimeout)
	for time.Now().Before(deadline) {
		select {
		case <-exited:
			return nil, out.Bytes()
		default:
		}
		if answers(s.Socket) {
			tb.Cleanup(stop)
			return s, nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	stop()
	return nil, out.Bytes()
}

func answers(socket string) bool {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return false
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Second))
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	buf := make([]byte, 7)
	n, _ := c.Read(buf)
	// With a password set the answer is "-NOAUTH ...".
	return string(buf[:n]) == "+PONG\r\n" || string(buf[:n]) == "-NOAUTH"
}

// freePort asks the kernel for a port on which also the cluster bus port
// (10000 above) is a valid one.
func freePort(tb testing.TB) int {
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		if port <= 55535 {
			return port
		}
	}
}

// Dial connects to the server; the connection is closed with the test.
func (s *Server) Dial(tb testing.TB) *Conn {
	tb.Helper()
	return Dial(tb, "unix", s.Socket)
}
