package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-kv/bowline/slot"
)

// confirmed answers SSUBSCRIBE.
func confirmed(r *request) string {
	if !r.is("SSUBSCRIBE") {
		return pass
	}
	var b strings.Builder
	for i, name := range r.args[1:] {
		b.WriteString(">3\r\n" + bulk("ssubscribe") + bulk(name) + integer(i+1))
	}
	return b.String()
}

// channels gives so many names of channels whose slots are in a range.
func channels(count int, first, last slot.ID) []string {
	var list []string
	for i := 0; len(list) < count; i++ {
		name := fmt.Sprint("ch", i)
		if id := slot.OfString(name); first <= id && id <= last {
			list = append(list, name)
		}
	}
	return list
}

// A node ends its connections while they are set up, and at the same time there is much
// to tell of the channels of another.
func TestContract21DropWhileAFeedIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		var greeted atomic.Int32
		f.node("a:1").script(withMap(map3, confirmed))
		f.node("b:2").script(withMap(map3, func(r *request) string {
			if r.is("HELLO") && greeted.Add(1) <= 5 {
				r.conn.drop()
				return ""
			}
			return confirmed(r)
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s, err := c.SSubscribe(ctx, append(channels(60, 0, 5460), channels(1, 5461, 10922)...)...)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	})
}

// The channels of a node that hangs hold up no others.
func TestContract21NodeThatHangsHoldsUpNoOtherChannels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		for _, addr := range []string{"a:1", "c:3"} {
			f.node(addr).script(withMap(map3, confirmed))
		}
		s, err := c.SSubscribe(t.Context(), append(channels(40, 10923, 16383), keyA)...)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		f.node("c:3").set(func(n *fakeNode) { n.stall = true })
		f.node("c:3").dropAll()
		time.Sleep(time.Second)
		f.node("a:1").dropAll()
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond) // less than DialTimeout
		defer cancel()
		if m, err := s.Receive(ctx); err != nil || !m.Gap || m.Channel != keyA {
			t.Errorf("got %+v, %v", m, err)
		}
	})
}

func TestContract21CloseWhileAFeedIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		f.node("a:1").set(func(n *fakeNode) { n.stall = true })
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := c.SSubscribe(ctx, keyA, keyC); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		c.Close()
	})
}

// A server or proxy may repeat what it does not know, the password too.
func TestContract12NoPasswordInErrors(t *testing.T) {
	const secret = "hunter2"
	for _, reply := range []string{
		"-ERR unknown command `%s`, with args beginning with: `%s`, \r\n",
		"-ERR bad login: %s %s\r\n",
		"-WRONGPASS %s %s\r\n",
	} {
		for _, user := range []string{"", "bob"} {
			f := newFake(t, "a:1")
			f.node("a:1").script(func(r *request) string {
				if r.is("HELLO") || r.is("AUTH") {
					return fmt.Sprintf(reply, r.args[0], strings.Join(r.args[1:], "`, `"))
				}
				return pass
			})
			_, err := Open(t.Context(), Options{Addrs: []string{"a:1"}, Dialer: f.dial, Username: user, Password: secret})
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("got %v", err)
			}
		}
	}
}

func TestContract12ErrorsOfWrongArgumentsNameTheCommand(t *testing.T) {
	_, c := cluster3(t, Options{})
	p, tx := c.Pipeline(), c.Tx()
	p.Do("GET", keyA)
	if _, err := p.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Do("SET", keyA, nil) // in the room of the GET
	_, inPipeline := p.Exec(t.Context())
	tx.Do("SET", keyA, nil)
	_, inTx := tx.Exec(t.Context())
	_, typed := c.HSet(t.Context(), keyA, "field", nil)
	for _, test := range []struct {
		err  error
		want string
	}{
		{inPipeline, "SET: argument 2 is nil"},
		{inTx, "SET: argument 2 is nil"},
		{c.Do(t.Context(), "SET", keyA, nil).Err(), "SET: argument 2 is nil"},
		{c.Do(t.Context(), nil).Err(), "command: argument 0 is nil"},
		{c.Do(t.Context()).Err(), "command: no command given"},
		{typed, "HSET: argument 3 is nil"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("got %v, want %s", test.err, test.want)
		}
	}
}

func TestContract12UnreachableNodeOfARedirectionIsNamed(t *testing.T) {
	for _, kind := range []string{"MOVED", "ASK"} {
		synctest.Test(t, func(t *testing.T) {
			f, c := cluster3(t, Options{})
			f.node("a:1").script(withMap(map3, func(r *request) string {
				if r.is("SET") {
					return "-" + kind + " 5061 dead:9\r\n"
				}
				return pass
			}))
			err := c.Do(t.Context(), "SET", keyA, 1).Err()
			var dial *net.OpError
			if !errors.Is(err, ErrMaxRedirects) || !errors.As(err, &dial) || !strings.Contains(err.Error(), "no such host dead:9") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Commands for given nodes are no worse off than others.
func TestContract10CommandsForANodeUseAnotherConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		for range 2 {
			for _, key := range []string{keyA, keyB, keyC} {
				if err := c.Do(context.Background(), "SET", key, 1).Err(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if connOf(t, c, keyA).hasReader() {
			t.Fatal("the test shows nothing: somebody reads")
		}
		f.node("a:1").dropAll()
		time.Sleep(2 * staleAfter)
		if err := c.Do(context.Background(), "FLUSHALL").Err(); err != nil {
			t.Error(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		f.node("a:1").forget()
		err := c.ForEachPrimary(t.Context(), func(_ context.Context, n *Node) error { return n.Do(gone, "SET", keyA, 1).Err() })
		if !errors.Is(err, context.Canceled) || errors.Is(err, ErrMaybeExecuted) || len(f.node("a:1").got("SET")) > 0 {
			t.Errorf("with a context that has ended: %v", err)
		}
	})
}

// A failover is noticed also by a program that sends nothing but commands for all nodes.
func TestContract03CommandsForAllNodesReloadTheMap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		size := func(r *request) string {
			if r.is("DBSIZE") {
				return integer(1)
			}
			return pass
		}
		for _, addr := range []string{"a:1", "b:2", "c:3"} {
			f.node(addr).script(withMap(map3, size))
		}
		if n, err := c.DBSize(t.Context()); n != 3 || err != nil {
			t.Fatal(n, err)
		}
		f.node("a:1").kill()
		time.Sleep(time.Second) // the reload that the drop caused has brought the old map
		later := func() string {
			return shards(share{0, 5460, []string{"d:4"}}, share{5461, 10922, []string{"b:2"}}, share{10923, 16383, []string{"c:3"}})
		}
		f.add("d:4")
		for _, addr := range []string{"b:2", "c:3", "d:4"} {
			f.node(addr).script(withMap(later, size))
		}
		if _, err := c.DBSize(t.Context()); !errors.Is(err, ErrNoNode) {
			t.Errorf("got %v", err)
		}
		time.Sleep(time.Second)
		if n, err := c.DBSize(t.Context()); n != 3 || err != nil {
			t.Error(n, err)
		}
	})
}

func TestContract24ConnectionThatWasChangedServesNobodyElse(t *testing.T) {
	f, c := cluster3(t, Options{})
	for _, words := range [][]any{{"CLIENT", "NO-TOUCH", "ON"}, {"client", "setname", "x"}, {"PING"}} {
		conn, err := c.Conn(t.Context(), keyA)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Do(t.Context(), words...).Err(); err != nil {
			t.Error(err)
		}
		conn.Close()
	}
	used := map[*fakeConn]bool{}
	for _, word := range []string{"CLIENT", "PING"} {
		for _, r := range f.node("a:1").got(word) {
			if used[r.conn] {
				t.Error("a connection that was changed was used again")
			}
			used[r.conn] = r.is("CLIENT")
		}
	}
}

// held is a connection whose peer takes no long request until it is let go.
type held struct {
	net.Conn
	let chan struct{}
}

func (h *held) Write(b []byte) (int, error) {
	if len(b) > 1<<20 {
		<-h.let
	}
	return h.Conn.Write(b)
}

// What a slow peer has not taken has a bound; commands behind it wait and do not fail.
func TestContract24CommandsWaitForRoomOnTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, "a:1", "b:2", "c:3")
		f.answerMap(map3)
		let := make(chan struct{})
		c, err := Open(t.Context(), Options{Addrs: []string{"a:1"}, Timeout: -1,
			Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
				nc, err := f.dial(ctx, network, addr)
				return &held{nc, let}, err
			}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		value := make([]byte, pendingMax/2+1)
		results := make(chan error, 4)
		for range cap(results) { // one is being written, two fill the queue, one waits
			go func() { results <- c.Do(t.Context(), "SET", keyA, value).Err() }()
		}
		time.Sleep(time.Second)
		select {
		case err := <-results:
			t.Errorf("a command ended early: %v", err)
		default:
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = c.Do(ctx, "SET", keyA, value).Err()
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrMaybeExecuted) {
			t.Errorf("beyond its deadline: %v", err)
		}
		close(let)
		for range cap(results) {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	})
}

// A seed that hangs in the middle is named too when nobody has answered.
func TestContract02SeedThatHangsIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, "a:1", "b:2")
		f.node("a:1").script(func(r *request) string {
			if r.is("CLUSTER") {
				return ""
			}
			return pass
		})
		f.node("b:2").set(func(n *fakeNode) { n.refuse = true })
		_, err := Open(t.Context(), Options{Addrs: []string{"a:1", "b:2"}, Dialer: f.dial})
		var dial *net.OpError
		if !errors.Is(err, ErrNoNode) || !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &dial) ||
			!strings.Contains(err.Error(), "ask a:1 for the map: ") {
			t.Errorf("got %v", err)
		}
	})
}

// A server may end a connection, with a reason, before the client has sent anything.
func TestContract02ReasonOfAnEarlyEndIsKept(t *testing.T) {
	near, far := newPipe()
	defer far.Close()
	cn := newConn(near, 0, nil)
	cn.start()
	reason := errors.New("certificate required")
	cn.fail(reason)
	<-cn.dead
	if _, err := cn.exchange(t.Context(), [][]string{{"PING"}}); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
}
