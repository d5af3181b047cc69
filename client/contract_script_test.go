package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/resp"
)

// scripted makes a fake node keep scripts: they answer how often they ran.
type scripted struct {
	mu    sync.Mutex
	known map[string]bool
	ran   int
}

const noScript = "-NOSCRIPT No matching script. Please use EVAL.\r\n"

func (s *scripted) answer(r *request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.is("SCRIPT", "FLUSH"):
		s.known = map[string]bool{}
		return "+OK\r\n"
	case r.is("SCRIPT", "LOAD"):
		hash := NewScript(r.args[2]).Hash()
		s.known[hash] = true
		return bulk(hash)
	case r.is("EVALSHA") && !s.known[strings.ToLower(r.args[1])]:
		return s.inside(r, noScript)
	case r.is("EVAL"):
		s.known[NewScript(r.args[1]).Hash()] = true
	case !r.is("EVALSHA"):
		return pass
	}
	s.ran++
	return s.inside(r, integer(s.ran))
}

// inside answers as between MULTI and EXEC.
func (s *scripted) inside(r *request, reply string) string {
	if r.conn.multi == nil {
		return reply
	}
	r.conn.multi = append(r.conn.multi, reply)
	return "+QUEUED\r\n"
}

func (s *scripted) flush() {
	s.mu.Lock()
	s.known = map[string]bool{}
	s.mu.Unlock()
}

// scripted3 is a cluster whose first node has scripts.
func scripted3(t *testing.T, opt Options) (*fakeNode, *Client, *scripted) {
	f, c := cluster3(t, opt)
	s := &scripted{known: map[string]bool{}}
	f.node("a:1").script(withMap(map3, s.answer))
	return f.node("a:1"), c, s
}

// gotShort lists what a node got, with H and S for a script's hash and source.
func gotShort(n *fakeNode, s *Script) []string {
	var list []string
	for _, line := range n.gotAll() {
		line = strings.ReplaceAll(line, s.source, "S")
		list = append(list, strings.ReplaceAll(line, s.hash, "H"))
	}
	n.forget()
	return list
}

// pipeScript sends one script and what is behind it.
func pipeScript(t *testing.T, c *Client, s *Script, behind ...[]any) []Reply {
	t.Helper()
	p := c.Pipeline()
	p.Script(s, []string{keyA})
	for _, args := range behind {
		p.Do(args...)
	}
	replies, _ := p.Exec(t.Context())
	return replies
}

func TestContract19ScriptsFallBackToTheirSource(t *testing.T) {
	n, c, _ := scripted3(t, Options{})
	s := NewScript("return 7")
	if v, err := s.Run(t.Context(), c, []string{keyA}, "x", 1).Int(); v != 1 || err != nil {
		t.Errorf("got %d, %v", v, err)
	}
	if got := gotShort(n, s); !slices.Equal(got, []string{"EVALSHA H 1 bar x 1", "EVAL S 1 bar x 1"}) {
		t.Errorf("the node got %q", got)
	}
}

func TestContract19PipelinesSendTheHashWhenItIsKnown(t *testing.T) {
	s := NewScript("return 'long'")
	hash, source := []string{"EVALSHA H 1 bar"}, []string{"EVAL S 1 bar"}
	for _, c := range []struct {
		name  string
		learn func(*testing.T, *Client, *fakeNode)
		want  []string
	}{
		{"never seen", func(*testing.T, *Client, *fakeNode) {}, source},
		{"after a pipeline", func(t *testing.T, c *Client, _ *fakeNode) { pipeScript(t, c, s) }, hash},
		{"after Run", func(t *testing.T, c *Client, _ *fakeNode) { s.Run(t.Context(), c, []string{keyA}) }, hash},
		{"after a transaction", func(t *testing.T, c *Client, _ *fakeNode) {
			tx := c.Tx()
			tx.Script(s, []string{keyA})
			if _, err := tx.Exec(t.Context()); err != nil {
				t.Error(err)
			}
		}, hash},
		{"after SCRIPT LOAD", func(t *testing.T, c *Client, _ *fakeNode) { c.Do(t.Context(), "SCRIPT", "LOAD", s.source) }, hash},
		{"after EVALSHA by Do", func(t *testing.T, c *Client, _ *fakeNode) {
			c.Do(t.Context(), "SCRIPT", "LOAD", s.source)
			for i := range knownScriptsMax { // as many others push it out
				connOf(t, c, keyA).known.add(fmt.Sprint(i), 0)
			}
			c.Do(t.Context(), "EVALSHA", strings.ToUpper(s.hash), 1, keyA)
		}, hash},
		{"after SCRIPT FLUSH", func(t *testing.T, c *Client, _ *fakeNode) {
			pipeScript(t, c, s)
			c.Do(t.Context(), "SCRIPT", "FLUSH")
		}, source},
		{"on a new connection", func(t *testing.T, c *Client, n *fakeNode) {
			pipeScript(t, c, s)
			n.dropAll()
			waitFor(t, "the drop", func() bool { return c.Stats().Drops > 0 })
		}, source},
		{"after NOSCRIPT", func(t *testing.T, c *Client, n *fakeNode) {
			pipeScript(t, c, s)
			n.script(withMap(map3, func(r *request) string {
				if r.is("EVALSHA") {
					return noScript
				}
				return pass
			}))
			c.Do(t.Context(), "EVALSHA", s.hash, 1, keyA)
		}, source},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, client, _ := scripted3(t, Options{})
			c.learn(t, client, n)
			n.forget()
			pipeScript(t, client, s)
			got := gotShort(n, s)
			got = slices.DeleteFunc(got, func(line string) bool { return !strings.HasPrefix(line, "EVAL") })
			if !slices.Equal(got, c.want) {
				t.Errorf("the node got %q, want %q", got, c.want)
			}
		})
	}
}

// Somebody else flushed the scripts. What was not executed is sent again only when
// nothing of its slot has overtaken it.
func TestContract19FlushByOthers(t *testing.T) {
	s := NewScript("return 1")
	for _, c := range []struct {
		name   string
		behind [][]any
		failed int // replies that are NOSCRIPT, from the first on
		want   []string
	}{
		{"nothing behind", nil, 0, []string{"EVALSHA H 1 bar", "EVAL S 1 bar"}},
		{"another slot behind", [][]any{{"GET", "{other}"}}, 0, []string{"EVALSHA H 1 bar", "EVAL S 1 bar"}},
		{"the same slot behind", [][]any{{"SET", keyA, "2"}}, 1, []string{"EVALSHA H 1 bar", "SET bar 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, client, node := scripted3(t, Options{})
			pipeScript(t, client, s)
			node.flush()
			n.forget()
			replies := pipeScript(t, client, s, c.behind...)
			for i := range replies {
				if got := code(&replies[i].v) == "NOSCRIPT" && replies[i].err != nil; got != (i < c.failed) {
					t.Errorf("reply %d: %v", i, replies[i].err)
				}
			}
			got := slices.DeleteFunc(gotShort(n, s), func(line string) bool { return strings.Contains(line, "other") })
			if !slices.Equal(got, c.want) {
				t.Errorf("the node got %q, want %q", got, c.want)
			}
			pipeScript(t, client, s)
			if ran := node.ran; ran != 3-c.failed {
				t.Errorf("the script ran %d times", ran)
			}
		})
	}
}

// A slot's scripts that all were refused are sent again in their order.
func TestContract19FlushByOthersBeforeSeveralScripts(t *testing.T) {
	n, c, node := scripted3(t, Options{})
	s := NewScript("return 1")
	pipeScript(t, c, s)
	node.flush()
	n.forget()
	p := c.Pipeline()
	p.Do("SET", keyA, "1")
	p.Script(s, []string{keyA}, "x")
	p.Script(s, []string{keyA}, "y")
	if replies, err := p.Exec(t.Context()); err != nil || len(replies) != 3 {
		t.Fatal(err)
	}
	want := []string{"SET bar 1", "EVALSHA H 1 bar x", "EVALSHA H 1 bar y", "EVAL S 1 bar x", "EVALSHA H 1 bar y"}
	if got := gotShort(n, s); !slices.Equal(got, want) {
		t.Errorf("the node got %q, want %q", got, want)
	}
}

func TestContract19Transactions(t *testing.T) {
	n, c, node := scripted3(t, Options{})
	s := NewScript("return 1")
	exec := func() ([]Reply, error) {
		tx := c.Tx()
		tx.Script(s, []string{keyA})
		tx.Do("SET", keyA, "1")
		return tx.Exec(t.Context())
	}
	for i, want := range []string{"EVAL S 1 bar", "EVALSHA H 1 bar"} {
		if replies, err := exec(); err != nil || len(replies) != 2 {
			t.Fatal(err)
		}
		if got := gotShort(n, s); !slices.Equal(got, []string{"MULTI", want, "SET bar 1", "EXEC"}) {
			t.Errorf("%d: the node got %q", i, got)
		}
	}
	node.flush()
	replies, err := exec()
	if err == nil || len(replies) != 2 || code(&replies[0].v) != "NOSCRIPT" || replies[1].err != nil {
		t.Errorf("after a flush by others: %v, %v", replies, err)
	}
	n.forget()
	if _, err := exec(); err != nil || gotShort(n, s)[1] != "EVAL S 1 bar" {
		t.Errorf("after NOSCRIPT: %v", err)
	}
}

// A pipeline that is used again knows nothing of what was at a command's place before.
func TestContract19PipelineForgetsItsScripts(t *testing.T) {
	n, c, _ := scripted3(t, Options{})
	s := NewScript("return 1")
	p := c.Pipeline()
	for range 2 {
		p.Script(s, []string{keyA})
		if _, err := p.Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	n.forget()
	p.Do("EVAL", "return 2", 1, keyA)
	if _, err := p.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := gotShort(n, s); !slices.Equal(got, []string{"EVAL return 2 1 bar"}) {
		t.Errorf("the node got %q", got)
	}
	p.Script(s, []string{keyA})
	p.Exec(t.Context())
	p.Do("GET", keyA)
	if q := p.list[0]; q.size() != len(q.wire) {
		t.Errorf("a GET of %d bytes counts as %d", len(q.wire), q.size())
	}
	p.Exec(t.Context())
}

// What was sent is counted by what went over the wire: a script that may have run is not
// sent again.
func TestContract19DropAfterAHash(t *testing.T) {
	n, c, _ := scripted3(t, Options{})
	s := NewScript("return '" + strings.Repeat("long", 1000) + "'")
	pipeScript(t, c, s)
	n.forget()
	n.script(withMap(map3, func(r *request) string {
		if r.is("EVALSHA") {
			r.conn.drop()
			return ""
		}
		return pass
	}))
	replies := pipeScript(t, c, s, []any{"INCR", keyA})
	for i := range replies {
		if !errors.Is(replies[i].err, ErrMaybeExecuted) {
			t.Errorf("reply %d: %v", i, replies[i].err)
		}
	}
	if got := n.got("EVAL"); len(got) > 0 {
		t.Errorf("it was sent again: %v", got)
	}
}

func TestKnownScriptsAreBounded(t *testing.T) {
	k := knownScripts{flushes: new(atomic.Uint64)}
	for i := range 3 * knownScriptsMax {
		k.add(fmt.Sprint(i), 0)
		if !k.has(fmt.Sprint(i)) || len(k.byHash) > knownScriptsMax {
			t.Fatalf("after %d scripts: %d known", i, len(k.byHash))
		}
	}
}

// A script that ran while a flush was under way may have run before it.
func TestScriptsSentBeforeAFlushIsAnsweredAreForgotten(t *testing.T) {
	k := knownScripts{flushes: new(atomic.Uint64)}
	flush, eval := newCall(), newCall()
	s := NewScript("return 1")
	flush.fill("SCRIPT", "FLUSH")
	eval.encodeScript(s, "EVAL", s.source, nil, nil)
	ok := &resp.Value{Kind: resp.KindSimple, Str: []byte("OK")}
	k.encode(nil, flush)
	k.encode(nil, eval)
	k.learn(flush, ok)
	if k.learn(eval, ok); k.has(s.hash) {
		t.Error("still known")
	}
	k.encode(nil, eval)
	if k.learn(eval, ok); !k.has(s.hash) {
		t.Error("not known")
	}
	k.encode(nil, flush)
	if k.has(s.hash) {
		t.Error("still known when a flush is sent")
	}
}

// With a real server, whose scripts are flushed now and then by this client and by
// another, each script runs once or says that it did not.
func TestContract19Live(t *testing.T) {
	server := redistest.Start(t)
	open := func() *Client {
		c, err := Open(t.Context(), Options{Addrs: []string{server.Addr}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	c, other := open(), open()
	s := NewScript("return redis.call('INCR', KEYS[1])")
	want := int64(0)
	for i := range 400 {
		switch {
		case i%37 == 0:
			other.Do(t.Context(), "SCRIPT", "FLUSH")
		case i%53 == 0:
			c.Do(t.Context(), "SCRIPT", "FLUSH")
		}
		p := c.Pipeline()
		if i%71 == 0 {
			p.Do("SCRIPT", "FLUSH")
		}
		p.Script(s, []string{"n"})
		p.Script(s, []string{"n"})
		p.Do("GET", "n")
		replies, _ := p.Exec(t.Context())
		for j := range replies {
			if replies[j].err == nil && replies[j].v.Kind == resp.KindInt {
				want++
			} else if replies[j].err != nil && code(&replies[j].v) != "NOSCRIPT" {
				t.Fatal(replies[j].err)
			}
		}
		if got, err := replies[len(replies)-1].Int(); want > 0 && (got != want || err != nil) {
			t.Fatalf("round %d: %d increments, %d scripts ran: %v", i, got, want, err)
		}
		tx := c.Tx()
		tx.Script(s, []string{"n"})
		if replies, _ := tx.Exec(t.Context()); len(replies) == 1 && replies[0].err == nil {
			want++
		}
	}
	if info, err := c.Do(t.Context(), "INFO", "commandstats").Text(); err != nil || !strings.Contains(info, "cmdstat_evalsha:") {
		t.Errorf("no hash was sent: %v", err)
	}
	if want < 1100 {
		t.Errorf("only %d of 1200 scripts ran", want)
	}
}
