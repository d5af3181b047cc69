package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-kv/bowline/resp"
)

func TestContract07ThreeMovedAreFollowedWithoutDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		set(t, c, keyB, "v")
		set(t, c, keyC, "v")
		f.node("a:1").script(withMap(map3, movedTo(5061, "b:2")))
		f.node("b:2").script(withMap(map3, movedTo(5061, "c:3")))
		var moves atomic.Int32
		f.node("c:3").script(withMap(map3, func(r *request) string {
			if r.is("INCR") && moves.Add(1) == 1 {
				return "-MOVED 5061 d:4\r\n"
			}
			return pass
		}))
		f.add("d:4").script(withMap(map3, nil))
		start := time.Now()
		if n, err := c.Do(t.Context(), "INCR", keyA).Int(); n != 1 || err != nil {
			t.Errorf("INCR over three redirections: %d, %v", n, err)
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("redirections took %v", d)
		}
	})
}

func TestContract07FourthMovedIsReturned(t *testing.T) {
	f, c := cluster3(t, Options{})
	f.node("a:1").script(withMap(map3, movedTo(5061, "b:2")))
	f.node("b:2").script(withMap(map3, movedTo(5061, "a:1")))
	err := c.Do(t.Context(), "INCR", keyA).Err()
	var server *resp.Error
	if !errors.Is(err, ErrMaxRedirects) || !errors.As(err, &server) || server.Code() != "MOVED" {
		t.Errorf("got %v", err)
	}
	if n := len(f.node("a:1").got("INCR")) + len(f.node("b:2").got("INCR")); n != 4 {
		t.Errorf("it was sent %d times, not 4", n)
	}
}

func TestContract07MovedToTheSameAddressDialsAgain(t *testing.T) {
	f, c := cluster3(t, Options{})
	var first atomic.Int32
	f.node("a:1").script(withMap(map3, func(r *request) string {
		if r.is("INCR") && first.CompareAndSwap(0, int32(r.conn.id)) || r.is("INCR") && first.Load() == int32(r.conn.id) {
			return "-MOVED 5061 a:1\r\n"
		}
		return pass
	}))
	if n, err := c.Do(t.Context(), "INCR", keyA).Int(); n != 1 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	got := f.node("a:1").got("INCR")
	if len(got) != 2 || got[0].conn == got[1].conn {
		t.Error("the command was not sent again on another connection")
	}
}

func TestContract08AskIsFollowedOnOneConnectionAndLeavesTheMap(t *testing.T) {
	f, c := cluster3(t, Options{})
	f.add("d:4").script(func(r *request) string { // not in the map
		if r.is("INCR") && !r.conn.asking {
			return "-MOVED 5061 a:1\r\n"
		}
		return pass
	})
	f.node("a:1").script(withMap(map3, func(r *request) string {
		if r.is("INCR") {
			return "-ASK 5061 d:4\r\n"
		}
		return pass
	}))
	for want := int64(1); want <= 2; want++ {
		if n, err := c.Do(t.Context(), "INCR", keyA).Int(); n != want || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	}
	if got := f.node("d:4").gotAll(); !slices.Equal(got, []string{"ASKING", "INCR bar", "ASKING", "INCR bar"}) {
		t.Errorf("d:4 got %q", got)
	}
	if len(f.node("a:1").got("INCR")) != 2 {
		t.Error("an ASK changed the map")
	}
	if c.Stats().Ask != 2 || c.Stats().Moved != 0 {
		t.Errorf("counted %+v", c.Stats())
	}
}

func TestContract08AskIsBoundedWithMoved(t *testing.T) {
	f, c := cluster3(t, Options{})
	ask := func(to string) func(*request) string {
		return func(r *request) string {
			if r.is("INCR") {
				return "-ASK 5061 " + to + "\r\n"
			}
			return pass
		}
	}
	f.node("a:1").script(withMap(map3, ask("b:2")))
	f.node("b:2").script(withMap(map3, ask("a:1")))
	if err := c.Do(t.Context(), "INCR", keyA).Err(); !errors.Is(err, ErrMaxRedirects) {
		t.Errorf("got %v", err)
	}
}

func TestContract08EveryRedirectedCommandOfAPipelineGetsItsAsking(t *testing.T) {
	f, c := cluster3(t, Options{})
	f.node("a:1").script(withMap(map3, func(r *request) string {
		if r.is("APPEND") {
			return "-ASK 5061 b:2\r\n"
		}
		return pass
	}))
	f.node("b:2").script(withMap(map3, func(r *request) string {
		if r.is("APPEND") {
			if !r.conn.asking {
				return "-MOVED 5061 a:1\r\n"
			}
			r.conn.asking = false
		}
		return pass
	}))
	p := c.Pipeline()
	for _, s := range []string{"1", "2", "3"} {
		p.Do("APPEND", keyA, s)
	}
	if _, err := p.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"ASKING", "APPEND bar 1", "ASKING", "APPEND bar 2", "ASKING", "APPEND bar 3"}
	if got := f.node("b:2").gotAll(); !slices.Equal(got, want) {
		t.Errorf("b:2 got %q", got)
	}
}

// failing answers the first n commands of a kind with an error.
func failing(word string, n int32, reply string) func(*request) string {
	var left atomic.Int32
	left.Store(n)
	return func(r *request) string {
		if r.is(word) && left.Add(-1) >= 0 {
			return reply
		}
		return pass
	}
}

func TestContract09TryAgainDoublesItsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		set(t, c, keyA, "v")
		f.node("a:1").script(withMap(map3, failing("INCR", 7, "-TRYAGAIN Multiple keys request during rehashing of slot\r\n")))
		start := time.Now()
		if n, err := c.Do(t.Context(), "INCR", "{bar}n").Int(); n != 1 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
		if d := time.Since(start); d != 635*time.Millisecond {
			t.Errorf("seven waits took %v", d)
		}
		f.node("a:1").script(withMap(map3, failing("INCR", 8, "-TRYAGAIN x\r\n")))
		err := c.Do(t.Context(), "INCR", "{bar}n").Err()
		var server *resp.Error
		if !errors.As(err, &server) || server.Code() != "TRYAGAIN" {
			t.Errorf("the eighth TRYAGAIN became %v", err)
		}
	})
}

func TestContract09TryAgainAfterAskAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		f.node("a:1").script(withMap(map3, func(r *request) string {
			if r.is("MGET") {
				return "-ASK 5061 b:2\r\n"
			}
			return pass
		}))
		f.node("b:2").script(withMap(map3, failing("MGET", 6, "-TRYAGAIN x\r\n")))
		if err := c.Do(t.Context(), "MGET", "{bar}1", "{bar}2").Err(); err != nil {
			t.Error(err)
		}
		if n := len(f.node("b:2").got("ASKING")); n != 7 {
			t.Errorf("%d times ASKING for 7 attempts", n)
		}
	})
}

func TestContract09DownAndLoadingAreWaitedFor(t *testing.T) {
	for _, reply := range []string{"-CLUSTERDOWN The cluster is down\r\n", "-LOADING x\r\n", "-MASTERDOWN x\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			f, c := cluster3(t, Options{RetryTimeout: 5 * time.Second})
			set(t, c, keyA, "v")
			f.node("a:1").script(withMap(map3, failing("INCR", 20, reply)))
			if n, err := c.Do(t.Context(), "INCR", "{bar}n").Int(); n != 1 || err != nil {
				t.Errorf("%q: got %d, %v", reply, n, err)
			}
			f.node("a:1").script(withMap(map3, failing("INCR", 1<<30, reply)))
			start := time.Now()
			err := c.Do(t.Context(), "INCR", "{bar}n").Err()
			var server *resp.Error
			if !errors.As(err, &server) || time.Since(start) != 5*time.Second || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%q: the limit gave %v after %v", reply, err, time.Since(start))
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start = time.Now()
			if err := c.Do(ctx, "INCR", "{bar}n").Err(); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
				t.Errorf("%q: the deadline gave %v after %v", reply, err, time.Since(start))
			}
			if n := len(f.node("a:1").got("INCR")); n > 400 {
				t.Errorf("%q: %d attempts are a storm", reply, n)
			}
		})
	}
}

func TestContract09ReadonlyReloadsAndGoesToTheNewPrimary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		set(t, c, keyA, "v")
		after := func() string { return shards(share{0, 16383, []string{"b:2"}}) }
		f.node("a:1").script(withMap(after, failing("INCR", 1<<30, "-READONLY You can't write against a read only replica.\r\n")))
		f.node("b:2").script(withMap(after, nil))
		f.node("c:3").script(withMap(after, nil))
		if n, err := c.Do(t.Context(), "INCR", "{bar}n").Int(); n != 1 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
	})
}

func TestContract10DropAfterTheWriteIsNeverSentAgain(t *testing.T) {
	for _, command := range []string{"INCR", "GET"} {
		for _, partial := range []string{"", "$5\r\nab"} {
			f, c := cluster3(t, Options{})
			f.node("a:1").script(withMap(map3, func(r *request) string {
				if r.is(command) {
					r.conn.write(partial)
					r.conn.drop()
					return ""
				}
				return pass
			}))
			err := c.Do(t.Context(), command, keyA).Err()
			if !errors.Is(err, ErrMaybeExecuted) {
				t.Errorf("%s: got %v", command, err)
			}
			var e *Error
			if !errors.As(err, &e) || e.Command != command || e.Addr != "a:1" || e.Slot != 5061 {
				t.Errorf("%s: the error does not say what was sent where: %v", command, err)
			}
			if n := len(f.node("a:1").got(command)); n != 1 {
				t.Errorf("%s was sent %d times", command, n)
			}
			f.node("a:1").script(withMap(map3, nil))
			set(t, c, keyA, "v") // the socket is opened again
		}
	}
}

func TestContract10RetryReadsSendsReadsOnceMore(t *testing.T) {
	f, c := cluster3(t, Options{RetryReads: true})
	drop := func(word string) func(*request) string {
		var done atomic.Bool
		return withMap(map3, func(r *request) string {
			if r.is(word) && done.CompareAndSwap(false, true) {
				r.conn.drop()
				return ""
			}
			return pass
		})
	}
	f.node("a:1").script(drop("GET"))
	if err := c.Do(t.Context(), "GET", keyA).Err(); err != nil {
		t.Errorf("a read: %v", err)
	}
	f.node("a:1").script(drop("INCR"))
	if err := c.Do(t.Context(), "INCR", keyA).Err(); !errors.Is(err, ErrMaybeExecuted) {
		t.Errorf("a write: %v", err)
	}
}

func TestContract10DeadConnectionCostsNothing(t *testing.T) {
	f, c := cluster3(t, Options{})
	set(t, c, keyA, "v")
	for range 50 {
		n := f.node("a:1")
		n.mu.Lock()
		for conn := range n.open {
			conn.drop()
		}
		n.mu.Unlock()
		if err := c.Do(t.Context(), "INCR", "{bar}n").Err(); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "a drop to be counted", func() bool { return c.Stats().Drops > 0 })
}

func TestContract10SilenceEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{Timeout: 2 * time.Second})
		f.node("a:1").script(withMap(map3, func(r *request) string {
			if r.is("GET") {
				return ""
			}
			return pass
		}))
		start := time.Now()
		err := c.Do(t.Context(), "GET", keyA).Err()
		var timeout net.Error
		if !errors.Is(err, ErrMaybeExecuted) || !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("got %v", err)
		}
		if d := time.Since(start); d < 2*time.Second || d > 3*time.Second {
			t.Errorf("a timeout of 2 s took %v", d)
		}
		set(t, c, keyA, "v")
	})
}

func TestContract10NoReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{NoReconnect: true, ConnsPerNode: 1})
		set(t, c, keyA, "v")
		dials := f.node("a:1").dialed
		f.node("a:1").mu.Lock()
		for conn := range f.node("a:1").open {
			conn.drop()
		}
		f.node("a:1").mu.Unlock()
		synctest.Wait()
		if err := c.Do(t.Context(), "GET", keyA).Err(); !errors.Is(err, ErrNoNode) {
			t.Errorf("got %v", err)
		}
		if f.node("a:1").dialed != dials {
			t.Error("it was dialed again")
		}
	})
}

func TestContract10DialAttemptsOfAStandaloneServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, "a:1")
		f.node("a:1").script(func(r *request) string {
			if r.is("CLUSTER") {
				return "-ERR This instance has cluster support disabled\r\n"
			}
			return pass
		})
		c := f.open(Options{DialAttempts: 4, DialBackoff: 100 * time.Millisecond}, "a:1")
		f.node("a:1").kill()
		before, start := f.node("a:1").dialed, time.Now()
		if err := c.Do(t.Context(), "GET", keyA).Err(); !errors.Is(err, ErrNoNode) {
			t.Errorf("got %v", err)
		}
		if n := f.node("a:1").dialed - before; n != 4 || time.Since(start) != 700*time.Millisecond {
			t.Errorf("%d attempts in %v", n, time.Since(start))
		}
	})
}

func TestContract11CanceledContextsReturnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{Timeout: -1})
		for _, key := range []string{keyA, keyB, keyC} {
			set(t, c, key, key)
		}
		release := make(chan struct{})
		f.node("a:1").script(withMap(map3, func(r *request) string {
			if r.is("GET") || r.is("MGET") {
				<-release
			}
			return pass
		}))
		for name, do := range map[string]func(context.Context) error{
			"single": func(ctx context.Context) error { return c.Do(ctx, "GET", keyA).Err() },
			"split":  func(ctx context.Context) error { return c.Do(ctx, "MGET", keyA, keyB, keyC).Err() },
			"pipeline": func(ctx context.Context) error {
				p := c.Pipeline()
				p.Do("GET", keyB)
				p.Do("GET", keyA)
				replies, err := p.Exec(ctx)
				if text, err := replies[0].Text(); text != keyB || err != nil {
					t.Errorf("the reply that came was lost: %q, %v", text, err)
				}
				return err
			},
			"transaction": func(ctx context.Context) error {
				tx := c.Tx()
				tx.Do("GET", keyA)
				_, err := tx.Exec(ctx)
				return err
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			start := time.Now()
			err := do(ctx)
			if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrMaybeExecuted) || time.Since(start) != time.Second {
				t.Errorf("%s: %v after %v", name, err, time.Since(start))
			}
			cancel()
			if err := do2(ctx, c); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrMaybeExecuted) {
				t.Errorf("%s: a context that was done before sending gave %v", name, err)
			}
		}
		// Those who come after get their own replies.
		close(release)
		if got := get(t, c, keyA); got != keyA {
			t.Errorf("got another's reply: %q", got)
		}
	})
}

func do2(ctx context.Context, c *Client) error { return c.Do(ctx, "GET", keyA).Err() }

func TestContract12ErrorsSayWhatWasSentWhere(t *testing.T) {
	f, c := cluster3(t, Options{})
	f.node("a:1").script(withMap(map3, func(r *request) string {
		if r.is("CONFIG") || r.is("LPUSH") {
			return "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"
		}
		return pass
	}))
	err := c.Do(t.Context(), "lpush", keyA, "x").Err()
	var e *Error
	var server *resp.Error
	if !errors.As(err, &e) || e.Command != "LPUSH" || e.Addr != "a:1" || e.Slot != 5061 {
		t.Errorf("got %#v", err)
	}
	if !errors.As(err, &server) || server.Code() != "WRONGTYPE" {
		t.Errorf("no *resp.Error in %v", err)
	}
	if want := "LPUSH at a:1 (slot 5061): WRONGTYPE"; !strings.HasPrefix(fmt.Sprint(err), want) {
		t.Errorf("%q does not begin with %q", err, want)
	}
	tx := c.Tx()
	tx.Do("GET", keyA)
	tx.Do("GET", keyA)
	f.node("a:1").script(withMap(map3, func(r *request) string {
		if r.is("EXEC") {
			r.conn.multi = nil
			return "*2\r\n_\r\n-WRONGTYPE x\r\n"
		}
		return pass
	}))
	if _, err := tx.Exec(t.Context()); fmt.Sprint(err) != "GET at a:1 (slot 5061): WRONGTYPE x" {
		t.Errorf("of a transaction: %v", err)
	}
	if _, err := c.Do(t.Context(), "GET", keyB).Text(); err != ErrNil {
		t.Errorf("a key that is not there gave %v", err)
	}
	c.Close()
	if err := c.Do(t.Context(), "GET", keyA).Err(); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
