package redisc_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/bowline-kv/bowline/client/redisc"
	"github.com/bowline-kv/bowline/internal/redistest"
)

const poolMax = 4 // connections to each node

// livePools makes pools of at most poolMax connections.
func livePools(addr string, options ...redis.DialOption) (*redis.Pool, error) {
	return &redis.Pool{MaxIdle: 2, MaxActive: poolMax, Wait: true,
		Dial: func() (redis.Conn, error) { return redis.Dial("tcp", addr, options...) }}, nil
}

// liveOptions bound the time that a dead node costs.
var liveOptions = []redis.DialOption{redis.DialConnectTimeout(time.Second), redis.DialReadTimeout(5 * time.Second)}

// TestLiveCluster goes through what may happen to a real Redis Cluster.
func TestLiveCluster(t *testing.T) {
	s := redistest.StartCluster(t)
	var maps atomic.Int64
	c := &redisc.Cluster{
		StartupNodes:  []string{s.Servers[0].Addr},
		DialOptions:   liveOptions,
		CreatePool:    livePools,
		LayoutRefresh: func(_, _ [redisc.HashSlots][]string) { maps.Add(1) },
	}
	defer c.Close()
	if err := c.Refresh(); err != nil {
		t.Fatal(err)
	}
	liveCommands(t, c, "slave")
	liveReplicaRead(t, s, c)
	liveMove(t, s, c)
	liveSplitDuringMoves(t, s)
	liveCounters(t, s, c)
	liveFailover(t, s, c)
	t.Logf("%d maps were loaded", maps.Load())
}

// liveCommands runs every kind of call. Without a name for the role there are no replicas.
func liveCommands(t *testing.T, c *redisc.Cluster, replica string) {
	t.Helper()
	for _, key := range []string{keyA, keyB, keyC} {
		conn := c.Get()
		want(t, conn, "OK", "SET", key, "of "+key)
		want(t, conn, "of "+key, "GET", key)
		conn.Close()
	}
	conn := c.Get()
	defer conn.Close()
	if err := redisc.BindConn(conn, keyA); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Do("MGET", keyA, keyB); !redisc.IsCrossSlot(err) {
		t.Errorf("MGET over slots: %v", err)
	}
	if re := redisc.ParseRedir(func() error { _, err := conn.Do("GET", keyC); return err }()); re == nil || re.NewSlot != slotC {
		t.Errorf("GET at another node: %+v", re)
	}
	conn.Send("MULTI")
	conn.Send("INCR", "{bar}n")
	conn.Send("INCR", "{bar}n")
	if list, err := redis.Ints(conn.Do("EXEC")); err != nil || !reflect.DeepEqual(list, []int{1, 2}) {
		t.Errorf("EXEC: %v, %v", list, err)
	}
	want(t, conn, int64(1), "DEL", "{bar}n")
	count := map[string]int{}
	for _, replicas := range []bool{false, true} {
		err := c.EachNode(replicas, func(_ string, conn redis.Conn) error {
			role, err := redis.Values(conn.Do("ROLE"))
			if err == nil {
				count[string(role[0].([]byte))]++
			}
			return err
		})
		if err != nil && (replica != "" || !replicas) {
			t.Error(err)
		}
	}
	if count["master"] != 3 || replica != "" && count[replica] != 3 {
		t.Errorf("EachNode saw %v", count)
	}
	liveSubscription(t, c)
}

func liveSubscription(t *testing.T, c *redisc.Cluster) {
	t.Helper()
	sub := redis.PubSubConn{Conn: c.Get()}
	defer sub.Close()
	if err := sub.Subscribe("news"); err != nil {
		t.Fatal(err)
	}
	if got, ok := sub.Receive().(redis.Subscription); !ok || got.Count != 1 {
		t.Errorf("got %+v", got)
	}
	conn := c.Get()
	defer conn.Close()
	if _, err := conn.Do("PUBLISH", "news", "hello"); err != nil {
		t.Error(err)
	}
	if got, ok := sub.ReceiveWithTimeout(5 * time.Second).(redis.Message); !ok || string(got.Data) != "hello" {
		t.Errorf("got %+v", got)
	}
}

func liveReplicaRead(t *testing.T, s *redistest.Cluster, c *redisc.Cluster) {
	t.Helper()
	s.Wait("the replica to have the key", func() bool {
		conn := c.Get()
		defer conn.Close()
		if err := redisc.ReadOnlyConn(conn); err != nil {
			t.Fatal(err)
		}
		v, err := redis.String(conn.Do("GET", keyC))
		if err != nil && err != redis.ErrNil {
			t.Fatal(err)
		}
		role, err := redis.Values(conn.Do("ROLE"))
		if err != nil || string(role[0].([]byte)) != "slave" {
			t.Fatalf("a read-only connection is at %v, %v", role, err)
		}
		return v == "of "+keyC
	})
	conn := c.Get()
	redisc.ReadOnlyConn(conn)
	retry, _ := redisc.RetryConn(conn, 3, time.Millisecond)
	defer retry.Close()
	want(t, retry, "of "+keyC, "GET", keyC)
	want(t, retry, "OK", "READWRITE")
	want(t, retry, "of "+keyC, "GET", keyC)
	if role, err := redis.Values(retry.Do("ROLE")); err != nil || string(role[0].([]byte)) != "master" {
		t.Errorf("after READWRITE it is at %v, %v", role, err)
	}
}

// liveMove looks at a slot while it moves from node 2 to node 0.
func liveMove(t *testing.T, s *redistest.Cluster, c *redisc.Cluster) {
	t.Helper()
	plain := c.Get()
	defer plain.Close()
	retry, _ := redisc.RetryConn(c.Get(), 4, time.Millisecond)
	defer retry.Close()
	want(t, plain, "OK", "MSET", keyC, 1, "{foo}2", 2)
	moved := 0
	s.Migrate(slotC, 2, 0, func() {
		moved++
		gone, left := keyC, "{foo}2"
		if n, _ := redis.Int(plain.Do("EXISTS", left)); n != 1 {
			gone, left = left, gone
		}
		if moved == 1 {
			_, err := plain.Do("GET", gone)
			if re := redisc.ParseRedir(err); re == nil || re.Type != "ASK" || re.Addr != s.Servers[0].Addr {
				t.Errorf("a key that has moved: %v", err)
			}
			if v, err := redis.Int(retry.Do("GET", gone)); v == 0 || err != nil {
				t.Errorf("by a RetryConn: %d, %v", v, err)
			}
			_, err = plain.Do("MGET", gone, left)
			if !redisc.IsTryAgain(err) {
				t.Errorf("both keys: %v", err)
			}
			_, err = retry.Do("MGET", gone, left)
			wantError(t, err, "too many attempts")
		}
	})
	if moved != 2 {
		t.Errorf("%d keys moved", moved)
	}
	_, err := plain.Do("GET", keyC)
	if re := redisc.ParseRedir(err); re == nil || re.Type != "MOVED" || re.Addr != s.Servers[0].Addr {
		t.Errorf("after the move: %v", err)
	}
	next := c.Get() // knows it by that
	defer next.Close()
	want(t, next, "1", "GET", keyC)
	want(t, retry, "2", "GET", "{foo}2")
	s.Migrate(slotC, 0, 2, func() {})
}

// liveSplitDuringMoves reads and writes keys of all slots while slots move.
func liveSplitDuringMoves(t *testing.T, s *redistest.Cluster) {
	t.Helper()
	c := &redisc.Cluster{StartupNodes: []string{s.Servers[1].Addr}, DialOptions: liveOptions, CreatePool: livePools,
		SpreadPipelines: true, Retry: &redisc.Retry{MaxAttempts: 1000, TryAgainDelay: 2 * time.Millisecond}}
	defer c.Close()
	values, keys := redis.Args{}, redis.Args{}
	for i := range 200 {
		keys = keys.Add(fmt.Sprintf("{k%d}%d", i%20, i))
		values = values.Add(keys[i], i)
	}
	ctx, stop := context.WithCancel(t.Context())
	var rounds atomic.Int64
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			conn := c.Get()
			defer conn.Close()
			for ctx.Err() == nil {
				conn.Send("MSET", values...)
				conn.Send("MGET", keys...)
				conn.Send("GET", keys[7])
				list, err := redis.Values(conn.Do(""))
				if err != nil || list[0] != "OK" {
					t.Errorf("MSET: %v, %v", list, err)
					continue
				}
				got, err := redis.Ints(list[1], nil)
				if err != nil || len(got) != len(keys) || got[199] != 199 {
					t.Errorf("MGET: %v, %v", got, err)
				}
				if b, ok := list[2].([]byte); !ok || string(b) != "7" {
					t.Errorf("GET: %v", list[2])
				}
				rounds.Add(1)
			}
		})
	}
	more := func() {
		start := rounds.Load()
		s.Wait("more rounds", func() bool { return rounds.Load() > start+4 || t.Failed() })
	}
	more()
	for i := range 8 {
		at := redisc.Slot(fmt.Sprintf("{k%d}", i))
		from := owner(at)
		s.Migrate(at, from, (from+1)%3, func() {})
	}
	more()
	for i := range 8 {
		at := redisc.Slot(fmt.Sprintf("{k%d}", i))
		from := owner(at)
		s.Migrate(at, (from+1)%3, from, func() {})
	}
	more()
	stop()
	group.Wait()
}

// owner is the server that has a slot at the start.
func owner(at int) int {
	switch {
	case at <= 5460:
		return 0
	case at <= 10922:
		return 1
	}
	return 2
}

// liveCounters increments counters of many goroutines while their slots move: none counts
// twice or is lost, and no pool has more connections than it may.
func liveCounters(t *testing.T, s *redistest.Cluster, c *redisc.Cluster) {
	t.Helper()
	const workers = 16
	var acked [workers]int
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	var total atomic.Int64
	for i := range workers {
		group.Go(func() {
			conn, _ := redisc.RetryConn(c.Get(), 0, time.Millisecond)
			for n := 0; ctx.Err() == nil; n++ {
				if n%10 == 0 {
					conn.Close()
					conn, _ = redisc.RetryConn(c.Get(), 0, time.Millisecond)
				}
				if _, err := conn.Do("INCR", fmt.Sprint("counter:", i)); err != nil {
					t.Errorf("nothing fails here: %v", err)
					continue
				}
				acked[i]++
				total.Add(1)
			}
			conn.Close()
		})
	}
	group.Go(func() {
		for ctx.Err() == nil {
			for addr, st := range c.Stats() {
				if st.ActiveCount > poolMax {
					t.Errorf("%d connections to %s", st.ActiveCount, addr)
				}
			}
			time.Sleep(time.Millisecond)
		}
	})
	for i := range workers {
		before := total.Load()
		at := redisc.Slot(fmt.Sprint("counter:", i))
		s.Migrate(at, owner(at), (owner(at)+1)%3, func() {})
		s.Wait("increments", func() bool { return total.Load() > before+200 || t.Failed() })
	}
	stop()
	group.Wait()
	for i, n := range acked {
		conn, _ := redisc.RetryConn(c.Get(), 5, time.Millisecond)
		if v, err := redis.Int(conn.Do("GET", fmt.Sprint("counter:", i))); v != n || err != nil {
			t.Errorf("counter %d is %d, %v; %d increments were acknowledged", i, v, err, n)
		}
		conn.Close()
	}
	t.Logf("%d increments over %d moves", total.Load(), workers)
}

// liveFailover lets a replica take over by hand, then lets a primary die.
func liveFailover(t *testing.T, s *redistest.Cluster, c *redisc.Cluster) {
	t.Helper()
	works := func(key string) func() bool {
		return func() bool {
			conn, _ := redisc.RetryConn(c.Get(), 5, time.Millisecond)
			defer conn.Close()
			v, err := redis.String(conn.Do("SET", key, "x"))
			return v == "OK" && err == nil
		}
	}
	s.Want(3, "CLUSTER", "FAILOVER")
	s.Wait("the failover", func() bool { return strings.Contains(fmt.Sprint(s.Conns[3].Do("ROLE")), "master") })
	s.Wait("the new primary", works(keyA))

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
	s.Wait("its successor", works(keyB))
	s.Wait("the pool of the dead node to go", func() bool {
		if err := c.Refresh(); err != nil {
			t.Fatal(err)
		}
		_, there := c.Stats()[s.Servers[1].Addr]
		return !there
	})
	if n := len(c.Stats()); n > 6 {
		t.Errorf("%d pools of 5 nodes", n)
	}
}

// TestLivePoolWaitTime: the pool of a node is exhausted and stays it.
func TestLivePoolWaitTime(t *testing.T) {
	srv := redistest.Start(t, "--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1")
	if r := srv.Dial(t).Do("CLUSTER", "ADDSLOTSRANGE", "0", "16383"); r != redistest.Simple("OK") {
		t.Fatal(r)
	}
	c := &redisc.Cluster{StartupNodes: []string{srv.Addr}, CreatePool: livePools, PoolWaitTime: 10 * time.Millisecond}
	defer c.Close()
	var held []redis.Conn
	for range poolMax {
		conn := c.Get()
		defer conn.Close()
		waitFor(t, "a connection", func() bool { return redisc.BindConn(conn, keyA) == nil || conn.Err() != nil })
		held = append(held, conn)
	}
	for _, args := range [][]any{{keyA}, {keyB}} {
		conn := c.Get()
		if _, err := conn.Do("GET", args...); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("GET %v: %v", args, err)
		}
		conn.Close()
	}
	if s := c.Stats()[srv.Addr]; s.ActiveCount != poolMax {
		t.Errorf("%+v", s)
	}
	held[0].Close()
	conn := c.Get()
	defer conn.Close()
	waitFor(t, "the cluster to serve", func() bool { _, err := conn.Do("SET", keyA, 1); return err == nil })
}
