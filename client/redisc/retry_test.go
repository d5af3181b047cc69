package redisc_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/bowline-kv/bowline/client/redisc"
)

func retrying(t *testing.T, c *redisc.Cluster, attempts int) redis.Conn {
	t.Helper()
	conn, err := redisc.RetryConn(c.Get(), attempts, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestRetryConnFollowsMoved(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	f.move(slotC, "b:2")
	conn := retrying(t, c, 2)
	want(t, conn, "OK", "SET", keyC, "1")
	want(t, conn, "1", "GET", keyC)
	want(t, conn, "OK", "SET", keyA, "2") // bound to b, so by another MOVED
	if got := f.got("c:3"); len(got) != 1 {
		t.Errorf("c got %q", got)
	}
}

func TestRetryConnFollowsAsk(t *testing.T) {
	f := newFake(t)
	f.add("new:5") // not in the map
	c := f.refreshed()
	f.script("c:3", func(_ *fakeConn, args []string) string {
		if args[0] == "SET" {
			return "-ASK 12182 new:5\r\n"
		}
		return ""
	})
	conn := retrying(t, c, 2)
	want(t, conn, "OK", "SET", keyC, "1")
	want(t, conn, "OK", "SET", keyC, "2")
	if got := f.got("new:5"); !slices.Equal(got, []string{"ASKING", "SET foo 1", "ASKING", "SET foo 2"}) {
		t.Errorf("the node asked got %q", got)
	}
	if got := f.got("c:3"); len(got) != 2 { // an ASK is for one command
		t.Errorf("c got %q", got)
	}
}

func TestRetryConnWaitsAfterTryAgain(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	var times atomic.Int64
	f.script("c:3", func(_ *fakeConn, args []string) string {
		if args[0] == "MGET" && times.Add(1) <= 3 {
			return "-TRYAGAIN Multiple keys request during rehashing of slot\r\n"
		}
		return ""
	})
	conn := retrying(t, c, 4)
	if list, err := redis.Values(conn.Do("MGET", keyC, "{foo}2")); len(list) != 2 || err != nil {
		t.Errorf("got %v, %v", list, err)
	}
	if n := times.Load(); n != 4 {
		t.Errorf("%d attempts", n)
	}
	times.Store(-100)
	_, err := retrying(t, c, 4).Do("MGET", keyC, "{foo}2")
	wantError(t, err, "too many attempts")
	if !redisc.IsTryAgain(err) {
		t.Errorf("the last answer is lost: %v", err)
	}
}

func TestRetryConnCountsAttempts(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	var times atomic.Int64
	limit := int64(1 << 30)
	for addr, other := range map[string]string{"b:2": "c:3", "c:3": "b:2"} {
		f.script(addr, func(_ *fakeConn, args []string) string {
			if args[0] == "INCR" && times.Add(1) <= atomic.LoadInt64(&limit) {
				return "-MOVED 12182 " + other + "\r\n"
			}
			if args[0] == "INCR" {
				return ":1\r\n"
			}
			return ""
		})
	}
	for _, attempts := range []int{1, 2, 5} {
		times.Store(0)
		_, err := retrying(t, c, attempts).Do("INCR", keyC)
		wantError(t, err, "redisc: too many attempts")
		if n := times.Load(); n != int64(attempts) {
			t.Errorf("%d attempts of %d", n, attempts)
		}
		if re := redisc.ParseRedir(err); re == nil || re.NewSlot != slotC {
			t.Errorf("the redirection is lost: %v", err)
		}
	}
	for _, attempts := range []int{0, -1} { // no limit
		times.Store(0)
		atomic.StoreInt64(&limit, 40)
		want(t, retrying(t, c, attempts), int64(1), "INCR", keyC)
	}
}

func TestRetryConnRefusesPipelines(t *testing.T) {
	f := newFake(t)
	conn := retrying(t, f.refreshed(), 3)
	_, received := conn.Receive()
	_, timed := redis.ReceiveWithTimeout(conn, time.Second)
	_, until := redis.ReceiveContext(conn, t.Context())
	for name, err := range map[string]error{"Send": conn.Send("GET", keyA), "Flush": conn.Flush(), "Receive": received,
		"ReceiveWithTimeout": timed, "ReceiveContext": until} {
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if v, err := conn.Do(""); v != nil || err != nil {
		t.Errorf("Do of nothing: %v, %v", v, err)
	}
	if err := conn.Err(); err != nil {
		t.Error(err)
	}
	v, err := redis.String(redis.DoWithTimeout(conn, time.Second, "SET", keyA, 1))
	if v != "OK" || err != nil {
		t.Errorf("DoWithTimeout: %v, %v", v, err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	wantError(t, conn.Close(), "redisc: closed")
	_, err = conn.Do("GET", keyA)
	wantError(t, err, "redisc: closed")
}

// TestReadOnly: a replica serves reads; a write is answered MOVED, which a RetryConn
// follows to the primary.
func TestReadOnly(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	conn := c.Get()
	if err := redisc.ReadOnlyConn(conn); err != nil {
		t.Fatal(err)
	}
	retry, _ := redisc.RetryConn(conn, 3, 0)
	defer retry.Close()
	want(t, retry, nil, "GET", keyC)
	want(t, retry, nil, "GET", keyC)
	if got := f.got("rc:3"); !slices.Equal(got, []string{"READONLY", "GET foo", "GET foo"}) {
		t.Errorf("the replica got %q", got)
	}
	want(t, retry, "OK", "SET", keyC, "1")
	if got := f.got("c:3"); !slices.Equal(got, []string{"SET foo 1"}) {
		t.Errorf("the primary got %q", got)
	}
}

// TestReadWriteLeadsToThePrimary: READWRITE ends what READONLY allowed.
func TestReadWriteLeadsToThePrimary(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	for _, follow := range []bool{false, true} {
		f.forget()
		conn := c.Get()
		redisc.ReadOnlyConn(conn)
		if follow {
			conn, _ = redisc.RetryConn(conn, 2, 0)
		}
		if err := redisc.BindConn(conn, keyC); err != nil {
			t.Fatal(err)
		}
		want(t, conn, "OK", "READWRITE")
		_, err := conn.Do("GET", keyC)
		if (redisc.ParseRedir(err) == nil) != follow {
			t.Errorf("follow %v: %v", follow, err)
		}
		if got := f.got("c:3"); follow && !slices.Equal(got, []string{"GET foo"}) {
			t.Errorf("the primary got %q", got)
		}
		conn.Close()
	}
}

func TestReadOnlyFallsBackToThePrimary(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	f.kill("rc:3")
	conn := c.Get()
	defer conn.Close()
	redisc.ReadOnlyConn(conn)
	want(t, conn, "OK", "SET", keyC, "1")
	f.set(func() { f.shares[0].members = []string{"a:1"} })
	if err := c.Refresh(); err != nil {
		t.Fatal(err)
	}
	f.forget()
	alone := c.Get()
	defer alone.Close()
	redisc.ReadOnlyConn(alone)
	want(t, alone, nil, "GET", keyA)
	if got := f.got("a:1"); !slices.Equal(got, []string{"READONLY", "GET bar"}) {
		t.Errorf("a primary without replicas got %q", got)
	}
}

// TestReadOnlyEndsWithTheConn: who gets the connection next from the pool of a replica is
// answered MOVED again.
func TestReadOnlyEndsWithTheConn(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(pools(1, true, nil))
	conn := c.Get()
	redisc.ReadOnlyConn(conn)
	want(t, conn, nil, "GET", keyC)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	err := c.EachNode(true, func(addr string, conn redis.Conn) error {
		if _, err := conn.Do("GET", keyC); redisc.ParseRedir(err) == nil {
			t.Errorf("%s: %v", addr, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if n := f.nodes["rc:3"].dialed; n != 1 {
		t.Errorf("the replica was dialed %d times", n)
	}
	sub := c.Get() // a subscription is ended by the pool alone
	redisc.ReadOnlyConn(sub)
	redisc.BindConn(sub, keyC)
	sub.Send("SUBSCRIBE", keyC)
	sub.Flush()
	sub.Receive()
	if err := sub.Close(); err != nil {
		t.Error(err)
	}
}

// TestReadOnlyWithoutAMap: a node of which nothing is known is told READONLY too.
func TestReadOnlyWithoutAMap(t *testing.T) {
	f := newFake(t)
	c := f.cluster(func(c *redisc.Cluster) { c.StartupNodes = []string{"rc:3"} })
	conn := c.Get()
	defer conn.Close()
	redisc.ReadOnlyConn(conn)
	want(t, conn, nil, "GET", keyC)
}

// TestReadOnlyFollowsToTheReplicaOfAnotherShard: a MOVED that is about another slot than
// the node's keeps the connection with replicas.
func TestReadOnlyFollowsToTheReplicaOfAnotherShard(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	retry := retrying(t, c, 2) // the helpers take it as it is
	if err := errors.Join(redisc.ReadOnlyConn(retry), redisc.BindConn(retry, keyA)); err != nil {
		t.Fatal(err)
	}
	want(t, retry, nil, "GET", keyC)
	if got := f.got("rc:3"); !slices.Equal(got, []string{"READONLY", "GET foo"}) {
		t.Errorf("the replica got %q", got)
	}
}

// TestGetGivesRetryingConn: by the field Retry, for programs that can't wrap.
func TestGetGivesRetryingConn(t *testing.T) {
	f := newFake(t)
	c := f.cluster(func(c *redisc.Cluster) { c.Retry = &redisc.Retry{MaxAttempts: 3} })
	dialed, err := c.Dial()
	if err != nil {
		t.Fatal(err)
	}
	for _, conn := range []redis.Conn{c.Get(), dialed} {
		for _, key := range []string{keyA, keyB, keyC} {
			want(t, conn, "OK", "SET", key, "1")
		}
		// A pipeline is not tried again: a part of it was executed.
		f.set(func() { f.data = map[string]string{} })
		conn.Send("INCR", keyC)
		conn.Send("INCR", keyA)
		if _, err := conn.Do("INCR", keyC); redisc.ParseRedir(err) == nil {
			t.Errorf("got %v", err)
		}
		want(t, conn, "2", "GET", keyC)
		conn.Close()
	}
}

// TestTransactionIsNotLeftBehind: between MULTI and EXEC a redirection is returned.
func TestTransactionIsNotLeftBehind(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	conn := retrying(t, c, 3)
	if err := redisc.BindConn(conn, keyA); err != nil {
		t.Fatal(err)
	}
	want(t, conn, "OK", "MULTI")
	if _, err := conn.Do("SET", keyC, 1); redisc.ParseRedir(err) == nil {
		t.Errorf("got %v", err)
	}
	want(t, conn, "QUEUED", "SET", keyA, 1)
	if _, err := conn.Do("EXEC"); err != nil {
		t.Error(err)
	}
	want(t, conn, "OK", "SET", keyC, "1") // followed again
}

func TestRetryConnUntilTheContextEnds(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	ctx, cancel := context.WithCancel(t.Context())
	f.script("c:3", func(*fakeConn, []string) string {
		cancel()
		return "-TRYAGAIN later\r\n"
	})
	conn, _ := redisc.RetryConn(c.Get(), 0, time.Hour)
	defer conn.Close()
	if _, err := redis.DoContext(conn, ctx, "MGET", keyC); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestMovedToDeadNode: the error of the node is the caller's, and the next attempt finds
// another way.
func TestMovedToDeadNode(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	f.move(slotC, "gone:1")
	conn := retrying(t, c, 3)
	_, err := conn.Do("SET", keyC, 1)
	wantError(t, err, "no way to")
	f.set(func() { f.shares = f.shares[1:] })
	waitFor(t, "the slot to be found", func() bool { _, err := conn.Do("SET", keyC, 1); return err == nil })
}

// TestBgErrorOfAClosedConn: a connection that does not close well is told of.
func TestBgErrorOfAClosedConn(t *testing.T) {
	f := newFake(t)
	broken := errors.New("does not close")
	told := make(chan error, 10)
	c := f.refreshed(func(c *redisc.Cluster) {
		c.CreatePool = func(addr string, options ...redis.DialOption) (*redis.Pool, error) {
			return &redis.Pool{Dial: func() (redis.Conn, error) {
				conn, err := redis.Dial("tcp", addr, options...)
				return badClose{conn, broken}, err
			}}, nil
		}
		c.BgError = func(src redisc.BgErrorSrc, err error) {
			if src == redisc.RetryCloseConn {
				told <- err
			}
		}
	})
	f.move(slotC, "b:2")
	want(t, retrying(t, c, 2), "OK", "SET", keyC, "1")
	if err := <-told; !errors.Is(err, broken) {
		t.Errorf("told %v", err)
	}
}

type badClose struct {
	redis.Conn
	err error
}

// Do fails for what a pool does when it gets a connection back.
func (c badClose) Do(cmd string, args ...any) (any, error) {
	if cmd == "" {
		return nil, c.err
	}
	return c.Conn.Do(cmd, args...)
}
