//go:build unix

package netdrive

import (
	"net"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// rawClient connects without anything of this process's heap, so that what the
// heap grows by is the driver's.
func rawClient(t *testing.T, port int) (fd int) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatalf("open socket: %v", err)
	}
	if err := syscall.Connect(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatalf("connect: %v", err)
	}
	return fd
}

func rawPing(t *testing.T, fd int) {
	t.Helper()
	var buf [16]byte
	if _, err := syscall.Write(fd, []byte("PING\r\n")); err != nil {
		t.Fatal(err)
	}
	if n, err := syscall.Read(fd, buf[:]); err != nil || string(buf[:n]) != "+PONG\r\n" {
		t.Fatalf("reply %q, %v", buf[:max(n, 0)], err)
	}
}

func heldBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers held is gone with the second
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

func TestThousandsOfIdleConnectionsCostLittle(t *testing.T) {
	const clients = 5000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < 2*clients+200 {
		t.Skipf("the system allows only %d open files, %v", limit.Cur, err)
	}
	forPlain(t, Limits{Clients: clients + 1}, func(t *testing.T, f *fixture) {
		_, digits, _ := net.SplitHostPort(f.addr)
		port, err := strconv.Atoi(digits)
		if err != nil {
			t.Fatal(err)
		}
		busy := f.dial(t)
		ping(t, busy)
		before := heldBytes()
		fds := make([]int, 0, clients)
		defer func() {
			for _, fd := range fds {
				syscall.Close(fd)
			}
		}()
		for range clients {
			fd := rawClient(t, port)
			fds = append(fds, fd)
			rawPing(t, fd)
		}
		if n := f.registry.Len(); n != clients+1 {
			t.Errorf("%d sessions, want %d", n, clients+1)
		}
		each := (heldBytes() - before) / clients
		t.Logf("%d bytes of memory for each of %d idle connections", each, clients)
		if each > 16<<10 {
			t.Errorf("an idle connection takes %d bytes", each)
		}
		ping(t, busy)
		wantEnd(t, f.dial(t), "-ERR max number of clients reached\r\n")
		for _, fd := range fds[clients-100:] {
			rawPing(t, fd)
		}
	})
}
