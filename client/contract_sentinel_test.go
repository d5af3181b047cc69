package client

import (
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// sentinels are two scripted ones that watch the nodes a:1 and b:2.
type sentinels struct {
	f *fake

	mu      sync.Mutex
	says    map[string]string // the primary, by Sentinel
	primary string            // the one that is
	readers []*request        // subscriptions that are open
}

func newSentinels(t *testing.T) *sentinels {
	s := &sentinels{f: newFake(t, "s:1", "s:2", "a:1", "b:2"), primary: "a:1",
		says: map[string]string{"s:1": "a:1", "s:2": "a:1"}}
	for _, addr := range []string{"s:1", "s:2"} {
		s.f.node(addr).script(func(r *request) string { return s.sentinel(addr, r) })
	}
	for _, addr := range []string{"a:1", "b:2"} {
		s.f.node(addr).script(func(r *request) string { return s.data(addr, r) })
	}
	return s
}

func (s *sentinels) sentinel(addr string, r *request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.is("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mine"):
		host, port, _ := strings.Cut(s.says[addr], ":")
		return array(bulk(host), bulk(port))
	case r.is("SUBSCRIBE", "+switch-master"):
		s.readers = append(s.readers, r)
		return array(bulk("subscribe"), bulk("+switch-master"), ":1\r\n")
	case r.is("PING"):
		return array(bulk("pong"), bulk(""))
	}
	return "-ERR unknown command\r\n"
}

func (s *sentinels) data(addr string, r *request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch is := s.primary == addr; {
	case r.is("ROLE") && is:
		return array(bulk("master"), ":0\r\n", array())
	case r.is("ROLE"):
		return array(bulk("slave"))
	case r.is("SET") && !is:
		return "-READONLY You can't write against a read only replica.\r\n"
	}
	return pass
}

func (s *sentinels) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// tell publishes a switch to those that listen.
func (s *sentinels) tell(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.readers {
		r.conn.write(array(bulk("message"), bulk("+switch-master"), bulk(text)))
	}
}

// where is the address of the primary in a client's map.
func where(c *Client) string { return c.core.top.Load().groups[0].primary.addr }

func TestContract22SentinelsNameThePrimary(t *testing.T) {
	s := newSentinels(t)
	c := s.f.open(Options{SentinelName: "mine"}, "s:1", "s:2")
	set(t, c, keyA, "v")
	s.change(func() { s.primary, s.says = "b:2", map[string]string{"s:1": "b:2", "s:2": "b:2"} })
	set(t, c, keyA, "w")
	if !slices.Equal(s.f.node("b:2").got("SET")[0].args, []string{"SET", keyA, "w"}) {
		t.Error("the first write after the failover did not reach the new primary")
	}
}

// openSentinels gives a client whose subscription is in force, and after which nothing
// is loaded any more.
func (s *sentinels) openSentinels(opt Options) *Client {
	opt.SentinelName = "mine"
	c := s.f.open(opt, "s:1", "s:2")
	time.Sleep(time.Second)
	synctest.Wait()
	return c
}

func TestContract22SwitchesAreFollowedAtOnce(t *testing.T) {
	for _, c := range []struct {
		name   string
		happen func(*sentinels)
		within time.Duration
		want   string
	}{
		{"a switch", func(s *sentinels) {
			s.change(func() { s.primary, s.says = "b:2", map[string]string{"s:1": "b:2", "s:2": "b:2"} })
			s.tell("mine a 1 b 2")
		}, 0, "b:2"},
		{"a switch of which the Sentinels know later", func(s *sentinels) {
			s.tell("mine a 1 b 2")
			go func() {
				time.Sleep(time.Second)
				s.change(func() { s.primary, s.says = "b:2", map[string]string{"s:1": "b:2", "s:2": "b:2"} })
			}()
		}, 1200 * time.Millisecond, "b:2"},
		{"a switch that never comes true", func(s *sentinels) { s.tell("mine a 1 b 2") }, 10 * time.Second, "a:1"},
		{"a switch of another primary", func(s *sentinels) {
			s.change(func() { s.primary, s.says = "b:2", map[string]string{"s:1": "b:2", "s:2": "b:2"} })
			s.tell("other a 1 b 2")
			s.tell("mine")
		}, 3 * time.Second, "a:1"},
		{"a switch while the subscription is broken", func(s *sentinels) {
			s.change(func() { s.primary, s.says = "b:2", map[string]string{"s:1": "b:2", "s:2": "b:2"} })
			s.f.node("s:1").dropAll()
			s.f.node("s:2").dropAll()
		}, 500 * time.Millisecond, "b:2"},
		{"a switch after the Sentinel died", func(s *sentinels) {
			dead := s.f.node("s:1")
			if len(dead.got("SUBSCRIBE")) == 0 {
				dead = s.f.node("s:2")
			}
			s.change(func() { s.readers = nil })
			dead.kill()
			time.Sleep(time.Second)
			s.change(func() { s.primary, s.says = "b:2", map[string]string{"s:1": "b:2", "s:2": "b:2"} })
			s.tell("mine a 1 b 2")
		}, 0, "b:2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSentinels(t)
				client := s.openSentinels(Options{})
				c.happen(s)
				time.Sleep(c.within)
				synctest.Wait()
				if got := where(client); got != c.want {
					t.Errorf("the primary is %s, want %s", got, c.want)
				}
				loaded := len(s.f.node("s:1").got("SENTINEL")) + len(s.f.node("s:2").got("SENTINEL"))
				time.Sleep(time.Hour)
				if n := len(s.f.node("s:1").got("SENTINEL")) + len(s.f.node("s:2").got("SENTINEL")); n != loaded {
					t.Errorf("the map is loaded %d times more", n-loaded)
				}
			})
		})
	}
}

// A Sentinel that falls silent without closing the connection is left.
func TestContract22SilentSentinelIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSentinels(t)
		c := s.openSentinels(Options{})
		first, second := s.f.node("s:1"), s.f.node("s:2")
		if len(first.got("SUBSCRIBE")) == 0 {
			first, second = second, first
		}
		time.Sleep(time.Minute)
		if n := len(first.got("SUBSCRIBE")) + len(second.got("SUBSCRIBE")); n != 1 {
			t.Fatalf("%d subscriptions", n)
		}
		first.script(func(*request) string { return "" })
		time.Sleep(3 * beatEvery)
		if len(second.got("SUBSCRIBE")) != 1 || c.Stats().Drops != 1 {
			t.Errorf("%d subscriptions at the other, %d drops", len(second.got("SUBSCRIBE")), c.Stats().Drops)
		}
	})
}

// Coordinators without Pub/Sub are asked again, but seldom.
func TestContract22NoStormWithoutSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSentinels(t)
		for _, addr := range []string{"s:1", "s:2"} {
			s.f.node(addr).script(func(r *request) string {
				if r.is("SUBSCRIBE") {
					return "-ERR unknown command\r\n"
				}
				return s.sentinel(addr, r)
			})
		}
		c := s.openSentinels(Options{})
		time.Sleep(10 * time.Minute)
		if n := len(s.f.node("s:1").got("SUBSCRIBE")) + len(s.f.node("s:2").got("SUBSCRIBE")); n < 10 || n > 70 {
			t.Errorf("%d attempts in ten minutes", n)
		}
		set(t, c, keyA, "v")
	})
}

// With a real Sentinel, a failover that somebody orders reaches a client that sends
// nothing.
func TestContract22LiveSwitch(t *testing.T) {
	primary, replica := redistest.Start(t), redistest.Start(t)
	host, port, _ := net.SplitHostPort(primary.Addr)
	conn := replica.Dial(t)
	conn.Do("REPLICAOF", host, port)
	waitFor(t, "the replica to be in step", func() bool {
		return strings.Contains(conn.Do("INFO", "replication").(string), "master_link_status:up")
	})
	sentinel := redistest.StartSentinel(t, "mine", primary.Addr)
	c, err := Open(t.Context(), Options{Addrs: []string{sentinel.Addr}, SentinelName: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Set(t.Context(), "k", "v"); err != nil || where(c) != primary.Addr {
		t.Fatalf("the primary is %s: %v", where(c), err)
	}
	orders := sentinel.Dial(t)
	waitFor(t, "the Sentinel to know the replica", func() bool { return orders.Do("SENTINEL", "FAILOVER", "mine") == redistest.Simple("OK") })
	waitFor(t, "the switch", func() bool { return where(c) == replica.Addr })
	if err := c.Set(t.Context(), "k", "w"); err != nil {
		t.Fatal(err)
	}
	if replica.Dial(t).Do("GET", "k") != "w" {
		t.Error("the write did not reach the new primary")
	}
}
