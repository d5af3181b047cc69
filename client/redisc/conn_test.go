package redisc_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/bowline-kv/bowline/client/redisc"
)

// argument is encoded by redigo in a way of its own.
type argument struct{ key string }

func (a argument) RedisArg() any { return []byte(a.key) }

func TestBindsBySlotOfFirstArgument(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	for _, key := range []any{keyC, []byte(keyC), argument{keyC}, "{foo}1"} {
		f.forget()
		conn := c.Get()
		want(t, conn, "OK", "SET", key, "1")
		if got := f.got("c:3"); len(got) != 1 {
			t.Errorf("%T: c got %q", key, got)
		}
		conn.Close()
	}
	for _, key := range []any{1, int64(1), 1.0, true, uint8(1)} { // slot 9842
		f.forget()
		conn := c.Get()
		conn.Do("SET", key, "x")
		if got := f.got("b:2"); !slices.Equal(got, []string{"SET 1 x"}) {
			t.Errorf("%T: b got %q", key, got)
		}
		conn.Close()
	}
	f.forget()
	conn := c.Get()
	defer conn.Close()
	want(t, conn, "OK", "ANY", nil) // "" has slot 0
	if got := f.got("a:1"); len(got) != 1 {
		t.Errorf("nil: a got %q", got)
	}
}

func TestOnceBoundStaysBound(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	conn := c.Get()
	defer conn.Close()
	want(t, conn, "OK", "SET", keyA, "1")
	_, err := conn.Do("SET", keyC, "1")
	if err != redis.Error("MOVED 12182 c:3") {
		t.Errorf("a key of another node: %v (%T)", err, err)
	}
	want(t, conn, "1", "GET", keyA)
	if got := f.got("c:3"); len(got) != 0 {
		t.Errorf("c got %q", got)
	}
}

func TestNoArgumentOrReceiveFirstBindsToAnyNode(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	seen := map[string]bool{}
	for range 60 {
		f.forget()
		conn := c.Get()
		want(t, conn, "PONG", "PING")
		for _, addr := range []string{"a:1", "b:2", "c:3"} {
			seen[addr] = seen[addr] || len(f.got(addr)) > 0
		}
		conn.Close()
	}
	if len(seen) != 3 {
		t.Errorf("only %v were chosen", seen)
	}
	conn := c.Get().(*redisc.Conn)
	defer conn.Close()
	if _, err := conn.ReceiveWithTimeout(10 * time.Millisecond); err == nil {
		t.Error("a reply that nobody asked for")
	}
	if err := conn.Bind(keyA); err == nil || err.Error() != "redisc: connection already bound" {
		t.Errorf("after Receive: %v", err)
	}
}

func TestEmptyDoOnUnboundConnIsNothing(t *testing.T) {
	f := newFake(t)
	c := f.cluster()
	conn := c.Get()
	defer conn.Close()
	if v, err := conn.Do(""); v != nil || err != nil {
		t.Errorf("got %v, %v", v, err)
	}
	if err := conn.Flush(); err != nil {
		t.Error(err)
	}
	if err := redisc.BindConn(conn, keyA); err != nil {
		t.Errorf("it was bound: %v", err)
	}
}

func TestBind(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	conn := c.Get().(*redisc.Conn)
	defer conn.Close()
	wantError(t, conn.Bind("a", "b"), "keys do not belong to the same slot")
	if err := conn.Bind("{foo}1", "{foo}2"); err != nil {
		t.Fatal(err)
	}
	wantError(t, conn.Bind("a"), "connection already bound")
	wantError(t, conn.ReadOnly(), "connection already bound")
	f.script("c:3", func(_ *fakeConn, args []string) string {
		if args[0] == "EVALSHA" {
			return "+ran\r\n"
		}
		return ""
	})
	want(t, conn, "ran", "EVALSHA", keyA, 1, keyC) // the first argument doesn't matter now
	other := c.Get().(*redisc.Conn)
	defer other.Close()
	if err := other.Bind(); err != nil {
		t.Errorf("without keys it is any node: %v", err)
	}
	if err := redisc.BindConn(plainConn{}); err == nil {
		t.Error("BindConn took a connection of another kind")
	}
	if err := redisc.ReadOnlyConn(plainConn{}); err == nil {
		t.Error("ReadOnlyConn took a connection of another kind")
	}
	if _, err := redisc.RetryConn(plainConn{}, 1, 0); err == nil {
		t.Error("RetryConn took a connection of another kind")
	}
}

type plainConn struct{ redis.Conn }

func TestPipelineOnOneNode(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	conn := c.Get()
	defer conn.Close()
	for i := range 3 {
		if err := conn.Send("SET", fmt.Sprint("{foo}", i), i); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if v, err := conn.Receive(); v != "OK" || err != nil {
			t.Errorf("got %v, %v", v, err)
		}
	}
	want(t, conn, "2", "GET", "{foo}2")
	conn.Send("INCR", "{foo}n")
	conn.Send("SET", keyA, 1)
	v, err := redis.Values(conn.Do(""))
	if err != nil || len(v) != 2 || v[0] != int64(1) || v[1] != redis.Error("MOVED 5061 a:1") {
		t.Errorf("got %v, %v", v, err)
	}
}

func TestClosedConnGivesClosed(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	for _, bind := range []bool{false, true} {
		conn := c.Get().(*redisc.Conn)
		if bind {
			want(t, conn, "OK", "SET", keyA, "1")
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		for name, err := range everyMethod(conn) {
			if err == nil || err.Error() != "redisc: closed" {
				t.Errorf("%s, bound %v: %v", name, bind, err)
			}
		}
	}
}

// everyMethod calls all methods of a connection.
func everyMethod(conn *redisc.Conn) map[string]error {
	errs := map[string]error{}
	_, errs["Do"] = conn.Do("GET", keyA)
	_, errs["Do nothing"] = conn.Do("")
	_, errs["DoWithTimeout"] = conn.DoWithTimeout(time.Second, "GET", keyA)
	_, errs["DoContext"] = conn.DoContext(context.Background(), "GET", keyA)
	errs["Send"] = conn.Send("GET", keyA)
	errs["Flush"] = conn.Flush()
	_, errs["Receive"] = conn.Receive()
	_, errs["ReceiveWithTimeout"] = conn.ReceiveWithTimeout(time.Second)
	_, errs["ReceiveContext"] = conn.ReceiveContext(context.Background())
	errs["Err"] = conn.Err()
	errs["Bind"] = conn.Bind(keyA)
	errs["ReadOnly"] = conn.ReadOnly()
	errs["Close"] = conn.Close()
	return errs
}

func TestClosedClusterGivesClosed(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(pools(0, false, nil))
	unbound, bound := c.Get().(*redisc.Conn), c.Get()
	want(t, bound, "OK", "SET", keyA, "1")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range everyMethod(unbound) {
		if name != "Close" && (err == nil || err.Error() != "redisc: closed") {
			t.Errorf("unbound, %s: %v", name, err)
		}
	}
	for name, err := range everyMethod(c.Get().(*redisc.Conn)) {
		if err == nil || err.Error() != "redisc: closed" {
			t.Errorf("a new one, %s: %v", name, err)
		}
	}
	_, err := c.Dial()
	for name, err := range map[string]error{"Dial": err, "Refresh": c.Refresh(), "Close": c.Close(),
		"EachNode": c.EachNode(false, func(string, redis.Conn) error { return nil })} {
		if err == nil || err.Error() != "redisc: closed" {
			t.Errorf("%s: %v", name, err)
		}
	}
	want(t, bound, "1", "GET", keyA) // goes on
	if err := bound.Err(); err != nil {
		t.Error(err)
	}
	if err := bound.Close(); err != nil {
		t.Error(err)
	}
	if len(c.Stats()) != 0 {
		t.Errorf("pools are left: %v", c.Stats())
	}
	waitFor(t, "the connections to end", func() bool { return f.connections() == 0 })
}

func TestReadTimeoutIsOpError(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	hold := make(chan struct{})
	defer close(hold)
	for _, addr := range []string{"a:1", "b:2", "c:3"} {
		f.script(addr, func(_ *fakeConn, args []string) string {
			if args[0] == "BLPOP" {
				<-hold
			}
			return ""
		})
	}
	calls := map[string]func(*redisc.Conn) error{
		"DoWithTimeout": func(conn *redisc.Conn) error {
			_, err := conn.DoWithTimeout(time.Millisecond, "BLPOP", keyA, 0)
			return err
		},
		"through redigo": func(conn *redisc.Conn) error {
			_, err := redis.DoWithTimeout(conn, time.Millisecond, "BLPOP", keyA, 0)
			return err
		},
		"ReceiveWithTime": func(conn *redisc.Conn) error { _, err := conn.ReceiveWithTimeout(time.Millisecond); return err },
	}
	for name, call := range calls {
		conn := c.Get().(*redisc.Conn)
		err := call(conn)
		op, ok := err.(*net.OpError)
		if !ok || !op.Timeout() || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v (%T)", name, err, err)
		}
		if conn.Err() == nil {
			t.Errorf("%s: the connection is still good", name)
		}
		conn.Close()
	}
}

func TestContext(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	hold := make(chan struct{})
	defer close(hold)
	f.script("a:1", func(_ *fakeConn, args []string) string {
		if args[0] == "BLPOP" {
			<-hold
		}
		return ""
	})
	conn := c.Get()
	v, err := redis.String(redis.DoContext(conn, t.Context(), "SET", keyA, "1"))
	if v != "OK" || err != nil {
		t.Errorf("got %v, %v", v, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		waitFor(t, "the command", func() bool { return slices.Contains(f.got("a:1"), "BLPOP bar 0") })
		cancel()
	}()
	if _, err := redis.DoContext(conn, ctx, "BLPOP", keyA, 0); err != context.Canceled {
		t.Errorf("canceled: %v", err)
	}
	conn.Close()
	other := c.Get()
	defer other.Close()
	if _, err := redis.DoContext(other, ctx, "GET", keyA); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled before it was bound: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	third := c.Get()
	defer third.Close()
	want(t, third, "PONG", "PING")
	if _, err := redis.ReceiveContext(third, ctx); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("expired: %v", err)
	}
}

// TestReaderAndWriter: one goroutine sends while another receives, as redigo allows. With
// -race it shows that a Conn adds no race, from the binding on.
func TestReaderAndWriter(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	conn := c.Get().(*redisc.Conn)
	defer conn.Close()
	if err := conn.Bind(keyA); err != nil {
		t.Fatal(err)
	}
	const n = 500
	var group sync.WaitGroup
	group.Go(func() {
		for range n {
			if err := errors.Join(conn.Send("INCR", keyA), conn.Flush()); err != nil {
				t.Error(err)
			}
		}
	})
	group.Go(func() {
		for i := range n {
			if v, err := redis.Int(conn.Receive()); v != i+1 || err != nil {
				t.Errorf("got %d, %v", v, err)
			}
		}
	})
	group.Go(func() {
		for range 20 {
			conn.Err()
			if err := conn.Bind(keyA); err == nil {
				t.Error("bound twice")
			}
		}
	})
	group.Wait()
	other := c.Get().(*redisc.Conn)
	defer other.Close()
	var bound sync.Map
	for i := range 8 {
		group.Go(func() {
			if other.Bind(keyA) == nil {
				bound.Store(i, true)
			}
		})
	}
	group.Wait()
	count := 0
	bound.Range(func(any, any) bool { count++; return true })
	if count != 1 {
		t.Errorf("%d calls of Bind succeeded", count)
	}
}

func TestSubscription(t *testing.T) {
	f := newFake(t)
	f.script("c:3", func(_ *fakeConn, args []string) string {
		switch args[0] {
		case "SUBSCRIBE":
			return array(bulk("subscribe"), bulk(args[1]), ":1\r\n") + array(bulk("message"), bulk(args[1]), bulk("hi"))
		case "UNSUBSCRIBE":
			return array(bulk("unsubscribe"), bulk("foo"), ":0\r\n")
		}
		return ""
	})
	c := f.refreshed()
	sub := redis.PubSubConn{Conn: c.Get()}
	defer sub.Close()
	if err := sub.Subscribe(keyC); err != nil {
		t.Fatal(err)
	}
	if got, ok := sub.Receive().(redis.Subscription); !ok || got.Channel != keyC {
		t.Errorf("got %+v", got)
	}
	if got, ok := sub.Receive().(redis.Message); !ok || string(got.Data) != "hi" {
		t.Errorf("got %+v", got)
	}
	if err := sub.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	if got, ok := sub.Receive().(redis.Subscription); !ok || got.Count != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestTransaction(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	conn := c.Get()
	defer conn.Close()
	if err := redisc.BindConn(conn, keyA); err != nil {
		t.Fatal(err)
	}
	conn.Send("MULTI")
	conn.Send("INCR", keyA)
	conn.Send("INCR", keyA)
	if list, err := redis.Ints(conn.Do("EXEC")); err != nil || !slices.Equal(list, []int{1, 2}) {
		t.Errorf("got %v, %v", list, err)
	}
	if got := strings.Join(f.got("a:1"), ", "); got != "MULTI, INCR bar, INCR bar, EXEC" {
		t.Errorf("a got %s", got)
	}
}
