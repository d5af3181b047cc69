package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/slot"
)

// stock is a Redis Cluster of three primaries, each with a replica.
type stock struct {
	t       *testing.T
	servers []*redistest.Server
	conns   []*redistest.Conn
	ids     []string
}

func startStock(t *testing.T) *stock {
	t.Helper()
	s := &stock{t: t}
	for range 6 {
		srv := redistest.Start(t, "--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1",
			"--cluster-node-timeout", "1000", "--repl-diskless-sync-delay", "0", "--cluster-replica-validity-factor", "0",
			"--repl-ping-replica-period", "1") // a replica is listed once it has got something
		s.servers = append(s.servers, srv)
		s.conns = append(s.conns, srv.Dial(t))
		s.ids = append(s.ids, fmt.Sprint(s.conns[len(s.conns)-1].Do("CLUSTER", "MYID")))
	}
	for i, r := range [][2]string{{"0", "5460"}, {"5461", "10922"}, {"10923", "16383"}} {
		s.want(i, "CLUSTER", "SET-CONFIG-EPOCH", fmt.Sprint(i+1))
		s.want(i, "CLUSTER", "ADDSLOTSRANGE", r[0], r[1])
	}
	for i := range 6 { // each with each: gossip alone would take seconds
		for _, other := range s.servers[:i] {
			host, port, _ := net.SplitHostPort(other.Addr)
			s.want(i, "CLUSTER", "MEET", host, port)
		}
	}
	s.wait("the nodes to meet", func() bool {
		for _, c := range s.conns {
			if strings.Count(fmt.Sprint(c.Do("CLUSTER", "NODES")), "connected") != 6 {
				return false
			}
		}
		return true
	})
	for i := range 3 {
		s.want(i+3, "CLUSTER", "REPLICATE", s.ids[i])
	}
	s.wait("the cluster", func() bool {
		for _, c := range s.conns {
			if !strings.Contains(fmt.Sprint(c.Do("CLUSTER", "INFO")), "cluster_state:ok") {
				return false
			}
		}
		ranges, _ := s.conns[0].Do("CLUSTER", "SLOTS").([]any)
		for _, r := range ranges {
			if len(r.([]any)) != 4 {
				return false
			}
		}
		return len(ranges) == 3
	})
	return s
}

func (s *stock) want(i int, args ...string) {
	s.t.Helper()
	if r := s.conns[i].Do(args...); r != redistest.Simple("OK") {
		s.t.Fatalf("%v at node %d: %v", args, i, r)
	}
}

func (s *stock) wait(what string, holds func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// migrate moves a slot with its keys, as redis-cli does, and calls between after each
// key.
func (s *stock) migrate(id slot.ID, from, to int, between func()) {
	s.t.Helper()
	at := fmt.Sprint(id)
	host, port, _ := net.SplitHostPort(s.servers[to].Addr)
	s.want(to, "CLUSTER", "SETSLOT", at, "IMPORTING", s.ids[from])
	s.want(from, "CLUSTER", "SETSLOT", at, "MIGRATING", s.ids[to])
	for {
		keys, _ := s.conns[from].Do("CLUSTER", "GETKEYSINSLOT", at, "1").([]any)
		if len(keys) == 0 {
			break
		}
		s.conns[from].Do("MIGRATE", host, port, keys[0].(string), "0", "5000")
		between()
	}
	for i := range 3 {
		s.want((to+i)%3, "CLUSTER", "SETSLOT", at, "NODE", s.ids[to])
	}
}

// sameEpoch reports whether all nodes know of the same last epoch. Who gets a slot takes
// the epoch after the last that it knows of, and where two claim a slot the later epoch
// wins. So a primary that does not know of the last one must not get slots: it would
// lose them again, with what was written there.
func (s *stock) sameEpoch() bool {
	said := map[string]bool{}
	for _, c := range s.conns {
		_, rest, _ := strings.Cut(fmt.Sprint(c.Do("CLUSTER", "INFO")), "cluster_current_epoch:")
		epoch, _, _ := strings.Cut(rest, "\r")
		said[epoch] = true
	}
	return len(said) == 1
}

// agree reports whether all nodes say the same of every slot. A replica that does not
// know of a move yet would claim the slot back when it is promoted.
func (s *stock) agree() bool {
	said := map[string]bool{}
	for _, c := range s.conns {
		owners := ""
		ranges, _ := c.Do("CLUSTER", "SLOTS").([]any)
		for _, r := range ranges {
			r := r.([]any)
			owners += fmt.Sprintln(r[0], r[1], r[2].([]any)[2])
		}
		said[owners] = true
	}
	return len(said) == 1
}

// tally counts increments of one key.
type tally struct {
	key         string
	acked       atomic.Int64 // replies that came
	maybe       atomic.Int64 // errors that said "may have been executed"
	notExecuted atomic.Int64 // other errors
}

// TestLiveCounters increments counters while everything that may happen to a cluster
// happens. No increment counts twice, and of those acknowledged none is lost but what
// a failover takes back, whose replica had not got it.
func TestLiveCounters(t *testing.T) {
	s := startStock(t)
	c, err := Open(t.Context(), Options{Addrs: []string{s.servers[0].Addr, s.servers[1].Addr}, RetryTimeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	tallies := make([]*tally, 24)
	for i := range tallies {
		tallies[i] = &tally{key: fmt.Sprint("counter:", i)}
	}
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for i := range 2 * len(tallies) {
		group.Go(func() { count(ctx, c, tallies[i%len(tallies)], i >= len(tallies)) })
	}
	start := time.Now()
	progress := func(what string) {
		t.Helper()
		defer func() { t.Logf("%v: increments after %s", time.Since(start).Round(time.Millisecond), what) }()
		before := make([]int64, len(tallies))
		for i, n := range tallies {
			before[i] = n.acked.Load()
		}
		s.wait("increments after "+what, func() bool {
			for i, n := range tallies {
				if n.acked.Load() < before[i]+20 {
					return false
				}
			}
			return true
		})
	}
	group.Go(func() { twins(ctx, t, c, tallies[0].key) })
	progress("the start")
	owner := func(n *tally) int {
		return sort.Search(2, func(i int) bool { return slot.OfString(n.key) <= []slot.ID{5460, 10922}[i] })
	}
	for to := range 3 {
		s.wait("the nodes to know of the last epoch", s.sameEpoch)
		for _, n := range tallies {
			if to != (owner(n)+1)%3 {
				continue
			}
			between := func() {}
			if n == tallies[0] { // one of two keys has moved: who asks for both is told to try again
				between = sync.OnceFunc(func() {
					s.wait("a TRYAGAIN", func() bool { return c.Stats().TryAgain > 0 })
				})
			}
			s.migrate(slot.OfString(n.key), owner(n), to, between)
		}
	}
	s.wait("the nodes to agree", s.agree)
	progress("moves of slots")
	for i := range s.conns[:3] {
		s.conns[i].Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	}
	progress("killed connections")
	s.want(3, "CLUSTER", "FAILOVER")
	s.wait("the failover", func() bool { return strings.Contains(fmt.Sprint(s.conns[3].Do("ROLE")), "master") })
	progress("a failover by hand")
	stop()
	group.Wait()
	check(t, c, tallies, true)

	ctx, stop = context.WithCancel(t.Context())
	defer stop()
	for i := range 2 * len(tallies) {
		group.Go(func() { count(ctx, c, tallies[i%len(tallies)], i >= len(tallies)) })
	}
	progress("a new start")
	dead, err := os.FindProcess(s.servers[1].PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.Kill(); err != nil {
		t.Fatal(err)
	}
	s.wait("the failover of a dead primary", func() bool {
		return strings.Contains(fmt.Sprint(s.conns[4].Do("ROLE")), "master")
	})
	progress("a primary died")
	stop()
	group.Wait()
	check(t, c, tallies, false)
	t.Logf("%+v", c.Stats())
	if c.Stats().Ask == 0 || c.Stats().Moved == 0 || c.Stats().Drops == 0 {
		t.Error("no ASK, no MOVED or no drop occurred: the test showed nothing")
	}
}

// twins reads a counter and another key of its slot together.
func twins(ctx context.Context, t *testing.T, c *Client, key string) {
	if err := c.Set(ctx, "{"+key+"}twin", "x"); err != nil {
		t.Error(err)
	}
	for ctx.Err() == nil {
		list, err := c.MGet(context.Background(), key, "{"+key+"}twin")
		if err != nil && !errors.Is(err, ErrMaybeExecuted) || err == nil && list[1] == nil {
			t.Errorf("both keys of a slot: %v, %v", list, err)
		}
	}
}

// count increments one key until the context ends, one by one or in pipelines.
func count(ctx context.Context, c *Client, n *tally, pipelined bool) {
	p := c.Pipeline()
	for ctx.Err() == nil {
		if !pipelined {
			n.add(c.Do(context.Background(), "INCR", n.key))
			continue
		}
		for range 10 {
			p.Do("INCR", n.key)
		}
		replies, _ := p.Exec(context.Background())
		for _, r := range replies {
			n.add(r)
		}
	}
}

func (n *tally) add(r Reply) {
	switch {
	case r.Err() == nil:
		n.acked.Add(1)
	case errors.Is(r.Err(), ErrMaybeExecuted):
		n.maybe.Add(1)
	default:
		n.notExecuted.Add(1)
	}
}

// check compares what the counters say with what was acknowledged.
func check(t *testing.T, c *Client, tallies []*tally, exact bool) {
	t.Helper()
	var acked, maybe, none, lost int64
	for _, n := range tallies {
		v, err := c.Do(t.Context(), "GET", n.key).Int()
		if err != nil {
			t.Fatal(err)
		}
		a, m := n.acked.Load(), n.maybe.Load()
		acked, maybe, none = acked+a, maybe+m, none+n.notExecuted.Load()
		if v > a+m {
			t.Errorf("%s is %d, with %d increments acknowledged and %d in doubt: one counted twice", n.key, v, a, m)
		}
		if v < a {
			lost += a - v
			if exact {
				t.Errorf("%s is %d, with %d increments acknowledged: some are lost", n.key, v, a)
			}
		}
		n.acked.Store(v) // what was in doubt is known now
		n.maybe.Store(0)
	}
	t.Logf("%d acknowledged, %d in doubt, %d not executed, %d taken back by a failover", acked, maybe, none, lost)
}
