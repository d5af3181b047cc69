package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// withReplicas is a map of one group: a is the primary of b and c.
func withReplicas() string { return shards(share{0, 16383, []string{"a:1", "b:2", "c:3"}}) }

func replicated(t *testing.T, opt Options) (*fake, *Client) {
	t.Helper()
	f := newFake(t, "a:1", "b:2", "c:3")
	f.answerMap(withReplicas)
	return f, f.open(opt, "a:1")
}

func TestContract20Routes(t *testing.T) {
	for route, want := range map[Route]string{RoutePrimary: "a", RouteReplica: "bc", RoutePreferReplica: "bc"} {
		f, c := replicated(t, Options{Route: route})
		for range 10 {
			c.Do(t.Context(), "GET", keyA)
			c.Do(t.Context(), "SET", keyA, "v")
		}
		got := ""
		for _, addr := range []string{"a:1", "b:2", "c:3"} {
			if len(f.node(addr).got("GET")) > 0 {
				got += addr[:1]
			}
			if n := len(f.node(addr).got("SET")); addr != "a:1" && n > 0 {
				t.Errorf("route %d: a replica got a write", route)
			}
		}
		if got != want {
			t.Errorf("route %d: reads went to %s, not %s", route, got, want)
		}
	}
}

func TestContract20ReadonlyOncePerConnection(t *testing.T) {
	f, c := replicated(t, Options{Route: RouteReplica})
	for range 20 {
		get2(t, c)
	}
	seen := map[int]int{}
	for _, r := range append(f.node("b:2").got("READONLY"), f.node("c:3").got("READONLY")...) {
		seen[r.conn.id]++
	}
	if len(seen) == 0 {
		t.Error("nobody was told READONLY")
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("connection %d got READONLY %d times", id, n)
		}
	}
	if len(f.node("a:1").got("READONLY")) > 0 {
		t.Error("the primary was told READONLY")
	}
}

func get2(t *testing.T, c *Client) {
	t.Helper()
	if err := c.Do(t.Context(), "GET", keyA).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestContract20ReplicasThatAreNotReadyArePassedOver(t *testing.T) {
	for _, reply := range []string{"-LOADING x\r\n", "-MASTERDOWN x\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			f, c := replicated(t, Options{Route: RoutePreferReplica})
			f.node("b:2").script(withMap(withReplicas, failing("GET", 1<<30, reply)))
			start := time.Now()
			for range 10 {
				get2(t, c)
			}
			if n := len(f.node("b:2").got("GET")); n != 1 {
				t.Errorf("%q: b was asked %d times", reply, n)
			}
			if d := time.Since(start); d != 0 {
				t.Errorf("%q: passing over took %v", reply, d)
			}
			time.Sleep(2 * passOverTime)
			f.node("b:2").script(withMap(withReplicas, nil))
			for range 2 {
				get2(t, c)
			}
			if n := len(f.node("b:2").got("GET")); n != 2 {
				t.Errorf("%q: b is still passed over", reply)
			}
		})
	}
}

func TestContract20OfflineReplicasAreNotAsked(t *testing.T) {
	f := newFake(t, "a:1", "b:2")
	text := func() string {
		return strings.Replace(shards(share{0, 16383, []string{"a:1", "b:2"}}), bulk("replica")+bulk("health")+bulk("online"),
			bulk("replica")+bulk("health")+bulk("loading"), 1)
	}
	f.answerMap(text)
	c := f.open(Options{Route: RoutePreferReplica, RetryTimeout: 50 * time.Millisecond}, "a:1")
	get2(t, c)
	if len(f.node("b:2").got("GET")) != 0 {
		t.Error("a loading replica was asked")
	}
	if err := c.WithRoute(RouteReplica).Do(t.Context(), "GET", keyA).Err(); err == nil {
		t.Error("RouteReplica was content with the primary")
	}
}

func TestContract20PreferReplicaWhenNoneCanBeReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := replicated(t, Options{Route: RoutePreferReplica})
		f.node("b:2").kill()
		f.node("c:3").kill()
		get2(t, c)
		if len(f.node("a:1").got("GET")) != 1 {
			t.Error("the primary was not asked")
		}
	})
}

func TestContract20MovedOfAReplicaIsFollowed(t *testing.T) {
	f, c := replicated(t, Options{Route: RouteReplica})
	for _, addr := range []string{"b:2", "c:3"} {
		f.node(addr).script(withMap(withReplicas, movedTo(5061, "a:1")))
	}
	get2(t, c)
	if len(f.node("a:1").got("GET")) != 1 {
		t.Error("the node named did not get the command")
	}
}

func TestContract20Nearest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, "a:1", "b:2", "c:3")
		delay := map[string]time.Duration{"a:1": 3 * time.Millisecond, "b:2": time.Millisecond, "c:3": 2 * time.Millisecond}
		for addr, n := range f.nodes {
			n.script(withMap(withReplicas, func(r *request) string {
				time.Sleep(delay[addr])
				return pass
			}))
		}
		c := f.open(Options{Route: RouteNearest}, "a:1")
		time.Sleep(time.Second)
		for range 5 {
			get2(t, c)
		}
		if n := len(f.node("b:2").got("GET")); n != 5 {
			t.Errorf("the nearest node got %d of 5 reads", n)
		}
	})
}

func TestContract20Zone(t *testing.T) {
	f := newFake(t, "a:1", "b:2", "c:3")
	f.answerMap(func() string {
		n := func(addr, role, zone string) string {
			host, port, _ := strings.Cut(addr, ":")
			return mapOf("endpoint", bulk(host), "port", ":"+port+"\r\n", "role", bulk(role), "health", bulk("online"),
				"availability-zone", bulk(zone))
		}
		return array(mapOf("slots", array(":0\r\n", ":16383\r\n"),
			"nodes", array(n("a:1", "master", "z1"), n("b:2", "replica", "z2"), n("c:3", "replica", "z3"))))
	})
	for zone, want := range map[string]string{"z1": "a:1", "z3": "c:3"} {
		c := f.open(Options{Route: RouteZone, Zone: zone}, "a:1")
		f.node(want).forget()
		for range 4 {
			get2(t, c)
		}
		if n := len(f.node(want).got("GET")); n != 4 {
			t.Errorf("zone %s: its node got %d of 4 reads", zone, n)
		}
	}
}

// hub makes the nodes of a fake pass on what is published.
type hub struct {
	mu   sync.Mutex
	subs map[string]map[*request]bool // by channel
}

// subscriptions answers the subscribe commands of a node.
func (h *hub) answer(r *request) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	kind := strings.ToLower(r.args[0])
	if kind != "subscribe" && kind != "psubscribe" && kind != "ssubscribe" {
		return pass
	}
	out := ""
	for i, name := range r.args[1:] {
		if h.subs[name] == nil {
			h.subs[name] = map[*request]bool{}
		}
		h.subs[name][r] = true
		out += push(bulk(kind), bulk(name), fmt.Sprintf(":%d\r\n", i+1))
	}
	return out
}

func push(list ...string) string { return ">" + array(list...)[1:] }

// send writes a push to all subscribers of a channel.
func (h *hub) send(channel string, list ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.subs[channel] {
		r.conn.write(push(list...))
	}
}

// lose ends a sharded subscription as a server does when its slot moves.
func (h *hub) lose(channel string) {
	h.send(channel, bulk("sunsubscribe"), bulk(channel), ":0\r\n")
	h.mu.Lock()
	delete(h.subs, channel)
	h.mu.Unlock()
}

func newHub() *hub { return &hub{subs: map[string]map[*request]bool{}} }

// receive wants one message of a subscription.
func receive(t *testing.T, s *Subscription) Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	m, err := s.Receive(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestContract21SubscribeAndMessages(t *testing.T) {
	f, c := cluster3(t, Options{})
	h := newHub()
	for _, n := range f.nodes {
		n.script(withMap(map3, h.answer))
	}
	s, err := c.Subscribe(t.Context(), "one", "two")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h.send("two", bulk("message"), bulk("two"), bulk("hello"))
	if m := receive(t, s); m != (Message{Channel: "two", Payload: "hello"}) {
		t.Errorf("got %+v", m)
	}
	p, err := c.PSubscribe(t.Context(), "t*")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	h.send("t*", bulk("pmessage"), bulk("t*"), bulk("two"), bulk("hi"))
	for m, err := range p.Messages(t.Context()) {
		if err != nil || m != (Message{Channel: "two", Pattern: "t*", Payload: "hi"}) {
			t.Errorf("got %+v, %v", m, err)
		}
		break
	}
	s.Close()
	if _, err := s.Receive(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestContract21DropIsFollowedByAGap(t *testing.T) {
	f, c := cluster3(t, Options{})
	h := newHub()
	for _, n := range f.nodes {
		n.script(withMap(map3, h.answer))
	}
	s, err := c.Subscribe(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h.mu.Lock()
	for r := range h.subs["one"] {
		delete(h.subs["one"], r)
		r.conn.drop()
	}
	h.mu.Unlock()
	if m := receive(t, s); m != (Message{Channel: "one", Gap: true}) {
		t.Errorf("got %+v", m)
	}
	h.send("one", bulk("message"), bulk("one"), bulk("again"))
	if m := receive(t, s); m.Payload != "again" {
		t.Errorf("got %+v", m)
	}
}

func TestContract21ShardedChannelsFollowTheirSlot(t *testing.T) {
	f, c := cluster3(t, Options{})
	h := newHub()
	var moved atomic.Bool
	for addr, n := range f.nodes {
		n.script(withMap(map3, func(r *request) string {
			if r.is("SSUBSCRIBE", keyA) && addr == "a:1" && moved.Load() {
				return "-MOVED 5061 b:2\r\n"
			}
			return h.answer(r)
		}))
	}
	s, err := c.SSubscribe(t.Context(), keyA, "{bar}2", keyC)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := f.node("a:1").got("SSUBSCRIBE")
	if len(a) != 1 || len(a[0].args) != 3 || len(f.node("c:3").got("SSUBSCRIBE")) != 1 {
		t.Errorf("not grouped by slot and node: %v", a)
	}
	moved.Store(true)
	h.lose(keyA)
	if m := receive(t, s); m != (Message{Channel: keyA, Gap: true}) {
		t.Errorf("got %+v", m)
	}
	if n := len(f.node("b:2").got("SSUBSCRIBE")); n != 1 {
		t.Errorf("the new node got %d subscriptions", n)
	}
	h.send(keyA, bulk("smessage"), bulk(keyA), bulk("moved"))
	if m := receive(t, s); m != (Message{Channel: keyA, Payload: "moved"}) {
		t.Errorf("got %+v", m)
	}
}

func TestContract21RefusedSubscriptionSaysWhy(t *testing.T) {
	f, c := cluster3(t, Options{})
	for _, n := range f.nodes {
		n.script(withMap(map3, func(r *request) string {
			if r.is("SUBSCRIBE") {
				return "-NOPERM No permissions to access a channel\r\n"
			}
			return pass
		}))
	}
	_, err := c.Subscribe(t.Context(), "one")
	if err == nil || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("got %v", err)
	}
}

func TestContract23DurabilityOnEveryConnection(t *testing.T) {
	f, c := cluster3(t, Options{Durability: Durability{Replicas: 2, Timeout: time.Second}})
	set(t, c, keyC, "v")
	got := f.node("c:3").got("CLIENT")
	if len(got) != 1 || got[0].String() != "CLIENT DURABILITY REPLICAS 2 TIMEOUT 1000" {
		t.Errorf("got %v", got)
	}
}

func TestContract24BlackHoledNodeLeavesOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		for _, key := range []string{keyA, keyB, keyC} {
			set(t, c, key, key)
		}
		f.node("a:1").script(func(*request) string { return "" })
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		var waiting sync.WaitGroup
		for range 50 {
			waiting.Go(func() { c.Do(ctx, "GET", keyA) })
		}
		synctest.Wait()
		start := time.Now()
		for range 100 {
			get(t, c, keyB)
			get(t, c, keyC)
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("the other nodes took %v", d)
		}
		waiting.Wait()
	})
}

func TestContract24ManyGoroutinesShareFewConnections(t *testing.T) {
	f, c := cluster3(t, Options{ConnsPerNode: 2})
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			key := fmt.Sprint("{bar}", i)
			set(t, c, key, key)
			if got := get(t, c, key); got != key {
				t.Errorf("got the reply of %s for %s", got, key)
			}
		})
	}
	group.Wait()
	if n := f.node("a:1").connections(); n > 2 {
		t.Errorf("%d connections", n)
	}
}

func TestContract24BlockingCommandsTakeTheirOwnConnection(t *testing.T) {
	f, c := cluster3(t, Options{ConnsPerNode: 1})
	set(t, c, keyA, "v")
	arrived, release := make(chan struct{}), make(chan struct{})
	f.node("a:1").script(withMap(map3, func(r *request) string {
		if r.is("BLPOP") {
			close(arrived)
			<-release
			return array(bulk(keyA), bulk("x"))
		}
		return pass
	}))
	done := make(chan Reply, 1)
	go func() { done <- c.Do(context.Background(), "BLPOP", keyA, 0) }()
	<-arrived
	get2(t, c) // is not held up
	close(release)
	if got, err := (<-done).Texts(); err != nil || !slices.Equal(got, []string{keyA, "x"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if a, b := f.node("a:1").got("BLPOP")[0].conn, f.node("a:1").got("GET")[0].conn; a == b {
		t.Error("it was sent on the shared connection")
	}
}

func TestContract24CommandsThatChangeTheConnectionAreRefused(t *testing.T) {
	f, c := cluster3(t, Options{})
	f.node("a:1").forget()
	for _, name := range ownCommands {
		words := strings.Fields(name)
		args := []any{words[0]}
		if len(words) > 1 {
			args = append(args, words[1])
		}
		if err := c.Do(t.Context(), append(args, keyA)...).Err(); !errors.Is(err, ErrNotShared) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := f.node("a:1").gotAll(); len(got) > 0 {
		t.Errorf("sent all the same: %q", got)
	}
}

// quiet is a server that allocates nothing: every read is one GET or SET of a fixed
// length, which it answers with bytes made before.
func quiet(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	hello, none := []byte("%0\r\n"), []byte("-ERR This instance has cluster support disabled\r\n")
	ok, value := []byte("+OK\r\n"), []byte("$5\r\nvalue\r\n")
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				buf := make([]byte, 4096)
				for {
					n, err := nc.Read(buf)
					if err != nil {
						return
					}
					reply := ok
					switch req := buf[:n]; {
					case bytes.Contains(req, []byte("HELLO")):
						reply = hello
					case bytes.Contains(req, []byte("CLUSTER")):
						reply = none
					case bytes.Contains(req, []byte("GET")):
						reply = value
					}
					nc.Write(reply)
				}
			}()
		}
	}()
	return l.Addr().String()
}

func TestContract24NoAllocationOnTheHotPath(t *testing.T) {
	c, err := Open(t.Context(), Options{Addrs: []string{quiet(t)}, ConnsPerNode: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	plain, done := context.Background(), t.Context()
	key, value := strings.Repeat("k", 20), strings.Repeat("v", 40)
	for name, ctx := range map[string]context.Context{"without": plain, "with": done} {
		if n := testing.AllocsPerRun(1000, func() {
			if err := c.Do(ctx, "SET", key, value).Err(); err != nil {
				t.Fatal(err)
			}
		}); n > 0 && !raceEnabled {
			t.Errorf("SET %s cancellation: %v allocations", name, n)
		}
		if n := testing.AllocsPerRun(1000, func() {
			if got, err := c.Do(ctx, "GET", key).Text(); err != nil || got != "value" {
				t.Fatal(got, err)
			}
		}); n > 1 && !raceEnabled {
			t.Errorf("GET %s cancellation: %v allocations", name, n)
		}
	}
}

func TestContract26CountersAndEvents(t *testing.T) {
	var mu sync.Mutex
	seen := map[EventKind]int{}
	f, c := cluster3(t, Options{OnEvent: func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		seen[e.Kind]++
	}})
	f.node("a:1").script(withMap(map3, failing("GET", 1, "-MOVED 5061 a:1\r\n")))
	get2(t, c)
	f.node("a:1").script(withMap(map3, failing("GET", 1, "-TRYAGAIN x\r\n")))
	get2(t, c)
	f.node("a:1").script(withMap(map3, failing("GET", 1, "-ASK 5061 b:2\r\n")))
	get2(t, c)
	f.node("a:1").script(withMap(map3, func(r *request) string {
		if r.is("GET") {
			r.conn.drop()
			return ""
		}
		return pass
	}))
	c.Do(t.Context(), "GET", keyA)
	waitFor(t, "the drop to be told", func() bool { mu.Lock(); defer mu.Unlock(); return seen[EventDrop] > 0 })
	mu.Lock()
	defer mu.Unlock()
	for _, k := range []EventKind{EventMoved, EventTryAgain, EventAsk, EventReload, EventDial, EventDrop, EventFailure} {
		if seen[k] == 0 {
			t.Errorf("no event for %q", k)
		}
	}
	s := c.Stats()
	if s.Moved != 1 || s.TryAgain != 1 || s.Ask != 1 || s.Failures != 1 || s.Dials == 0 || s.Reloads == 0 {
		t.Errorf("counted %+v", s)
	}
}
