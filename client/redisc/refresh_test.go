package redisc_test

import (
	"errors"
	"net"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/bowline-kv/bowline/client/redisc"
)

const slotC = 12182 // of keyC

// seeMoved are the ways in which a connection sees a MOVED.
var seeMoved = map[string]func(t *testing.T, conn redis.Conn) error{
	"Do": func(_ *testing.T, conn redis.Conn) error { _, err := conn.Do("GET", keyC); return err },
	"Send": func(_ *testing.T, conn redis.Conn) error {
		conn.Send("GET", keyC)
		conn.Flush()
		_, err := conn.Receive()
		return err
	},
	"Do with nothing": func(t *testing.T, conn redis.Conn) error {
		conn.Send("GET", keyC)
		list, err := redis.Values(conn.Do(""))
		if err != nil {
			t.Fatal(err)
		}
		return list[0].(error)
	},
}

func TestMovedRepairsTheMapBeforeTheCallReturns(t *testing.T) {
	for name, see := range seeMoved {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			c := f.refreshed()
			for _, addr := range []string{"a:1", "b:2", "c:3", "ra:1", "rb:2", "rc:3"} {
				f.script(addr, func(_ *fakeConn, args []string) string {
					if args[0] == "CLUSTER" {
						return "-ERR not now\r\n" // so that only the MOVED can do it
					}
					return ""
				})
			}
			f.move(slotC, "b:2")
			conn := c.Get()
			defer conn.Close()
			if err := see(t, conn); redisc.ParseRedir(err) == nil {
				t.Fatalf("got %v", err)
			}
			other := c.Get()
			defer other.Close()
			want(t, other, "OK", "SET", keyC, "1")
			if got := f.got("b:2"); len(got) != 1 || got[0] != "SET foo 1" {
				t.Errorf("b got %q", got)
			}
		})
	}
}

func TestMovedStartsOneRefreshInTheBackground(t *testing.T) {
	f := newFake(t)
	var maps atomic.Int64
	last := make(chan [2][]string, 100)
	c := f.refreshed(func(c *redisc.Cluster) {
		c.LayoutRefresh = func(old, new [redisc.HashSlots][]string) {
			maps.Add(1)
			last <- [2][]string{old[slotC], new[slotC]}
		}
	})
	if first := <-last; first[0] != nil || !reflect.DeepEqual(first[1], []string{"c:3", "rc:3"}) {
		t.Errorf("the first map: %v", first)
	}
	f.move(slotC, "b:2", "rb:2")
	hold := make(chan struct{})
	for _, addr := range []string{"a:1", "b:2", "c:3"} {
		f.script(addr, func(_ *fakeConn, args []string) string {
			if args[0] == "CLUSTER" {
				<-hold
			}
			return ""
		})
	}
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			conn := c.Get()
			defer conn.Close()
			redisc.BindConn(conn, "a") // c has it, too
			conn.Do("GET", keyC)
		})
	}
	group.Wait()
	close(hold)
	got := <-last
	if !reflect.DeepEqual(got, [2][]string{{"b:2"}, {"b:2", "rb:2"}}) && !reflect.DeepEqual(got, [2][]string{{"b:2", "rb:2"}, {"b:2", "rb:2"}}) {
		t.Errorf("the map went from %v to %v", got[0], got[1])
	}
	if n := maps.Load(); n != 2 {
		t.Errorf("%d maps were loaded", n)
	}
}

// TestMovedThatIsKnownChangesNothing: a replica answers MOVED with its primary to whoever
// did not say READONLY, or wants to write.
func TestMovedThatIsKnownChangesNothing(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	conn := c.Get()
	defer conn.Close()
	if err := redisc.ReadOnlyConn(conn); err != nil {
		t.Fatal(err)
	}
	want(t, conn, nil, "GET", keyC)
	if _, err := conn.Do("SET", keyC, 1); redisc.ParseRedir(err) == nil {
		t.Fatalf("a write at a replica: %v", err)
	}
	if n := f.loads(); n != 0 {
		t.Errorf("the map was loaded %d times", n)
	}
	other := c.Get() // the slot still has its replica
	defer other.Close()
	redisc.ReadOnlyConn(other)
	f.forget()
	want(t, other, nil, "GET", keyC)
	if got := f.got("rc:3"); !reflect.DeepEqual(got, []string{"READONLY", "GET foo"}) {
		t.Errorf("rc got %q", got)
	}
}

func TestAskNeverChangesTheMap(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	f.script("c:3", func(_ *fakeConn, args []string) string {
		if args[0] == "GET" {
			return "-ASK 12182 b:2\r\n"
		}
		return ""
	})
	for _, retry := range []bool{false, true} {
		conn := c.Get()
		if retry {
			conn, _ = redisc.RetryConn(conn, 3, 0)
		}
		if _, err := conn.Do("GET", keyC); (err == nil) != retry {
			t.Errorf("retry %v: %v", retry, err)
		}
		conn.Close()
	}
	f.forget()
	conn := c.Get()
	defer conn.Close()
	want(t, conn, "OK", "SET", keyC, "1")
	if got := f.got("c:3"); len(got) != 1 || f.loads() != 0 {
		t.Errorf("c got %q, %d loads", got, f.loads())
	}
}

func TestWithoutAMapTheFirstMovedTeaches(t *testing.T) {
	f := newFake(t)
	c := f.cluster(func(c *redisc.Cluster) { c.StartupNodes = []string{"a:1"} })
	conn, err := redisc.RetryConn(c.Get(), 3, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	want(t, conn, "OK", "SET", keyC, "1")
	waitFor(t, "the map", func() bool { return f.loads() > 0 })
}

func TestRefreshJoinsAllErrors(t *testing.T) {
	f := newFake(t)
	c := f.cluster()
	for _, addr := range []string{"a:1", "b:2"} {
		f.kill(addr)
	}
	f.script("c:3", func(*fakeConn, []string) string { return "-ERR This instance has cluster support disabled\r\n" })
	err := c.Refresh()
	wantError(t, err, "redisc: all nodes failed")
	var op *net.OpError
	if !errors.As(err, &op) || !errors.Is(err, redis.Error("ERR This instance has cluster support disabled")) {
		t.Errorf("not every cause is reached: %v", err)
	}
	for _, addr := range []string{"a:1", "b:2", "c:3"} {
		wantError(t, err, addr)
	}
	wantError(t, new(redisc.Cluster).Refresh(), "no known node")
}

func TestRefreshTellsBgErrorOnlyInTheBackground(t *testing.T) {
	f := newFake(t)
	told := make(chan error, 100)
	c := f.cluster(func(c *redisc.Cluster) {
		c.StartupNodes = []string{"a:1"}
		c.BgError = func(src redisc.BgErrorSrc, err error) {
			if src != redisc.ClusterRefresh {
				t.Errorf("told of %d: %v", src, err)
			}
			told <- err
		}
	})
	for addr := range f.nodes {
		f.script(addr, func(_ *fakeConn, args []string) string {
			if args[0] == "CLUSTER" {
				return "-ERR broken\r\n"
			}
			return ""
		})
	}
	wantError(t, c.Refresh(), "all nodes failed")
	if len(told) > 0 {
		t.Errorf("told of an error that Refresh returned: %v", <-told)
	}
	conn := c.Get()
	defer conn.Close()
	conn.Do("GET", keyC) // MOVED
	if err := <-told; !strings.Contains(err.Error(), "all nodes failed") {
		t.Error(err)
	}
}

// TestLayoutRefreshMayRefresh: what is told of a map may ask for another.
func TestLayoutRefreshMayRefresh(t *testing.T) {
	f := newFake(t)
	var c *redisc.Cluster
	calls := 0
	c = f.cluster(func(set *redisc.Cluster) {
		set.LayoutRefresh = func(_, _ [redisc.HashSlots][]string) {
			if calls++; calls == 1 {
				if err := c.Refresh(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	if err := c.Refresh(); err != nil || calls != 2 {
		t.Errorf("%v, %d calls", err, calls)
	}
}

// TestCloseEndsARefresh: also when no node answers.
func TestCloseEndsARefresh(t *testing.T) {
	f := newFake(t)
	hold := make(chan struct{})
	defer close(hold)
	asked := make(chan struct{}, 10)
	for addr := range f.nodes {
		f.script(addr, func(*fakeConn, []string) string { asked <- struct{}{}; <-hold; return "" })
	}
	c := f.cluster(pools(0, false, nil))
	done := make(chan error)
	go func() { done <- c.Refresh() }()
	<-asked
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil || err.Error() != "redisc: closed" {
		t.Errorf("got %v", err)
	}
}

// TestNullAndIPv6Hosts: an empty or null host is the host that was asked.
func TestNullAndIPv6Hosts(t *testing.T) {
	f := newFake(t)
	f.add("[::1]:7")
	f.add("a:2")
	f.set(func() {
		row := func(first, last int, host string, port int) string {
			return array(integer(first), integer(last), array(host, integer(port), bulk("id")), array(bulk("?"), integer(9), bulk("x")))
		}
		f.slots = array(row(0, 5460, "$-1\r\n", 1), row(5461, 10922, bulk("::1"), 7), row(10923, 16383, bulk(""), 2))
		f.shares = []share{{0, 5460, []string{"a:1"}}, {5461, 10922, []string{"[::1]:7"}}, {10923, 16383, []string{"a:2"}}}
	})
	c := f.refreshed(func(c *redisc.Cluster) { c.StartupNodes = []string{"a:1"} })
	for key, addr := range map[string]string{keyA: "a:1", keyB: "[::1]:7", keyC: "a:2"} {
		conn := c.Get()
		want(t, conn, "OK", "SET", key, "1")
		if got := f.got(addr); len(got) != 1 {
			t.Errorf("%s got %q", addr, got)
		}
		conn.Close()
	}
	f.script("[::1]:7", func(_ *fakeConn, args []string) string {
		if args[0] == "GET" {
			return "-MOVED 7365 ::1:8\r\n"
		}
		return ""
	})
	f.script("a:1", func(_ *fakeConn, args []string) string {
		if args[0] == "GET" {
			return "-ASK 5061 :2\r\n"
		}
		return ""
	})
	f.add("[::1]:8")
	f.set(func() { f.shares[1].members = []string{"[::1]:8"} })
	for key, addr := range map[string]string{keyA: "a:2", keyB: "[::1]:8"} {
		conn, _ := redisc.RetryConn(c.Get(), 2, 0)
		want(t, conn, "1", "GET", key)
		if got := f.got(addr); len(got) == 0 || got[len(got)-1] != "GET "+key {
			t.Errorf("%s got %q", addr, got)
		}
		conn.Close()
	}
}

func integer(n int) string { return ":" + strconv.Itoa(n) + "\r\n" }

// TestConnectionErrorRefreshes: a node that dies has its slots looked for at once.
func TestConnectionErrorRefreshes(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	conn := c.Get()
	defer conn.Close()
	want(t, conn, "OK", "SET", keyC, "1")
	f.set(func() { f.shares[2].members = []string{"rc:3"} })
	f.kill("c:3")
	if _, err := conn.Do("GET", keyC); err == nil {
		t.Fatal("a dead node answered")
	}
	waitFor(t, "the map", func() bool { return f.loads() > 0 })
	waitFor(t, "the promoted replica", func() bool {
		f.forget()
		next := c.Get()
		defer next.Close()
		v, _ := redis.String(next.Do("GET", keyC))
		return v == "1" && len(f.got("a:1"))+len(f.got("b:2")) == 0
	})
}

// Only a new map can help when a MOVED names no node.
func TestMovedThatNamesNobodyRefreshes(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	f.forget()
	f.script("c:3", func(_ *fakeConn, args []string) string {
		if args[0] == "GET" {
			return "-MOVED 12182 ?:0\r\n"
		}
		return ""
	})
	conn := c.Get()
	defer conn.Close()
	_, err := conn.Do("GET", keyC)
	wantError(t, err, "MOVED 12182 ?:0")
	waitFor(t, "the map", func() bool { return f.loads() > 0 })
}

// TestStartupNodesAgain: when all known nodes are gone the first ones are asked again.
func TestStartupNodesAgain(t *testing.T) {
	f := newFake(t)
	f.add("seed:9")
	c := f.refreshed(func(c *redisc.Cluster) { c.StartupNodes = []string{"seed:9"} })
	for _, addr := range []string{"a:1", "b:2", "c:3", "ra:1", "rb:2", "rc:3"} {
		f.kill(addr)
	}
	f.set(func() { f.shares = []share{{0, 16383, []string{"seed:9"}}} })
	if err := c.Refresh(); err != nil {
		t.Fatal(err)
	}
	conn := c.Get()
	defer conn.Close()
	want(t, conn, "OK", "SET", keyC, "1")
}

// TestSlowNodeDoesNotHoldUpTheMap: the next one is asked meanwhile.
func TestSlowNodeDoesNotHoldUpTheMap(t *testing.T) {
	f := newFake(t)
	hold := make(chan struct{})
	defer close(hold)
	for _, addr := range []string{"a:1", "b:2"} {
		f.script(addr, func(*fakeConn, []string) string { <-hold; return "" })
	}
	if err := f.cluster().Refresh(); err != nil {
		t.Error(err)
	}
}

func TestEachNode(t *testing.T) {
	f := newFake(t)
	c := f.cluster(func(c *redisc.Cluster) { c.StartupNodes = []string{"a:1"} })
	visit := func(replicas bool) (seen []string) {
		err := c.EachNode(replicas, func(addr string, conn redis.Conn) error {
			seen = append(seen, addr)
			_, err := conn.Do("PING")
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return seen
	}
	if got := visit(false); !reflect.DeepEqual(got, []string{"a:1"}) || f.loads() > 0 {
		t.Errorf("before there is a map: %v", got)
	}
	wantError(t, c.EachNode(true, nil), "no known node")
	if err := c.Refresh(); err != nil {
		t.Fatal(err)
	}
	if got := visit(false); len(got) != 3 {
		t.Errorf("primaries: %v", got)
	}
	if got := visit(true); len(got) != 3 || got[0][0] != 'r' {
		t.Errorf("replicas: %v", got)
	}
	stop, count := errors.New("stop"), 0
	if err := c.EachNode(false, func(string, redis.Conn) error { count++; return stop }); err != stop || count != 1 {
		t.Errorf("%v after %d nodes", err, count)
	}
	f.kill("b:2")
	bad := 0
	err := c.EachNode(false, func(addr string, conn redis.Conn) error {
		if _, err := conn.Do("PING"); err != nil {
			bad++
			if addr != "b:2" || conn.Err() == nil {
				t.Errorf("%s: %v", addr, err)
			}
		}
		return nil
	})
	if err != nil || bad != 1 {
		t.Errorf("%d nodes are bad, %v", bad, err)
	}
	waitFor(t, "the connections to end", func() bool { return f.connections() == 0 })
}

// TestClusterMethodsConcurrently is for the race detector.
func TestClusterMethodsConcurrently(t *testing.T) {
	f := newFake(t)
	c := f.cluster(pools(0, false, nil), func(c *redisc.Cluster) { c.BgError = func(redisc.BgErrorSrc, error) {} })
	allow := func(err error) {
		if err != nil && err.Error() != "redisc: closed" {
			t.Error(err)
		}
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for n := range 30 {
				allow(c.Refresh())
				c.Stats()
				allow(c.EachNode(i%2 == 0, func(_ string, conn redis.Conn) error { return conn.Err() }))
				conn := c.Get()
				_, err := conn.Do("INCR", keyC)
				allow(err)
				conn.Close()
				if dialed, err := c.Dial(); err == nil {
					_, err = dialed.Do("INCR", keyC)
					allow(err)
					dialed.Close()
				}
				if i == 0 && n == 20 {
					allow(c.Close())
				}
			}
		})
	}
	group.Wait()
}
