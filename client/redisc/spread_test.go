package redisc_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/bowline-kv/bowline/client"
	"github.com/bowline-kv/bowline/client/redisc"
)

func splitting(c *redisc.Cluster) { c.SplitKeys = true }

func spreading(c *redisc.Cluster) { c.SpreadPipelines = true }

func TestSplitIsOptIn(t *testing.T) {
	f := newFake(t)
	c := f.refreshed()
	for _, addr := range []string{"a:1", "b:2", "c:3"} {
		f.script(addr, func(_ *fakeConn, args []string) string {
			if args[0] == "MGET" {
				return "-CROSSSLOT Keys in request don't hash to the same slot\r\n"
			}
			return ""
		})
	}
	conn := c.Get()
	defer conn.Close()
	if _, err := conn.Do("MGET", keyA, keyB); !redisc.IsCrossSlot(err) {
		t.Errorf("got %v", err)
	}
}

func TestSplitMultiKeyCommands(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(splitting)
	conn := c.Get()
	defer conn.Close()
	want(t, conn, "OK", "MSET", keyA, 1, keyB, 2, keyC, 3, keyA, 4)
	list, err := redis.Strings(conn.Do("mget", keyC, keyA, "none", []byte(keyB), keyC))
	if err != nil || !reflect.DeepEqual(list, []string{"3", "4", "", "2", "3"}) {
		t.Errorf("MGET: %q, %v", list, err)
	}
	want(t, conn, int64(3), "EXISTS", keyA, keyB, keyC, "none")
	want(t, conn, int64(3), "DEL", redis.Args{}.AddFlat([]string{keyA, keyB, "none", keyC})...)
	if err := redisc.BindConn(conn, keyA); err != nil {
		t.Errorf("a split command bound the connection: %v", err)
	}
	f.forget()
	if _, err := conn.Do("MGET", keyA, keyC); err != nil { // bound: the server's to answer
		t.Error(err)
	}
	if got := f.got("a:1"); !slices.Equal(got, []string{"MGET bar foo"}) {
		t.Errorf("a got %q", got)
	}
}

func TestSplitOneSlotGoesTheUsualWay(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(splitting)
	conn := c.Get()
	defer conn.Close()
	if _, err := conn.Do("MGET", keyC, "{foo}2"); err != nil {
		t.Fatal(err)
	}
	wantError(t, redisc.BindConn(conn, keyC), "already bound")
	other := c.Get()
	defer other.Close()
	_, err := other.Do("MSET", keyA, 1, keyC) // left to the server
	wantError(t, err, "wrong number of arguments")
}

// TestSplitErrorIsThatOfTheWhole: never a nil in place of an error.
func TestSplitErrorIsThatOfTheWhole(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(splitting)
	f.script("b:2", func(_ *fakeConn, args []string) string {
		if args[0] == "MGET" {
			return "-LOADING soon\r\n"
		}
		return ""
	})
	conn := c.Get()
	defer conn.Close()
	if v, err := conn.Do("MGET", keyA, keyB, keyC); v != nil || err != redis.Error("LOADING soon") {
		t.Errorf("got %v, %v", v, err)
	}
	f.script("b:2", func(_ *fakeConn, args []string) string {
		if args[0] == "MGET" {
			return "*0\r\n"
		}
		return "+what\r\n"
	})
	if v, err := conn.Do("MGET", keyA, keyB, keyC); v != nil || err == nil {
		t.Errorf("a reply without the values: %v, %v", v, err)
	}
	if v, err := conn.Do("DEL", keyA, keyB, keyC); v != nil || err == nil {
		t.Errorf("a reply that is no number: %v, %v", v, err)
	}
	f.kill("b:2")
	if v, err := conn.Do("MGET", keyA, keyB, keyC); err == nil {
		t.Logf("another node answered for b: %v", v)
	}
}

func TestSplitFollowsRedirections(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(splitting)
	conn := c.Get()
	defer conn.Close()
	want(t, conn, "OK", "MSET", keyA, 1, keyB, 2, keyC, 3)
	f.add("new:5")
	f.move(slotC, "b:2")
	f.script("a:1", func(_ *fakeConn, args []string) string {
		if args[0] == "MGET" {
			return "-ASK 5061 new:5\r\n"
		}
		return ""
	})
	list, err := redis.Strings(conn.Do("MGET", keyA, keyB, keyC))
	if err != nil || !reflect.DeepEqual(list, []string{"1", "2", "3"}) {
		t.Errorf("%q, %v", list, err)
	}
	if got := f.got("new:5"); !slices.Equal(got, []string{"ASKING", "MGET bar"}) {
		t.Errorf("new got %q", got)
	}
	retry := retrying(t, c, 2) // also by way of a RetryConn
	if list, err := redis.Strings(retry.Do("MGET", keyA, keyB, keyC)); len(list) != 3 || err != nil {
		t.Errorf("%q, %v", list, err)
	}
}

func TestSplitManyKeysWithOneConnectionANode(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(splitting, pools(1, true, nil))
	const n = 20000
	args, keys := redis.Args{}, redis.Args{}
	for i := range n {
		keys = keys.Add(fmt.Sprint("key:", i))
		args = args.Add(fmt.Sprint("key:", i), i)
	}
	conn := c.Get()
	defer conn.Close()
	want(t, conn, "OK", "MSET", args...)
	list, err := redis.Ints(conn.Do("MGET", keys...))
	if err != nil || len(list) != n {
		t.Fatalf("%d values, %v", len(list), err)
	}
	for i, v := range list {
		if v != i {
			t.Fatalf("key %d has %d", i, v)
		}
	}
}

func TestSpreadPipeline(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(spreading)
	conn := c.Get()
	defer conn.Close()
	name := []byte(keyA)
	conn.Send("SET", name, 1)
	copy(name, "xxx") // the buffer is the caller's again
	conn.Send("SET", keyB, 2)
	conn.Send("SET", keyC, 3)
	conn.Send("MGET", keyC, keyB, keyA)
	conn.Send("EVAL", "return 1", 1, keyC) // by the key table, not the first argument
	conn.Send("PING")
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if v, err := conn.Receive(); v != "OK" || err != nil {
			t.Errorf("SET: %v, %v", v, err)
		}
	}
	if list, err := redis.Ints(conn.Receive()); err != nil || len(list) != 3 {
		t.Errorf("MGET: %v, %v", list, err)
	}
	conn.Receive()
	want(t, conn, "3", "GET", keyC)
	if !slices.ContainsFunc(f.got("c:3"), func(s string) bool { return strings.HasPrefix(s, "EVAL") }) {
		t.Error("EVAL went elsewhere")
	}
	if _, err := conn.Receive(); err == nil {
		t.Error("Receive gave a reply that was received already")
	}
	conn.Send("GET", keyA)
	conn.Send("GET", keyB)
	list, err := redis.Strings(conn.Do(""))
	if err != nil || !reflect.DeepEqual(list, []string{"1", "2"}) {
		t.Errorf("Do of nothing: %q, %v", list, err)
	}
	if v, err := conn.Do(""); v != nil || err != nil {
		t.Errorf("nothing at all: %v, %v", v, err)
	}
	if err := redisc.BindConn(conn, keyA); err != nil {
		t.Errorf("it was bound: %v", err)
	}
	if _, err := conn.Do("GET", keyC); redisc.ParseRedir(err) == nil {
		t.Errorf("bound, it stays with its node: %v", err)
	}
}

func TestSpreadErrorsStayAtTheirPlaces(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(spreading)
	conn := c.Get()
	defer conn.Close()
	conn.Send("SET", keyA, 1)
	conn.Send("RENAME", keyA, keyC)
	conn.Send("MULTI")
	conn.Send("GET", keyA)
	if v, err := conn.Receive(); v != "OK" || err != nil { // flushes by itself
		t.Errorf("got %v, %v", v, err)
	}
	if _, err := conn.Receive(); !errors.Is(err, client.ErrCrossSlot) {
		t.Errorf("got %v", err)
	}
	_, err := conn.Receive()
	wantError(t, err, "bind it first")
	if v, err := redis.Int(conn.Receive()); v != 1 || err != nil {
		t.Errorf("got %v, %v", v, err)
	}
	conn.Send("RENAME", keyA, keyC)
	if _, err := conn.Do("GET", keyA); !errors.Is(err, client.ErrCrossSlot) {
		t.Errorf("the first error is that of Do: %v", err)
	}
}

// TestSpreadKeepsOrderOverRedirections: commands of a slot that moved come in order.
func TestSpreadKeepsOrderOverRedirections(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(spreading)
	f.move(slotC, "b:2")
	conn := c.Get()
	defer conn.Close()
	for range 50 {
		conn.Send("INCR", keyC)
		conn.Send("INCR", keyA)
	}
	list, err := redis.Ints(conn.Do(""))
	if err != nil || len(list) != 100 {
		t.Fatalf("%v, %v", list, err)
	}
	for i, v := range list {
		if v != i/2+1 {
			t.Fatalf("reply %d is %d", i, v)
		}
	}
}

// TestSpreadKeepsWhatWasRead: a node that dies takes only the replies with it that had not
// come.
func TestSpreadKeepsWhatWasRead(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(spreading)
	f.script("c:3", func(fc *fakeConn, args []string) string {
		if args[0] == "APPEND" {
			fc.nc.Close()
		}
		return ""
	})
	conn := c.Get()
	defer conn.Close()
	conn.Send("SET", keyC, 1)
	conn.Send("APPEND", keyC, 1)
	conn.Send("SET", keyC, 2)
	conn.Send("SET", keyA, 1)
	list, err := redis.Values(conn.Do(""))
	if err != nil || len(list) != 4 || list[0] != "OK" || list[3] != "OK" {
		t.Fatalf("%v, %v", list, err)
	}
	for i := 1; i < 3; i++ {
		if _, ok := list[i].(error); !ok {
			t.Errorf("reply %d is %v", i, list[i])
		}
	}
	n := 0
	for _, line := range f.got("c:3") {
		if strings.HasPrefix(line, "APPEND") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("APPEND was sent %d times", n)
	}
}

func TestSpreadReadOnly(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(spreading)
	conn := c.Get()
	defer conn.Close()
	if err := redisc.ReadOnlyConn(conn); err != nil {
		t.Fatal(err)
	}
	conn.Send("GET", keyA)
	conn.Send("SET", keyC, 1)
	list, err := redis.Values(conn.Do(""))
	if err != nil || len(list) != 2 || list[1] != "OK" {
		t.Errorf("%v, %v", list, err)
	}
	if got := f.got("ra:1"); !slices.Equal(got, []string{"READONLY", "GET bar"}) {
		t.Errorf("the replica got %q", got)
	}
}

func TestSpreadTimeoutAndContext(t *testing.T) {
	f := newFake(t)
	c := f.refreshed(spreading)
	hold := make(chan struct{})
	defer close(hold)
	f.script("c:3", func(_ *fakeConn, args []string) string {
		if args[0] == "GET" {
			<-hold
		}
		return ""
	})
	conn := c.Get()
	defer conn.Close()
	if _, err := redis.DoWithTimeout(conn, time.Millisecond, "GET", keyC); err == nil {
		t.Error("no timeout")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := redis.DoContext(conn, ctx, "GET", keyC); !errors.Is(err, context.DeadlineExceeded) && !strings.Contains(err.Error(), "timeout") {
		t.Errorf("got %v", err)
	}
	want(t, conn, "OK", "SET", keyA, 1)
}
