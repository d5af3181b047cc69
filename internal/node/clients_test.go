package node

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// forDrivers runs a test with a node behind each driver.
func forDrivers(t *testing.T, test func(t *testing.T, n *Node), pairs ...string) {
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			test(t, startNode(t, append([]string{"network", driver}, pairs...)...))
		})
	}
}

func infoField(t *testing.T, c *redistest.Conn, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(fmt.Sprint(c.Do("INFO", "everything")), "\r\n"+name+":")
	if !ok {
		t.Fatalf("INFO lacks %s", name)
	}
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

func waitForBlocked(t *testing.T, admin *redistest.Conn, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d clients wait", n), func() bool { return infoField(t, admin, "blocked_clients") == strconv.Itoa(n) })
}

func id(c *redistest.Conn) string { return fmt.Sprint(c.Do("CLIENT", "ID")) }

func TestKilledClientsAreGoneAtOnce(t *testing.T) {
	forDrivers(t, func(t *testing.T, n *Node) {
		admin, victim, other := dial(t, n), dial(t, n), dial(t, n)
		expect(t, victim, "PONG", "PING")
		expect(t, other, "PONG", "PING")
		expect(t, admin, "1", "CLIENT", "KILL", "ID", id(victim))
		if list := fmt.Sprint(admin.Do("CLIENT", "LIST")); strings.Count(list, "\n") != 2 {
			t.Errorf("CLIENT LIST: %s", list)
		}
		if _, err := victim.TryReceive(); err == nil {
			t.Error("the killed client gets a reply")
		}
		expect(t, admin, "1", "CLIENT", "KILL", "TYPE", "normal")
		if _, err := other.TryReceive(); err == nil {
			t.Error("the other client gets a reply")
		}
		// The caller itself gets its reply first, and runs nothing more.
		admin.Write([]byte("CLIENT KILL SKIPME no LADDR " + admin.Net().RemoteAddr().String() + "\r\nSET never 1\r\n"))
		if got := admin.Receive(); got != int64(1) {
			t.Errorf("got %v", got)
		}
		if _, err := admin.TryReceive(); err == nil {
			t.Error("a killed client goes on")
		}
		last := dial(t, n)
		expect(t, last, "0", "EXISTS", "never")
		expect(t, last, "OK", "CLIENT", "KILL", last.Net().LocalAddr().String())
	})
}

func TestPauseHoldsWritesBack(t *testing.T) {
	forDrivers(t, func(t *testing.T, n *Node) {
		admin, writer, reader := dial(t, n), dial(t, n), dial(t, n)
		expect(t, admin, "OK", "SET", "a", "1")
		expect(t, admin, "OK", "DEBUG", "SET-ACTIVE-EXPIRE", "0") // until the pause keeps the key
		expect(t, admin, "OK", "SET", "short", "1", "PX", "1")
		expect(t, admin, "OK", "CLIENT", "PAUSE", "1000000", "WRITE")
		expect(t, admin, "OK", "DEBUG", "SET-ACTIVE-EXPIRE", "1")
		writer.Write([]byte("GET a\r\nSET a \"2 2\"\r\nGET a\r\n*1\r\n$4\r\nPING\r\n"))
		if got := writer.Receive(); got != "1" {
			t.Errorf("before the write: %v", got)
		}
		waitForBlocked(t, admin, 1)
		if list := fmt.Sprint(admin.Do("CLIENT", "LIST")); !strings.Contains(list, " flags=b ") {
			t.Errorf("CLIENT LIST: %s", list)
		}
		expect(t, reader, "1", "GET", "a")
		eventually(t, "a key's time is over", func() bool { return reader.Do("GET", "short") == nil })
		expect(t, reader, "2", "DBSIZE") // but it is not deleted
		expect(t, reader, "OK", "MULTI")
		expect(t, reader, "QUEUED", "GET", "a")
		expect(t, reader, "[1]", "EXEC")
		expect(t, admin, "OK", "CLIENT", "UNPAUSE")
		for _, want := range []string{"OK", "2 2", "PONG"} {
			if got := fmt.Sprint(writer.Receive()); got != want {
				t.Errorf("after the pause: %v, want %v", got, want)
			}
		}
		eventually(t, "expired keys go again", func() bool { return admin.Do("DBSIZE") == int64(1) })
		waitForBlocked(t, admin, 0)
	}, "enable-debug-command", "yes")
}

func TestPauseHoldsTransactionsBackThatWrite(t *testing.T) {
	forDrivers(t, func(t *testing.T, n *Node) {
		admin, c := dial(t, n), dial(t, n)
		expect(t, c, "OK", "MULTI")
		expect(t, c, "QUEUED", "SET", "a", "1")
		expect(t, admin, "OK", "CLIENT", "PAUSE", "1000000", "WRITE")
		c.Send("EXEC")
		waitForBlocked(t, admin, 1)
		expect(t, admin, "0", "EXISTS", "a")
		expect(t, admin, "OK", "CLIENT", "UNPAUSE")
		if got := fmt.Sprint(c.Receive()); got != "[OK]" {
			t.Errorf("EXEC gives %s", got)
		}
	})
}

func TestPauseOfAllCommandsEndsByItself(t *testing.T) {
	forDrivers(t, func(t *testing.T, n *Node) {
		admin := dial(t, n)
		var clients []*redistest.Conn
		for range 20 {
			clients = append(clients, dial(t, n))
		}
		expect(t, admin, "OK", "CLIENT", "PAUSE", "100")
		for i, c := range clients {
			c.Send("PING")
			if i%2 == 0 {
				c.Send("INCR", "n")
			}
		}
		expect(t, admin, "OK", "CLIENT", "PAUSE", "1") // waits too, and makes nothing longer
		for i, c := range clients {
			if got := fmt.Sprint(c.Receive()); got != "PONG" {
				t.Errorf("got %s", got)
			}
			if i%2 == 0 {
				c.Receive()
			}
		}
		expect(t, admin, "10", "GET", "n")
	})
}

func TestClientMayLeaveOrBeKilledInAPause(t *testing.T) {
	forDrivers(t, func(t *testing.T, n *Node) {
		admin, leaves, killed, stays := dial(t, n), dial(t, n), dial(t, n), dial(t, n)
		victim := id(killed)
		expect(t, admin, "OK", "CLIENT", "PAUSE", "1000000", "WRITE")
		for _, c := range []*redistest.Conn{leaves, killed, stays} {
			c.Send("INCR", "n")
		}
		waitForBlocked(t, admin, 3)
		leaves.Close()
		expect(t, admin, "1", "CLIENT", "KILL", "ID", victim)
		if _, err := killed.TryReceive(); err == nil {
			t.Error("the killed client gets a reply")
		}
		// Messages reach a client that waits.
		expect(t, admin, "OK", "CLIENT", "UNPAUSE")
		if got := stays.Receive(); got != int64(1) && got != int64(2) {
			t.Errorf("got %v", got)
		}
		waitForBlocked(t, admin, 0)
		// Stopping the node, which the test's end does, does not wait for a pause.
		expect(t, admin, "OK", "CLIENT", "PAUSE", "1000000", "WRITE")
		stays.Send("INCR", "n")
		waitForBlocked(t, admin, 1)
	})
}

func TestRepliesCanBeTurnedOff(t *testing.T) {
	forDrivers(t, func(t *testing.T, n *Node) {
		c := dial(t, n)
		c.Write([]byte("CLIENT REPLY OFF\r\nSET a 1\r\nNOSUCH\r\nGET a\r\nCLIENT REPLY SKIP\r\nCLIENT REPLY ON\r\n" +
			"CLIENT REPLY SKIP\r\nGET a\r\nGET a\r\n" +
			string(redistest.Encode("SET", "big", strings.Repeat("x", 1<<17))) + "CLIENT REPLY SKIP\r\nGET big\r\nPING\r\n"))
		for _, want := range []string{"OK", "1", "OK", "PONG"} {
			if got := fmt.Sprint(c.Receive()); got != want {
				t.Errorf("got %.50s, want %s", got, want)
			}
		}
		// Messages come nevertheless.
		c.Write([]byte("HELLO 3\r\nCLIENT REPLY OFF\r\nSUBSCRIBE news\r\nPUBLISH news x\r\n"))
		c.Receive()
		for _, want := range []string{"[subscribe news 1]", "[message news x]"} {
			if got := fmt.Sprint(c.Receive()); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}

func TestNoTouchLeavesTheTimeOfLastUse(t *testing.T) {
	n := startNode(t, "maxmemory-policy", "allkeys-lfu")
	c := dial(t, n)
	expect(t, c, "OK", "SET", "a", "1")
	access := func() uint32 {
		tx := n.space.NewTx()
		tx.LockAll()
		defer tx.Unlock()
		tx.NoTouch = true
		e, _ := tx.Find([]byte("a"))
		return e.Access
	}
	before := access()
	expect(t, c, "OK", "CLIENT", "CAPA", "redirect", "what-comes-later")
	expect(t, c, "ERR wrong number of arguments for 'client|capa' command", "CLIENT", "CAPA")
	expect(t, c, "OK", "CLIENT", "NO-TOUCH", "on")
	for range 100 {
		expect(t, c, "1", "GET", "a")
	}
	if after := access(); after != before {
		t.Errorf("access bits went from %d to %d", before, after)
	}
	expect(t, c, "1", "TOUCH", "a") // which is meant
	expect(t, c, "OK", "CLIENT", "NO-TOUCH", "off")
	for range 100 {
		expect(t, c, "1", "GET", "a")
	}
	if after := access(); after == before {
		t.Error("access bits never change")
	}
}

// hears reads a push and prints it.
func hears(t *testing.T, c *redistest.Conn, want string) {
	t.Helper()
	if got := fmt.Sprint(c.Receive()); got != want {
		t.Errorf("hears %s, want %s", got, want)
	}
}

func tracker(t *testing.T, n *Node, options ...string) *redistest.Conn {
	t.Helper()
	c := dial(t, n)
	c.Do("HELLO", "3")
	expect(t, c, "OK", append([]string{"CLIENT", "TRACKING", "ON"}, options...)...)
	return c
}

func TestReadersHearOfChangesOnce(t *testing.T) {
	forDrivers(t, func(t *testing.T, n *Node) {
		c, other := tracker(t, n), dial(t, n)
		other.Do("MSET", "a", "1", "b", "1", "c", "1")
		expect(t, c, "1", "GET", "a")
		expect(t, c, "[1 <nil>]", "MGET", "b", "none")
		expect(t, c, "3", "DBSIZE")
		if got := infoField(t, other, "tracking_total_keys"); got != "3" {
			t.Errorf("%s keys are remembered", got)
		}
		other.Do("SET", "c", "2") // nobody has read it
		other.Do("SET", "a", "2")
		other.Do("SET", "a", "3")
		hears(t, c, "[invalidate [a]]")
		other.Do("SET", "none", "1")
		hears(t, c, "[invalidate [none]]")
		other.Do("PEXPIRE", "b", "1")
		hears(t, c, "[invalidate [b]]")
		expect(t, c, "3", "GET", "a")
		// Its own change comes behind the reply.
		expect(t, c, "4", "INCR", "a")
		hears(t, c, "[invalidate [a]]")
		expect(t, c, "OK", "MULTI") // so that it is read within its time
		expect(t, c, "QUEUED", "SET", "t", "1", "PX", "1")
		expect(t, c, "QUEUED", "STRLEN", "t")
		expect(t, c, "[OK 1]", "EXEC")
		hears(t, c, "[invalidate [t]]") // when its time is over
		expect(t, c, "OK", "MULTI")
		expect(t, c, "QUEUED", "GET", "a")
		expect(t, c, "QUEUED", "INCR", "a")
		expect(t, c, "[4 5]", "EXEC")
		hears(t, c, "[invalidate [a]]")
		expect(t, c, "5", "GET", "a")
		other.Do("FLUSHALL")
		hears(t, c, "[invalidate <nil>]")
		expect(t, c, "OK", "FLUSHDB")
		hears(t, c, "[invalidate <nil>]")
		expect(t, c, "OK", "CLIENT", "TRACKING", "OFF")
		if got := infoField(t, other, "tracking_clients") + infoField(t, other, "tracking_total_items"); got != "00" {
			t.Errorf("%s are left", got)
		}
	})
}

func TestOptInAndOptOutChooseWhatIsRemembered(t *testing.T) {
	forDrivers(t, func(t *testing.T, n *Node) {
		in, out, other := tracker(t, n, "OPTIN"), tracker(t, n, "OPTOUT", "NOLOOP"), dial(t, n)
		expect(t, in, "<nil>", "GET", "a")
		expect(t, in, "OK", "CLIENT", "CACHING", "YES")
		expect(t, in, "<nil>", "GET", "b")
		expect(t, in, "<nil>", "GET", "c")
		expect(t, in, "OK", "CLIENT", "CACHING", "YES")
		expect(t, in, "OK", "MULTI")
		expect(t, in, "QUEUED", "PTTL", "d")
		expect(t, in, "QUEUED", "GET", "e")
		expect(t, in, "[-2 <nil>]", "EXEC")
		expect(t, in, "<nil>", "GET", "f")
		expect(t, out, "<nil>", "GET", "a")
		expect(t, out, "OK", "CLIENT", "CACHING", "NO")
		expect(t, out, "<nil>", "GET", "b")
		for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
			other.Do("SET", key, "1")
		}
		hears(t, in, "[invalidate [b]]")
		hears(t, in, "[invalidate [d]]")
		hears(t, in, "[invalidate [e]]")
		hears(t, out, "[invalidate [a]]")
		expect(t, out, "1", "GET", "a")
		expect(t, out, "2", "INCR", "a") // NOLOOP
		expect(t, out, "PONG", "PING")
		expect(t, in, "PONG", "PING")
	})
}

func TestBroadcastTellsOfPrefixes(t *testing.T) {
	forDrivers(t, func(t *testing.T, n *Node) {
		all, some, quiet := tracker(t, n, "BCAST"), tracker(t, n, "BCAST", "PREFIX", "a:", "PREFIX", "b:"), tracker(t, n, "BCAST", "NOLOOP", "PREFIX", "a:")
		other := dial(t, n)
		other.Do("MULTI")
		for _, key := range []string{"b:1", "a:2", "a:1", "c:1", "a:2"} {
			other.Do("INCR", key)
		}
		other.Do("EXEC")
		hears(t, all, "[invalidate [a:1 a:2 b:1 c:1]]")
		hears(t, some, "[invalidate [a:1 a:2]]")
		hears(t, some, "[invalidate [b:1]]")
		hears(t, quiet, "[invalidate [a:1 a:2]]")
		expect(t, quiet, "1", "INCR", "a:9")
		hears(t, all, "[invalidate [a:9]]")
		hears(t, some, "[invalidate [a:9]]")
		expect(t, quiet, "PONG", "PING")
		expect(t, some, "2", "INCR", "a:9")
		hears(t, some, "[invalidate [a:9]]")
		hears(t, all, "[invalidate [a:9]]")
		hears(t, quiet, "[invalidate [a:9]]")
		other.Do("SET", "a:t", "1", "PX", "1")
		hears(t, quiet, "[invalidate [a:t]]")
		hears(t, quiet, "[invalidate [a:t]]") // its time is over
		if got := infoField(t, other, "tracking_total_prefixes"); got != "3" {
			t.Errorf("%s prefixes", got)
		}
		for _, c := range []*redistest.Conn{all, some, quiet} {
			c.Close()
		}
		eventually(t, "nothing of them is left", func() bool { return infoField(t, other, "tracking_total_prefixes") == "0" })
	})
}

func TestRedirectReachesAnOldClient(t *testing.T) {
	forDrivers(t, func(t *testing.T, n *Node) {
		listener, other := dial(t, n), dial(t, n)
		target := id(listener)
		listener.Do("SUBSCRIBE", "__redis__:invalidate")
		c := dial(t, n)
		expect(t, c, "OK", "CLIENT", "TRACKING", "ON", "REDIRECT", target)
		expect(t, c, target, "CLIENT", "GETREDIR")
		expect(t, c, "<nil>", "GET", "a")
		other.Do("SET", "a", "1")
		hears(t, listener, "[message __redis__:invalidate [a]]")
		other.Do("FLUSHALL")
		hears(t, listener, "[message __redis__:invalidate <nil>]")
		c.Do("HELLO", "3")
		expect(t, c, "<nil>", "GET", "a")
		listener.Close()
		eventually(t, "the listener is gone", func() bool { return infoField(t, other, "connected_clients") == "2" })
		other.Do("SET", "a", "1")
		hears(t, c, "[tracking-redir-broken "+target+"]")
		if got := fmt.Sprint(c.Do("CLIENT", "TRACKINGINFO")); !strings.Contains(got, "broken_redirect") {
			t.Errorf("CLIENT TRACKINGINFO: %s", got)
		}
		if got := fmt.Sprint(c.Do("CLIENT", "INFO")); !strings.Contains(got, " flags=tR ") {
			t.Errorf("CLIENT INFO: %s", got)
		}
	})
}

func TestTrackingTableForgetsAboveItsLimit(t *testing.T) {
	n := startNode(t, "tracking-table-max-keys", "100")
	c, other := tracker(t, n), dial(t, n)
	told := map[string]bool{}
	for i := range 500 {
		c.Send("GET", "k"+strconv.Itoa(i))
	}
	c.Send("PING")
	for done := false; !done; {
		switch v := c.Receive().(type) {
		case redistest.Push:
			told[fmt.Sprint(v[1])] = true
		case redistest.Simple:
			done = true
		}
	}
	got, _ := strconv.Atoi(infoField(t, other, "tracking_total_keys"))
	if got < 100 || got > 132 { // a part that holds none can't forget one
		t.Errorf("%d keys are remembered", got)
	}
	if len(told)+got != 500 {
		t.Errorf("told of %d keys, %d are remembered, 500 were read", len(told), got)
	}
}

func TestMonitorShowsWhatRedisShows(t *testing.T) {
	oracle := redistest.Start(t)
	forDrivers(t, func(t *testing.T, n *Node) {
		var shown [2][]string
		for i, dialOne := range []func() *redistest.Conn{func() *redistest.Conn { return oracle.Dial(t) }, func() *redistest.Conn { return dial(t, n) }} {
			m, c := dialOne(), dialOne()
			expect(t, m, "OK", "MONITOR")
			for _, args := range [][]string{
				{"ping"}, {"set", "a", "x\x00\r\n\t\a\b\\\"\xff é"}, {"MULTI"}, {"set", "a", "1"}, {"GET", "a"}, {"nosuch"}, {"exec"},
				{"multi"}, {"set", "a", "1"}, {"get", "a"}, {"exec"}, {"AUTH", "x"}, {"AUTH", "u", "p"}, {"HELLO", "3"}, {"config", "get", "port"}, {"client", "list"},
				{"client", "id"}, {"nosuch", "1"}, {"set"}, {"select", "3"}, {"get", "b"}, {"multi"}, {"discard"}, {"watch", "a"}, {"hello", "2", "auth", "default", "foo"},
				{"hello", "3", "setname", "me", "auth", "default", "foo"}, {"subscribe", "x"}, {"unsubscribe", "x"}, {"reset"}, {"publish", "a", "b"}, {"command", "count"}, {"time"}, {"quit"},
			} {
				c.Do(args...)
			}
			end := dialOne()
			end.Do("echo", "the end")
			for {
				line := string(m.ReceiveRaw())
				_, rest, _ := strings.Cut(line, " [")
				db, rest, _ := strings.Cut(rest, " ")
				_, command, _ := strings.Cut(rest, "] ")
				shown[i] = append(shown[i], db+" "+command)
				if strings.Contains(line, "the end") {
					break
				}
			}
			expect(t, m, "ERR Replica can't interact with the keyspace", "GET", "a")
			expect(t, m, "RESET", "RESET")
			expect(t, m, "PONG", "PING")
		}
		if !slices.Equal(shown[0], shown[1]) {
			t.Errorf("redis-server shows\n%s\nbowline\n%s", strings.Join(shown[0], ""), strings.Join(shown[1], ""))
		}
	})
}
