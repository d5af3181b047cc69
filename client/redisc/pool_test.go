package redisc_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/bowline-kv/bowline/client/redisc"
)

func count(made *sync.Map) (n int) {
	made.Range(func(any, any) bool { n++; return true })
	return n
}

// TestOnePoolForEachAddress: all connections come from it, also those that load the map.
func TestOnePoolForEachAddress(t *testing.T) {
	f := newFake(t)
	var made sync.Map
	c := f.refreshed(pools(0, false, &made))
	if got := count(&made); got != 1 {
		t.Errorf("the refresh made %d pools", got)
	}
	var group sync.WaitGroup
	for range 30 {
		group.Go(func() {
			for _, key := range []string{keyA, keyB, keyC} {
				conn := c.Get()
				want(t, conn, "OK", "SET", key, "1")
				conn.Close()
			}
		})
	}
	group.Wait()
	if got := count(&made); got != 3 {
		t.Errorf("%d pools of 3 addresses", got)
	}
	stats := c.Stats()
	if len(stats) != 3 {
		t.Errorf("Stats has %v", stats)
	}
	idle := 0
	for addr, s := range stats {
		p, ok := made.Load(addr)
		if !ok || p.(*redis.Pool).Stats() != s {
			t.Errorf("%s has %+v", addr, s)
		}
		idle += s.ActiveCount
	}
	waitFor(t, "only pooled connections to be left", func() bool { return f.connections() == idle })
}

func TestRefreshAddsNoConnections(t *testing.T) {
	f := newFake(t)
	var made sync.Map
	c := f.refreshed(pools(1, true, &made)) // one connection a node, so a leak would hang
	// On a machine that is that slow another node is asked too. Who loses may have to dial
	// again.
	more := 0
	for range 100 {
		began := time.Now()
		if err := c.Refresh(); err != nil {
			t.Fatal(err)
		}
		more += 2 * int(time.Since(began)/redisc.HedgeTime)
	}
	dials := 0
	f.set(func() {
		for _, n := range f.nodes {
			dials += n.dialed
		}
	})
	if dials > 3+more {
		t.Errorf("3 primaries were dialed %d times, want at most %d", dials, 3+more)
	}
}

func TestActiveCountStaysWithinLimits(t *testing.T) {
	f := newFake(t)
	var made sync.Map
	c := f.refreshed(pools(3, true, &made))
	var group sync.WaitGroup
	for i := range 24 {
		group.Go(func() {
			for range 20 {
				conn, _ := redisc.RetryConn(c.Get(), 4, time.Millisecond)
				if _, err := conn.Do("INCR", []string{keyA, keyB, keyC}[i%3]); err != nil {
					t.Error(err)
				}
				for addr, s := range c.Stats() {
					if s.ActiveCount > 3 {
						t.Errorf("%s has %d active connections", addr, s.ActiveCount)
					}
				}
				conn.Close()
			}
		})
	}
	group.Wait()
	conn := c.Get()
	defer conn.Close()
	want(t, conn, "160", "GET", keyA)
}

func TestPoolsOfNodesThatLeftAreClosed(t *testing.T) {
	f := newFake(t)
	var made sync.Map
	c := f.refreshed(pools(0, false, &made))
	busy := c.Get()
	want(t, busy, "OK", "SET", keyC, "1")
	idle := c.Get()
	want(t, idle, "1", "GET", keyC)
	idle.Close()
	f.add("d:4")
	f.set(func() { f.shares[2].members = []string{"d:4"} })
	if err := c.Refresh(); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Stats()["c:3"]; ok {
		t.Error("c still has a pool")
	}
	left, _ := made.Load("c:3")
	if _, err := left.(*redis.Pool).GetContext(t.Context()); err == nil {
		t.Error("the pool of c is open")
	}
	if _, err := busy.Do("PING"); err != nil {
		t.Errorf("a connection in use was cut: %v", err)
	}
	busy.Close()
	f.mu.Lock()
	n := f.nodes["c:3"]
	f.mu.Unlock()
	waitFor(t, "the connections to c to end", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(n.open) == 0
	})
	conn := c.Get()
	defer conn.Close()
	want(t, conn, "1", "GET", keyC)
}

// TestPoolsComeAndGoUnderLoad: who is between a pool and its connection when the pool is
// closed gets one of the next pool.
func TestPoolsComeAndGoUnderLoad(t *testing.T) {
	f := newFake(t)
	f.add("d:4")
	c := f.refreshed(pools(0, false, nil))
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				conn, _ := redisc.RetryConn(c.Get(), 0, time.Millisecond) // the slot may go to and fro all the time
				if _, err := conn.Do("SET", keyC, "1"); err != nil {
					t.Error(err)
				}
				conn.Close()
			}
		})
	}
	for i := range 60 {
		f.set(func() { f.shares[2].members = []string{[]string{"c:3", "d:4"}[i%2]} })
		if err := c.Refresh(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	group.Wait()
}

// TestPoolWaitTime tries again what may take longer on a slow machine: the time is that of
// a dial too.
func TestPoolWaitTime(t *testing.T) {
	f := newFake(t)
	c := f.cluster(pools(1, true, nil), func(c *redisc.Cluster) { c.PoolWaitTime = 5 * time.Millisecond })
	waitFor(t, "the map", func() bool { return c.Refresh() == nil })
	var first redis.Conn
	waitFor(t, "a connection", func() bool {
		first = c.Get()
		_, err := first.Do("SET", keyC, "1")
		if err != nil {
			first.Close()
		}
		return err == nil
	})
	second := c.Get()
	defer second.Close()
	if _, err := second.Do("GET", keyC); err != context.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
	if err := redisc.BindConn(second, keyC); err != context.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
	first.Close()
	waitFor(t, "the connection that was given back", func() bool {
		v, err := redis.String(second.Do("GET", keyC))
		return v == "1" && err == nil
	})
}

// TestPoolIsClosedUnderCallersWhoseContextEnds: redigo may send on a channel then that it
// has closed.
func TestPoolIsClosedUnderCallersWhoseContextEnds(t *testing.T) {
	f := newFake(t)
	for range 100 {
		c := f.refreshed(pools(1, true, nil))
		held := c.Get()
		want(t, held, "OK", "SET", keyC, "1")
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				conn := c.Get()
				defer conn.Close()
				_, err := redis.DoContext(conn, ctx, "GET", keyC)
				if !errors.Is(err, context.Canceled) && (err == nil || err.Error() != "redisc: closed") {
					t.Errorf("got %v", err)
				}
			})
		}
		group.Go(cancel)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		group.Wait()
		held.Close()
	}
}

func TestPoolExhausted(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(pools(1, false, nil))
	first := c.Get()
	defer first.Close()
	want(t, first, "OK", "SET", keyC, "1")
	second := c.Get()
	defer second.Close()
	if _, err := second.Do("GET", keyC); err != redis.ErrPoolExhausted {
		t.Errorf("got %v", err)
	}
}

func TestDialIsOutsideOfThePools(t *testing.T) {
	f := newFake(t)
	var made sync.Map
	c := f.cluster(pools(0, false, &made))
	conn, err := c.Dial()
	if err != nil {
		t.Fatal(err)
	}
	want(t, conn, "PONG", "PING")
	if len(c.Stats()) != 0 {
		t.Errorf("pools: %v", c.Stats())
	}
	conn.Close()
	waitFor(t, "the connection to end", func() bool { return f.connections() == 0 })
}

func TestFailedToGetAConnection(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	for addr := range f.nodes {
		f.kill(addr)
	}
	for _, args := range [][]any{{}, {keyC}} {
		conn := c.Get()
		_, err := conn.Do("ANY", args...)
		wantError(t, err, "redisc: failed to get a connection")
		var op *net.OpError
		if !errors.As(err, &op) {
			t.Errorf("the cause is lost: %v", err)
		}
		if conn.Err() != nil {
			t.Errorf("it may work next time: %v", conn.Err())
		}
		conn.Close()
	}
	conn := (&redisc.Cluster{}).Get()
	_, err := conn.Do("PING")
	wantError(t, err, "no known node")
}

func TestCreatePoolFails(t *testing.T) {
	f := newFake(t)
	broken := errors.New("no pool today")
	c := f.cluster(func(c *redisc.Cluster) {
		c.CreatePool = func(addr string, _ ...redis.DialOption) (*redis.Pool, error) {
			if addr == "a:1" {
				return nil, nil
			}
			return nil, broken
		}
	})
	err := c.Refresh()
	wantError(t, err, "redisc: all nodes failed")
	wantError(t, err, "CreatePool gave no pool")
	if !errors.Is(err, broken) {
		t.Errorf("the cause is lost: %v", err)
	}
}

// TestPoolOfPlainConnections: a pool may give connections that know no context.
func TestPoolOfPlainConnections(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(func(c *redisc.Cluster) {
		c.CreatePool = func(addr string, options ...redis.DialOption) (*redis.Pool, error) {
			return &redis.Pool{MaxIdle: 2, Dial: func() (redis.Conn, error) {
				conn, err := redis.Dial("tcp", addr, options...)
				return plainConn{conn}, err
			}}, nil
		}
	})
	conn := c.Get()
	defer conn.Close()
	redisc.ReadOnlyConn(conn)
	want(t, conn, nil, "GET", keyC)
}
