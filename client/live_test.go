package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/slot"
)

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
	s := redistest.StartCluster(t)
	c, err := Open(t.Context(), Options{Addrs: []string{s.Servers[0].Addr, s.Servers[1].Addr}, RetryTimeout: 20 * time.Second})
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
		s.Wait("increments after "+what, func() bool {
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
	for at, n := range tallies {
		id := slot.OfString(n.key)
		from := 2
		for i, last := range []slot.ID{5460, 10922} {
			if id <= last {
				from = i
				break
			}
		}
		between := func() {}
		if at == 0 { // one of two keys has moved: who asks for both is told to try again
			between = sync.OnceFunc(func() {
				s.Wait("a TRYAGAIN", func() bool { return c.Stats().TryAgain > 0 })
			})
		}
		s.Migrate(int(id), from, (from+1)%3, between)
	}
	progress("moves of slots")
	for i := range s.Conns[:3] {
		s.Conns[i].Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	}
	progress("killed connections")
	s.Want(3, "CLUSTER", "FAILOVER")
	s.Wait("the failover", func() bool { return strings.Contains(fmt.Sprint(s.Conns[3].Do("ROLE")), "master") })
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
	dead, err := os.FindProcess(s.Servers[1].PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.Kill(); err != nil {
		t.Fatal(err)
	}
	s.Wait("the failover of a dead primary", func() bool {
		return strings.Contains(fmt.Sprint(s.Conns[4].Do("ROLE")), "master")
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
