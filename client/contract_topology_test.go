package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-kv/bowline/client/internal/announce"
	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// The tests of this and the other contract files are named after the points of
// docs/client-behavior.md.

func TestFakeKeys(t *testing.T) {
	for key, want := range map[string]int{keyA: 5061, keyB: 7365, keyC: 12182} {
		if got := int(slot.OfString(key)); got != want {
			t.Errorf("%s is in slot %d, not %d", key, got, want)
		}
	}
}

func get(t *testing.T, c *Client, key string) string {
	t.Helper()
	s, err := c.Do(t.Context(), "GET", key).Text()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func set(t *testing.T, c *Client, key, value string) {
	t.Helper()
	if err := c.Do(t.Context(), "SET", key, value).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestContract01LookupsSeeOneSnapshotAndAllocateNothing(t *testing.T) {
	_, c := cluster3(t, Options{})
	q := newCall()
	q.fill("GET", keyA)
	if n := testing.AllocsPerRun(100, func() {
		if n, _ := c.core.pick(q, RoutePrimary); n.addr != "a:1" {
			t.Fatal(n.addr)
		}
	}); n != 0 {
		t.Errorf("a lookup allocates %v times", n)
	}
	old := c.core.top.Load()
	b, _ := c.core.nodeAt("b:2")
	c.core.moved(5061, b)
	if old.group(5061).primary.addr != "a:1" || c.core.top.Load().group(5061).primary != b {
		t.Error("a MOVED changed a snapshot that readers hold")
	}
}

func TestContract02StartAsksAllSeedsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, "a:1", "b:2", "c:3")
		f.answerMap(map3)
		f.node("a:1").set(func(n *fakeNode) { n.stall = true })
		start := time.Now()
		c := f.open(Options{}, "a:1", "b:2")
		if time.Since(start) != 0 {
			t.Errorf("a seed that hangs delayed Open by %v", time.Since(start))
		}
		set(t, c, keyC, "v")
	})
}

func TestContract02FallsBackToClusterSlots(t *testing.T) {
	f := newFake(t, "a:1", "b:2")
	row := func(first, last int, host string, port int) string {
		return array(fmt.Sprintf(":%d\r\n", first), fmt.Sprintf(":%d\r\n", last), array(bulk(host), fmt.Sprintf(":%d\r\n", port), bulk("id")))
	}
	slots := array(row(0, 8000, "a", 1), row(8001, 16383, "b", 2))
	for _, n := range f.nodes {
		n.script(func(r *request) string {
			switch {
			case r.is("CLUSTER", "SHARDS"):
				return "-ERR unknown subcommand 'SHARDS'. Try CLUSTER HELP.\r\n"
			case r.is("CLUSTER", "SLOTS"):
				return slots
			}
			return pass
		})
	}
	c := f.open(Options{}, "a:1")
	set(t, c, keyC, "v")
	if len(f.node("b:2").got("SET")) != 1 {
		t.Error("the slot's node did not get the command")
	}
}

func TestContract02StandaloneServer(t *testing.T) {
	f := newFake(t, "a:1")
	f.node("a:1").script(func(r *request) string {
		if r.is("CLUSTER") {
			return "-ERR This instance has cluster support disabled\r\n"
		}
		return pass
	})
	c := f.open(Options{}, "a:1")
	if err := c.Do(t.Context(), "MSET", keyA, "1", keyB, "2").Err(); err != nil {
		t.Fatal(err)
	}
	if got := f.node("a:1").got("MSET"); len(got) != 1 || len(got[0].args) != 5 {
		t.Errorf("a standalone server got %v: nothing is split there", got)
	}
	if err := c.Do(t.Context(), "RENAME", keyA, keyB).Err(); err != nil {
		t.Errorf("keys of any slots may meet on a standalone server: %v", err)
	}
	_, err := Open(t.Context(), Options{Addrs: []string{"a:1"}, Dialer: f.dial, RequireCluster: true})
	if err == nil || !errors.Is(err, errNoCluster) {
		t.Errorf("RequireCluster took a standalone server: %v", err)
	}
}

func TestContract02AllSeedErrorsAreJoined(t *testing.T) {
	f := newFake(t, "a:1", "b:2")
	f.node("a:1").set(func(n *fakeNode) { n.refuse = true })
	f.node("b:2").script(func(r *request) string { return "-NOAUTH Authentication required.\r\n" })
	_, err := Open(t.Context(), Options{Addrs: []string{"a:1", "b:2"}, Dialer: f.dial})
	var dial *net.OpError
	var server *resp.Error
	if !errors.As(err, &dial) || !errors.As(err, &server) || server.Code() != "NOAUTH" || !errors.Is(err, ErrNoNode) {
		t.Errorf("an error is missing in %v", err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("the text has several lines: %q", err)
	}
}

func TestContract03ReloadsAreSharedAndSpaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, "a:1", "b:2", "c:3")
		var loads atomic.Int32
		f.answerMap(func() string { loads.Add(1); time.Sleep(time.Millisecond); return map3() })
		c := f.open(Options{}, "a:1")
		loads.Store(0)
		start := time.Now()
		done := make(chan error)
		for range 100 {
			go func() { done <- c.Reload(t.Context()) }()
		}
		for range 100 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if n := loads.Load(); n != 1 {
			t.Errorf("100 callers caused %d reloads", n)
		}
		for range 10 {
			c.Reload(t.Context())
		}
		if d := time.Since(start); d < 10*50*time.Millisecond {
			t.Errorf("11 reloads in %v are a storm", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Microsecond)
		defer cancel()
		if err := c.Reload(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller's context did not bound its wait: %v", err)
		}
		before := c.Stats().Reloads
		time.Sleep(time.Second)
		if c.Stats().Reloads != before+1 {
			t.Error("the caller's context ended the reload itself")
		}
	})
}

func TestContract03FailedReloadKeepsTheMapAndTellsWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed atomic.Int32
		f, c := cluster3(t, Options{OnEvent: func(e Event) {
			if e.Kind == EventReloadFailed && e.Err != nil {
				failed.Add(1)
			}
		}})
		set(t, c, keyB, "v")
		for _, n := range f.nodes {
			n.script(func(r *request) string {
				if r.is("CLUSTER") {
					return "-LOADING Redis is loading the dataset in memory\r\n"
				}
				return pass
			})
		}
		err := c.Reload(t.Context())
		var server *resp.Error
		if !errors.As(err, &server) || server.Code() != "LOADING" {
			t.Errorf("the cause is missing: %v", err)
		}
		if get(t, c, keyB) != "v" {
			t.Error("the old map is gone")
		}
		if failed.Load() == 0 || c.Stats().ReloadFailures == 0 {
			t.Error("neither hook nor counter was told")
		}
		// A command that needs a new map says why there is none.
		f.node("a:1").kill()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = c.Do(ctx, "GET", keyA).Err()
		if !errors.Is(err, ErrNoNode) || !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &server) {
			t.Errorf("want no node, the deadline and the reload's cause in %v", err)
		}
	})
}

func TestContract03SerialFailuresCauseNoStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		set(t, c, keyA, "v")
		for _, n := range f.nodes {
			n.kill()
		}
		for range 20 {
			c.Do(t.Context(), "GET", keyA)
		}
		// 20 commands tried for ten seconds each; failing reloads are a second apart.
		if n := c.Stats().ReloadFailures; n > 20*11+10 {
			t.Errorf("%d reloads in 200 seconds", n)
		}
		if f.node("b:2").dialed > 1200 {
			t.Errorf("%d dials of one dead node in 200 seconds", f.node("b:2").dialed)
		}
	})
}

func TestContract03ReloadOnMoved(t *testing.T) {
	for _, on := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f, c := cluster3(t, Options{ReloadOnMoved: on})
			f.node("a:1").script(withMap(map3, movedTo(5061, "b:2")))
			before := c.Stats().Reloads
			set(t, c, keyA, "v")
			time.Sleep(time.Second)
			if got := c.Stats().Reloads > before; got != on {
				t.Errorf("ReloadOnMoved %v: reloaded %v", on, got)
			}
		})
	}
}

// movedTo answers every command with keys with a MOVED.
func movedTo(slot int, addr string) func(*request) string {
	return func(r *request) string {
		if r.is("GET") || r.is("SET") || r.is("INCR") || r.is("APPEND") || r.is("MGET") || r.is("DEL") {
			return fmt.Sprintf("-MOVED %d %s\r\n", slot, addr)
		}
		return pass
	}
}

func TestContract04MovedPatchesTheSlotAndRetries(t *testing.T) {
	f, c := cluster3(t, Options{})
	f.node("a:1").script(withMap(map3, movedTo(5061, "b:2")))
	set(t, c, keyA, "v")
	if get(t, c, keyA) != "v" {
		t.Error("the value is elsewhere")
	}
	if n := len(f.node("a:1").gotAll()); n != 1 {
		t.Errorf("the old node was asked %d times, not once", n)
	}
	if c.core.top.Load().group(5060).primary.addr != "a:1" {
		t.Error("a slot that nobody spoke of was moved too")
	}
	if c.Stats().Moved != 1 {
		t.Errorf("counted %d MOVED", c.Stats().Moved)
	}
}

func TestContract05Addresses(t *testing.T) {
	for _, c := range []struct{ announced, asked, want string }{
		{"10.0.0.1:7000", "h:1", "10.0.0.1:7000"},
		{":7000", "h:1", "h:7000"},
		{":7000", "[::1]:1", "[::1]:7000"},
		{"10.0.0.1:0", "h:1", "10.0.0.1:1"},
		{"?:7000", "h:1", ""},
		{":0", "h:1", ""},
		{"::1:7000", "h:1", "[::1]:7000"},
		{"[fe80::2]:7000", "h:1", "[fe80::2]:7000"},
		{"2001:db8::1:7000", "h:1", "[2001:db8::1]:7000"},
		{"n.example:7000@17000", "h:1", "n.example:7000"},
	} {
		v := resp.Value{Kind: resp.KindError, Str: []byte("MOVED 1 " + c.announced)}
		r, ok := parseRedirect(&v, c.asked)
		if r.addr != c.want || ok != (c.want != "") {
			t.Errorf("MOVED to %s as said by %s leads to %q, not %q", c.announced, c.asked, r.addr, c.want)
		}
	}
	for _, bad := range []string{"MOVED", "MOVED 1", "MOVED 16384 a:1", "MOVED x a:1", "MOVED 1 a", "MOVED 1 a:x", "ERR MOVED 1 a:1"} {
		v := resp.Value{Kind: resp.KindError, Str: []byte(bad)}
		if _, ok := parseRedirect(&v, "h:1"); ok {
			t.Errorf("%q is no redirection", bad)
		}
	}
}

func TestContract05MovedWithoutHostMeansTheHostAsked(t *testing.T) {
	f := newFake(t, "a:1", "a:2")
	f.answerMap(func() string { return shards(share{0, 16383, []string{"a:1"}}) })
	f.node("a:1").script(withMap(func() string { return shards(share{0, 16383, []string{"a:1"}}) }, movedTo(5061, ":2")))
	c := f.open(Options{}, "a:1")
	set(t, c, keyA, "v")
	if len(f.node("a:2").got("SET")) != 1 {
		t.Error("a:2 did not get the command")
	}
}

func TestContract05NodesOfTheMap(t *testing.T) {
	node := func(pairs ...string) string { return mapOf(pairs...) }
	text := array(mapOf("slots", array(":0\r\n", ":16383\r\n"), "nodes", array(
		node("endpoint", "_\r\n", "port", ":7\r\n", "role", bulk("master"), "health", bulk("online")),
		node("endpoint", bulk(""), "port", ":0\r\n", "role", bulk("replica"), "health", bulk("online")),
		node("endpoint", bulk("?"), "port", ":9\r\n", "role", bulk("replica"), "health", bulk("online")),
		node("endpoint", bulk("n.example"), "port", ":9\r\n", "tls-port", ":10\r\n", "role", bulk("replica"), "health", bulk("loading")))))
	v, _, err := new(resp.ReplyReader).Next([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	l, err := announce.ParseShards(&v, "h:1", false)
	if err != nil {
		t.Fatal(err)
	}
	got := l.Groups[0].Members
	if len(got) != 2 || got[0].Addr != "h:7" || !got[0].Primary || got[1].Addr != "n.example:9" || !got[1].Offline {
		t.Errorf("got %+v", got)
	}
	l, _ = announce.ParseShards(&v, "h:1", true)
	if got := l.Groups[0].Members[1]; got.Addr != "n.example:10" || got.ServerName != "n.example" {
		t.Errorf("with TLS: %+v", got)
	}
}

func TestContract05DeadPrimaryBesideItsSuccessor(t *testing.T) {
	member := func(addr string, offline bool) announce.Member {
		return announce.Member{Addr: addr, Primary: true, Offline: offline}
	}
	for _, members := range [][]announce.Member{
		{member("old:1", true), member("new:2", false)}, {member("new:2", false), member("old:1", true)},
	} {
		l := announce.Map{Groups: []announce.Group{{Slots: []slot.Range{{First: 0, Last: 9}}, Members: members}}}
		c := newCore(Options{})
		top := build(&l, func(addr, name string) *node { return newNode(c, addr, name) })
		if got := top.group(5).primary.addr; got != "new:2" {
			t.Errorf("the slots are with %s", got)
		}
		c.close()
	}
}

func TestContract05MapAddr(t *testing.T) {
	f := newFake(t, "a:1", "b:2", "c:3")
	f.answerMap(func() string { return strings.ReplaceAll(map3(), "$1\r\nc", "$1\r\nz") })
	c := f.open(Options{MapAddr: func(addr string) string { return strings.Replace(addr, "z:", "c:", 1) }}, "a:1")
	set(t, c, keyC, "v")
	if len(f.node("c:3").got("SET")) != 1 {
		t.Error("the mapped node did not get the command")
	}
}

func TestContract05SeedsWhenAllNodesAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		set(t, c, keyA, "v")
		for _, n := range f.nodes {
			n.kill()
		}
		// The seed's name leads to a new cluster now.
		f.add("d:4").script(withMap(func() string { return shards(share{0, 16383, []string{"d:4"}}) }, nil))
		f.mu.Lock()
		f.nodes["a:1"] = f.nodes["d:4"]
		f.mu.Unlock()
		set(t, c, keyA, "w")
		if len(f.node("d:4").got("SET")) != 1 {
			t.Error("the new cluster was not found")
		}
	})
}

func TestContract06NodesThatLeaveDeliverTheirReplies(t *testing.T) {
	f, c := cluster3(t, Options{})
	set(t, c, keyA, "v")
	arrived, release := make(chan struct{}), make(chan struct{})
	f.node("a:1").script(withMap(map3, func(r *request) string {
		if r.is("GET") {
			close(arrived)
			<-release
		}
		return pass
	}))
	got := make(chan Reply, 1)
	go func() { got <- c.Do(context.Background(), "GET", keyA) }()
	<-arrived
	without := func() string { return shards(share{0, 16383, []string{"b:2"}}) }
	f.node("b:2").script(withMap(without, nil))
	f.node("c:3").script(withMap(without, nil))
	waitFor(t, "the node to leave the map", func() bool {
		c.Reload(t.Context())
		return c.core.top.Load().nodes["a:1"] == nil
	})
	close(release)
	if text, err := (<-got).Text(); text != "v" || err != nil {
		t.Errorf("the reply in flight became %q, %v", text, err)
	}
	waitFor(t, "its connections to close", func() bool { return f.node("a:1").connections() == 0 })
}

func TestContract06HundredReloadsKeepTheConnections(t *testing.T) {
	f, c := cluster3(t, Options{ReloadMin: time.Microsecond})
	for _, key := range []string{keyA, keyB, keyC} {
		set(t, c, key, "v")
	}
	count := func() (n int) {
		for _, node := range f.nodes {
			n += node.connections()
		}
		return n
	}
	waitFor(t, "each node to be asked", func() bool { // the loads themselves open a connection to each
		c.Reload(t.Context())
		for _, node := range f.nodes {
			if len(node.got("CLUSTER")) == 0 {
				return false
			}
		}
		return true
	})
	before := count()
	for range 100 {
		if err := c.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if after := count(); after != before {
		t.Errorf("%d connections became %d", before, after)
	}
}
