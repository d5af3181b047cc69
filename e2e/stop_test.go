package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func dial(t *testing.T, network, addr string) net.Conn {
	t.Helper()
	nc, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(patience))
	return nc
}

func TestSignalsStopWithExitCodeZero(t *testing.T) {
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(fmt.Sprint("dev/", s), func(t *testing.T) {
			p, addrs := startDev(t)
			dial(t, "tcp", addrs[1]) // an idle client does not hold it up
			p.signal(t, s)
			if code := p.wait(t); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if text, _ := p.out.get(); !strings.HasSuffix(text, "stopping\n") {
				t.Errorf("output:\n%s", text)
			}
		})
		t.Run(fmt.Sprint("server/", s), func(t *testing.T) {
			p, addr := startServer(t, nil)
			dial(t, "tcp", addr)
			p.signal(t, s)
			if code := p.wait(t); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if text, _ := p.out.get(); !strings.Contains(text, "msg=stopped") {
				t.Errorf("output:\n%s", text)
			}
			if nc, err := net.Dial("tcp", addr); err == nil {
				nc.Close()
				t.Error("the port is still open")
			}
		})
	}
}

func TestRepliesArriveWhenTheServerIsStopped(t *testing.T) {
	const commands = 2000
	p, addr := startServer(t, nil)
	nc := dial(t, "tcp", addr)
	if _, err := nc.Write(bytes.Repeat([]byte("*2\r\n$4\r\nINCR\r\n$1\r\na\r\n"), commands)); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 4)
	if _, err := io.ReadFull(nc, first); err != nil {
		t.Fatal(err)
	}
	p.signal(t, syscall.SIGTERM)
	rest, err := io.ReadAll(nc)
	if err != nil {
		t.Fatalf("the stream ends with %v after %d bytes", err, len(rest))
	}
	var want strings.Builder
	for i := range commands {
		fmt.Fprintf(&want, ":%d\r\n", i+1)
	}
	if got := string(first) + string(rest); got != want.String() {
		t.Errorf("%d replies, the last %q; want %d", strings.Count(got, "\n"), got[max(0, len(got)-10):], commands)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestSocketFileIsGoneAfterTheStop(t *testing.T) {
	dir, err := os.MkdirTemp("", "bowline") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	p := start(t, nil, "server", "--port", "0", "--unixsocket", socket, "--unixsocketperm", "700")
	if _, ok := p.waitFor(t, ready); !ok {
		t.Fatal("bowline server ended")
	}
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("socket: %v, %v", info, err)
	}
	nc := dial(t, "unix", socket)
	fmt.Fprint(nc, "PING\r\nQUIT\r\n")
	if got, err := io.ReadAll(nc); string(got) != "+PONG\r\n+OK\r\n" || err != nil {
		t.Errorf("replies %q, %v", got, err)
	}
	p.stop(t)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	// A file that a killed process left is no obstacle.
	for range 2 {
		p = start(t, nil, "server", "--port", "0", "--unixsocket", socket)
		if _, ok := p.waitFor(t, ready); !ok {
			t.Fatal("bowline server ended")
		}
		p.signal(t, syscall.SIGKILL)
		p.wait(t)
	}
}
