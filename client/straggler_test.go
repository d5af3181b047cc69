package client

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-kv/bowline/resp"
)

// holding answers the first command of a kind at once, and the others not before the last
// of n has come.
func holding(word string, n int) func(*request) string {
	var count int
	var replies strings.Builder
	return func(r *request) string {
		switch {
		case r.is("ASKING") && count > 0:
			replies.WriteString("+OK\r\n")
			return ""
		case !r.is(word):
			return pass
		}
		count++
		reply := integer(count)
		if count == 1 {
			return reply
		}
		if replies.WriteString(reply); count < n {
			return ""
		}
		return replies.String()
	}
}

// A slot's commands that were redirected don't wait for each other's replies once the
// first has found the way.
func TestContract17RedirectedCommandsGoTogether(t *testing.T) {
	for _, redirection := range []string{"-MOVED 5061 b:2\r\n", "-ASK 5061 b:2\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			f, c := cluster3(t, Options{})
			f.node("a:1").script(withMap(map3, failing("APPEND", 20, redirection)))
			f.node("b:2").script(withMap(map3, holding("APPEND", 20)))
			p := c.Pipeline()
			for i := range 20 {
				p.Do("APPEND", keyA, i)
			}
			replies, err := p.Exec(t.Context())
			if err != nil {
				t.Fatal(redirection, err)
			}
			for i, r := range replies {
				if n, _ := r.Int(); n != int64(i+1) {
					t.Errorf("%q: reply %d is %d", redirection, i, n)
				}
			}
			for i, r := range f.node("b:2").got("APPEND") {
				if r.args[2] != fmt.Sprint(i) {
					t.Errorf("%q: %s came as number %d", redirection, r, i)
				}
			}
			if s := c.Stats(); s.Moved+s.Ask != 20 {
				t.Errorf("%q: %+v", redirection, s)
			}
		})
	}
}

// Of those that go together the node may redirect some again: they keep their order,
// and their redirections count.
func TestContract17RedirectedTogetherAndOnceMore(t *testing.T) {
	f, c := cluster3(t, Options{})
	f.node("a:1").script(withMap(map3, movedTo(5061, "b:2")))
	n := 0
	f.node("b:2").script(withMap(map3, func(r *request) string {
		if r.is("APPEND") {
			if n++; n > 3 {
				return "-MOVED 5061 c:3\r\n"
			}
		}
		return pass
	}))
	p := c.Pipeline()
	for i := range 9 {
		p.Do("APPEND", keyA, i)
	}
	if _, err := p.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := get(t, c, keyA)
	if first := len(f.node("b:2").got("APPEND")); got != "345678" || first != 9 {
		t.Errorf("the last node has %q, the one before it was asked %d times", got, first)
	}
}

// A primary that became a replica costs one reload, whatever the number of commands.
func TestContract17CommandsThatMetAReplicaGoTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		set(t, c, keyA, "")
		moved := func() string { return shards(share{0, 10922, []string{"b:2"}}, share{10923, 16383, []string{"c:3"}}) }
		f.answerMap(moved)
		f.node("a:1").script(withMap(moved, failing("APPEND", 50, "-READONLY You can't write against a read only replica.\r\n")))
		before := c.Stats().Reloads
		p := c.Pipeline()
		for i := range 50 {
			p.Do("APPEND", keyA, i%10)
		}
		if _, err := p.Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := c.Stats().Reloads - before; got != 1 {
			t.Errorf("%d reloads", got)
		}
		if got := get(t, c, keyA); got != strings.Repeat("0123456789", 5) {
			t.Errorf("got %q", got)
		}
	})
}

// While one command waits for its keys, those behind it have waited too.
func TestContract09TryAgainOfSeveralWaitsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		f.node("a:1").script(withMap(map3, failing("MGET", 1<<30, "-TRYAGAIN x\r\n")))
		p := c.Pipeline()
		for range 10 {
			p.Do("MGET", "{bar}1", "{bar}2")
		}
		start := time.Now()
		replies, _ := p.Exec(t.Context())
		for i, r := range replies {
			var server *resp.Error
			if !errors.As(r.Err(), &server) || server.Code() != "TRYAGAIN" {
				t.Errorf("reply %d: %v", i, r.Err())
			}
		}
		if d := time.Since(start); d != 635*time.Millisecond {
			t.Errorf("ten commands waited %v", d)
		}
		if n := len(f.node("a:1").got("MGET")); n != 10+7+9 {
			t.Errorf("%d attempts", n)
		}
	})
}

// A node that goes away while a slot's commands follow each other to it.
func TestContract17DropAmongThoseThatGoTogether(t *testing.T) {
	f, c := cluster3(t, Options{})
	f.node("a:1").script(withMap(map3, failing("INCR", 6, "-MOVED 5061 b:2\r\n")))
	n := 0
	f.node("b:2").script(withMap(map3, func(r *request) string {
		if r.is("INCR") {
			if n++; n == 3 {
				r.conn.drop()
				return ""
			}
		}
		return pass
	}))
	p := c.Pipeline()
	for range 6 {
		p.Do("INCR", keyA)
	}
	replies, _ := p.Exec(t.Context())
	for i, r := range replies {
		got, err := r.Int()
		if i < 2 && got != int64(i+1) || i == 2 && !errors.Is(err, ErrMaybeExecuted) {
			t.Errorf("reply %d: %d, %v", i, got, err)
		}
	}
}
