package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-kv/bowline/resp"
)

// connOf gives the open connection that serves a key.
func connOf(t *testing.T, c *Client, key string) *conn {
	t.Helper()
	q := newCall()
	defer q.release()
	q.fill("GET", key)
	n, _ := c.core.pick(q, RoutePrimary)
	cn := n.primary.conns[n.primary.index(q.slot)].live.Load()
	if cn == nil {
		t.Fatalf("no connection for %s", key)
	}
	return cn
}

func (c *conn) hasReader() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reading
}

func TestCallerAloneReadsHimself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := cluster3(t, Options{})
		plain := context.Background()
		for range 3 {
			if err := c.Do(plain, "SET", keyA, "v").Err(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if cn := connOf(t, c, keyA); cn.hasReader() {
				t.Error("the connection's own reader waits for the next reply")
			}
		}
		get(t, c, keyA) // may be canceled
		synctest.Wait()
		cn := connOf(t, c, keyA)
		if !cn.hasReader() {
			t.Error("nobody reads after a command that may be canceled")
		}
		if err := c.Do(plain, "SET", keyA, "v").Err(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if cn.hasReader() {
			t.Error("the connection's own reader has not left")
		}
		time.Sleep(3 * unreadMax)
		if !cn.hasReader() {
			t.Error("an idle connection has no reader")
		}
	})
}

func TestReadersOfAllKindsShareAConnection(t *testing.T) {
	const goroutines, rounds = 24, 150
	f, c := cluster3(t, Options{})
	var group sync.WaitGroup
	for i := range goroutines {
		group.Go(func() {
			p := c.Pipeline()
			for n := range rounds {
				ctx, cancel := context.Background(), func() {}
				if (i+n)%3 == 0 {
					ctx, cancel = context.WithCancel(t.Context())
				}
				if (i+n)%9 == 0 { // somebody else gives up in between
					cancel()
					gone, stop := context.WithCancel(t.Context())
					go stop()
					c.Do(gone, "GET", keyA)
					ctx, cancel = context.WithCancel(t.Context())
				}
				key, value := fmt.Sprintf("k%d", i), fmt.Sprintf("%d of %d", n, i)
				if i%2 == 0 {
					if err := c.Do(ctx, "SET", key, value).Err(); err != nil {
						t.Error(err)
					}
					if got, err := c.Do(ctx, "GET", key).Text(); got != value || err != nil {
						t.Errorf("got %q, %v, want %q", got, err, value)
					}
				} else {
					for j := range 6 { // on all nodes
						p.Do("SET", fmt.Sprint(key, "-", j), value)
						p.Do("GET", fmt.Sprint(key, "-", j))
					}
					replies, err := p.Exec(ctx)
					if err != nil {
						t.Error(err)
					}
					for j := 1; j < len(replies); j += 2 {
						if got, _ := replies[j].Text(); got != value {
							t.Errorf("got %q, want %q", got, value)
						}
					}
				}
				cancel()
			}
		})
	}
	group.Wait()
	if n := f.node("a:1").connections(); n > 1 {
		t.Errorf("%d connections", n)
	}
}

func TestEndOfAConnectionWithoutReaderCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		for range 3 {
			for range 2 {
				if err := c.Do(context.Background(), "SET", keyA, "v").Err(); err != nil {
					t.Fatal(err)
				}
			}
			if connOf(t, c, keyA).hasReader() {
				t.Error("the test shows nothing: somebody reads")
			}
			f.node("a:1").dropAll()
			time.Sleep(2 * staleAfter)
		}
		if err := c.Do(context.Background(), "SET", keyA, "v").Err(); err != nil {
			t.Error(err)
		}
	})
}

func TestEndOfAnIdleConnectionIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drops := make(chan Event, 8)
		f, c := cluster3(t, Options{OnEvent: func(e Event) {
			if e.Kind == EventDrop {
				drops <- e
			}
		}})
		for range 2 {
			if err := c.Do(context.Background(), "SET", keyB, "v").Err(); err != nil {
				t.Fatal(err)
			}
		}
		f.node("b:2").dropAll()
		time.Sleep(3 * unreadMax)
		synctest.Wait()
		select {
		case e := <-drops:
			if e.Addr != "b:2" {
				t.Errorf("got %+v", e)
			}
		default:
			t.Error("nobody noticed")
		}
	})
}

func TestPipelineThatWaitsForAHungNodeHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dropped atomic.Pointer[Event]
		f, c := cluster3(t, Options{OnEvent: func(e Event) {
			if e.Kind == EventDrop {
				dropped.Store(&e)
			}
		}})
		for _, key := range []string{keyA, keyB, keyC} {
			if err := c.Do(context.Background(), "SET", key, key).Err(); err != nil {
				t.Fatal(err)
			}
		}
		f.node("a:1").script(func(*request) string { return "" })
		done := make(chan []Reply)
		go func() {
			p := c.Pipeline()
			p.Do("GET", keyA)
			p.Do("GET", keyB)
			p.Do("GET", keyC)
			replies, err := p.Exec(context.Background())
			if !errors.Is(err, ErrMaybeExecuted) {
				t.Errorf("got %v", err)
			}
			done <- replies
		}()
		synctest.Wait()
		start := time.Now()
		for range 10 {
			for _, ctx := range []context.Context{context.Background(), t.Context()} {
				if got, err := c.Do(ctx, "GET", keyB).Text(); got != keyB || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
			}
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("the other node took %v", d)
		}
		replies := <-done
		for i, key := range []string{keyB, keyC} {
			if got, err := replies[i+1].Text(); got != key || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		}
		synctest.Wait()
		if e := dropped.Load(); e == nil || e.Addr != "a:1" {
			t.Errorf("dropped: %+v", e)
		}
	})
}

func TestRepliesOfAPipelineDoNotOverlap(t *testing.T) {
	_, c := cluster3(t, Options{})
	p := c.Pipeline()
	var want []string
	for i := range 40 { // small, empty and larger than the room that they share
		size := []int{5, 0, 300, textRoomMax / 3, 2 * textRoomMax, 1}[i%6]
		want = append(want, strings.Repeat(string(rune('a'+i%26)), size))
		p.Do("SET", fmt.Sprint("k", i), want[i])
	}
	if _, err := p.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		p.Do("GET", fmt.Sprint("k", i))
	}
	replies, err := p.Exec(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range replies {
		b, err := replies[i].Bytes()
		if err != nil || b == nil || string(b) != want[i] {
			t.Errorf("reply %d: %d bytes, %v", i, len(b), err)
		}
		_ = append(b, "must not reach the next"...)
	}
	for i := range replies {
		if got, _ := replies[i].Text(); got != want[i] {
			t.Errorf("reply %d was overwritten", i)
		}
	}
}

func TestNestedRepliesDoNotBorrow(t *testing.T) {
	wire := []byte("*3\r\n$3\r\nabc\r\n*2\r\n+xy\r\n$0\r\n\r\n|1\r\n+k\r\n+v\r\n:7\r\n")
	for _, size := range []int{0, 4, 32} { // elements: 5 and 2 of attributes
		in := bytes.Clone(wire)
		arena := make([]resp.Value, 0, size)
		var rr resp.ReplyReader
		var v resp.Value
		_, lent, err := rr.NextIn(&v, in, arena)
		if err != nil {
			t.Fatal(err)
		}
		want := v.Clone()
		f := newFlight()
		f.out = make([]Reply, 2)
		f.take(&v, len(lent))
		for i := range in {
			in[i] = '?'
		}
		clear(lent)
		if got := f.out[0].v; !got.Equal(&want) || got.Elems[1].Elems[1].Str == nil {
			t.Errorf("arena of %d: got %v, want %v", size, got, want)
		}
	}
}

func TestPipelineAllocatesItsRepliesOnly(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const depth = 32
	c, err := Open(t.Context(), Options{Addrs: []string{quiet(t)}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p := c.Pipeline()
	key := strings.Repeat("k", 20)
	for name, ctx := range map[string]context.Context{"without": context.Background(), "with": t.Context()} {
		if n := testing.AllocsPerRun(200, func() {
			p.Do("GET", key) // that server answers a read, not a command
			if replies, err := p.Exec(ctx); err != nil || len(replies) != 1 {
				t.Fatal(err)
			}
		}); n > 2 {
			t.Errorf("%s cancellation: %v allocations", name, n)
		}
	}
	args := newCall()
	defer args.release()
	args.begin(1 + depth)
	args.text("MGET")
	for i := range depth {
		args.text(fmt.Sprint("key", i))
	}
	args.spec = specs["MGET"]
	if n := testing.AllocsPerRun(200, func() { newSplit(args).release() }); n > 0 {
		t.Errorf("a split allocates %v times", n)
	}
}
