package node

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// begin sends the beginning of a command with an argument of so many bytes. It
// may fail when the connection is closed meanwhile.
func begin(c *redistest.Conn, bytes int) {
	c.Net().Write([]byte(fmt.Sprintf("*2\r\n$4\r\nECHO\r\n$%d\r\n%s", bytes+1, strings.Repeat("x", bytes))))
}

func TestClientsThatTakeMostAreClosedWhenMemoryIsShort(t *testing.T) {
	forDrivers(t, func(t *testing.T, n *Node) {
		admin, small, large, kept := dial(t, n), dial(t, n), dial(t, n), dial(t, n)
		expect(t, admin, "OK", "CONFIG", "SET", "maxmemory-clients", "2mb")
		expect(t, kept, "OK", "CLIENT", "NO-EVICT", "on")
		begin(kept, 3<<20)
		eventually(t, "the large request of who is kept has come", func() bool {
			return strings.Contains(fmt.Sprint(admin.Do("CLIENT", "LIST")), fmt.Sprintf(" qbuf=%d ", 3<<20+len("*2\r\n$4\r\nECHO\r\n$3145729\r\n")))
		})
		begin(small, 200<<10)
		begin(large, 3<<20)
		if _, err := large.TryReceive(); err == nil {
			t.Error("the client that takes most gets a reply")
		}
		eventually(t, "it is counted", func() bool { return infoField(t, admin, "evicted_clients") == "1" })
		for _, c := range []*redistest.Conn{small, kept} { // the rest of their command
			c.Write([]byte("x\r\n"))
			if got, ok := c.Receive().(string); !ok || !strings.HasPrefix(got, "xx") {
				t.Errorf("got %.20q", got)
			}
		}
		// Who does not read counts too, and so does what is queued.
		expect(t, admin, "OK", "SET", "big", strings.Repeat("x", 1<<20))
		expect(t, small, "OK", "MULTI")
		for range 30 { // more than the system's buffers take
			small.Send("GET", "big")
		}
		small.Net().Write(redistest.Encode("EXEC"))
		eventually(t, "the client that does not read is gone", func() bool { return infoField(t, admin, "evicted_clients") == "2" })
		queued := dial(t, n)
		expect(t, queued, "OK", "MULTI")
		queued.Net().Write(redistest.Encode("SET", "a", strings.Repeat("x", 3<<20))) // as in begin
		eventually(t, "the client with the long transaction is gone", func() bool { return infoField(t, admin, "evicted_clients") == "3" })
		expect(t, admin, "OK", "CONFIG", "RESETSTAT")
		if got := infoField(t, admin, "evicted_clients"); got != "0" {
			t.Errorf("%s after CONFIG RESETSTAT", got)
		}
		if list := fmt.Sprint(admin.Do("CLIENT", "LIST")); strings.Count(list, "\n") != 2 {
			t.Errorf("CLIENT LIST: %s", list)
		}
	})
}

func TestClientMemoryAsAShareOfMaxmemory(t *testing.T) {
	n := startNode(t, "maxmemory", "40mb", "maxmemory-clients", "5%")
	admin, c := dial(t, n), dial(t, n)
	begin(c, 3<<20)
	eventually(t, "the client is gone", func() bool { return infoField(t, admin, "evicted_clients") == "1" })
	expect(t, admin, "OK", "CONFIG", "SET", "maxmemory", "0") // of which no share is a limit
	c = dial(t, n)
	begin(c, 3<<20)
	c.Write([]byte("x\r\n"))
	if got, ok := c.Receive().(string); !ok || len(got) != 3<<20+1 {
		t.Errorf("got %d bytes", len(got))
	}
	// A limit that nobody could live with is raised.
	expect(t, admin, "OK", "CONFIG", "SET", "maxmemory-clients", "1")
	expect(t, admin, "PONG", "PING")
}
