package client

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bowline-kv/bowline/resp"
)

func TestContract17PipelineKeepsTheOrderOfReplies(t *testing.T) {
	f, c := cluster3(t, Options{})
	p := c.Pipeline()
	var want []string
	for i := range 50 {
		for _, key := range []string{keyA, keyB, keyC} {
			k := fmt.Sprintf("{%s}%d", key, i)
			p.Do("SET", k, k)
			p.Do("GET", k)
			want = append(want, "OK", k)
		}
	}
	p.Do("MGET", "{bar}1", "{c}1", "{foo}1")
	replies, err := p.Exec(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got, _ := replies[i].Text(); got != want[i] {
			t.Errorf("reply %d is %q, not %q", i, got, want[i])
		}
	}
	if got, _ := replies[len(replies)-1].Texts(); !slices.Equal(got, []string{"{bar}1", "{c}1", "{foo}1"}) {
		t.Errorf("the split command at its index gave %q", got)
	}
	if p.Len() != 0 {
		t.Error("the pipeline is not empty after Exec")
	}
	if len(f.node("a:1").got("SET")) != 50 {
		t.Error("not grouped by node")
	}
}

func TestContract17RedirectedCommandsKeepTheirOrderBySlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := cluster3(t, Options{})
		f.node("a:1").script(withMap(map3, movedTo(5061, "b:2")))
		// b is not ready at first: the second command must not overtake the first.
		f.node("b:2").script(withMap(map3, failing("APPEND", 2, "-TRYAGAIN x\r\n")))
		p := c.Pipeline()
		for i := range 5 {
			p.Do("APPEND", keyA, i)
			p.Do("APPEND", keyC, i)
		}
		if _, err := p.Exec(t.Context()); err != nil {
			t.Error(err)
		}
		if got := get(t, c, keyA); got != "01234" {
			t.Errorf("the slot that moved: %q", got)
		}
		if got := get(t, c, keyC); got != "01234" {
			t.Errorf("the slot that stayed: %q", got)
		}
	})
}

func TestContract17NothingOfAPipelineIsExecutedTwice(t *testing.T) {
	f, c := cluster3(t, Options{})
	var n atomic.Int32
	f.node("a:1").script(withMap(map3, func(r *request) string {
		if r.is("INCR") && n.Add(1) == 3 {
			r.conn.drop()
			return ""
		}
		return pass
	}))
	p := c.Pipeline()
	for range 5 {
		p.Do("INCR", keyA)
	}
	p.Do("INCR", keyC)
	replies, err := p.Exec(t.Context())
	if !errors.Is(err, ErrMaybeExecuted) {
		t.Errorf("got %v", err)
	}
	for i, r := range replies {
		got, err := r.Int()
		switch {
		case i < 2 && (got != int64(i+1) || err != nil):
			t.Errorf("a reply that was read became %d, %v", got, err)
		case i >= 2 && i < 5 && !errors.Is(err, ErrMaybeExecuted):
			t.Errorf("command %d: %v", i, err)
		case i == 5 && (got != 1 || err != nil):
			t.Errorf("the other node's reply is %d, %v", got, err)
		}
	}
	if got := len(f.node("a:1").got("INCR")); got != 3 {
		t.Errorf("the node got %d commands", got)
	}
}

func TestContract17NodesWorkInParallel(t *testing.T) {
	f, c := cluster3(t, Options{})
	// Each node answers only when both have been asked.
	both := make(chan struct{})
	var asked atomic.Int32
	for _, addr := range []string{"a:1", "c:3"} {
		f.node(addr).script(withMap(map3, func(r *request) string {
			if r.is("GET") {
				if asked.Add(1) == 2 {
					close(both)
				}
				<-both
			}
			return pass
		}))
	}
	p := c.Pipeline()
	p.Do("GET", keyA)
	p.Do("GET", keyC)
	if _, err := p.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestContract18TransactionOnOneConnection(t *testing.T) {
	f, c := cluster3(t, Options{})
	tx := c.Tx()
	tx.Do("SET", keyA, "1")
	tx.Do("INCR", keyA)
	tx.Do("GET", "{bar}none")
	replies, err := tx.Exec(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := replies[1].Int(); n != 2 || len(replies) != 3 || !replies[2].IsNull() {
		t.Errorf("got %+v", replies)
	}
	if got := f.node("a:1").gotAll(); !slices.Equal(got, []string{"MULTI", "SET bar 1", "INCR bar", "GET {bar}none", "EXEC"}) {
		t.Errorf("the node got %q", got)
	}
	tx.Do("SET", keyA, "1")
	tx.Do("SET", keyB, "1")
	if _, err := tx.Exec(t.Context()); !errors.Is(err, ErrCrossSlot) {
		t.Errorf("two slots: %v", err)
	}
	if _, err := c.Tx().Exec(t.Context()); err == nil {
		t.Error("an empty transaction was executed")
	}
}

// movedInMulti answers as Redis does: the command is refused, and EXEC hides why.
func movedInMulti(addr, kind string) func(*request) string {
	return func(r *request) string {
		if !r.is("INCR") && !r.is("GET") && !r.is("WATCH") || r.conn.asking {
			return pass
		}
		if r.conn.multi != nil {
			r.conn.fault = "moved"
		}
		return "-" + kind + " 5061 " + addr + "\r\n"
	}
}

func TestContract18RedirectedTransactionMovesAsAWhole(t *testing.T) {
	for _, kind := range []string{"MOVED", "ASK"} {
		f, c := cluster3(t, Options{})
		f.node("a:1").script(withMap(map3, movedInMulti("b:2", kind)))
		tx := c.Tx()
		tx.Do("INCR", keyA)
		tx.Do("INCR", keyA)
		replies, err := tx.Exec(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := replies[1].Int(); n != 2 {
			t.Errorf("%s: got %d", kind, n)
		}
		want := []string{"MULTI", "INCR bar", "INCR bar", "EXEC"}
		if kind == "ASK" {
			want = append([]string{"ASKING"}, want...)
		}
		if got := f.node("b:2").gotAll(); !slices.Equal(got, want) {
			t.Errorf("%s: the other node got %q", kind, got)
		}
	}
}

func TestContract18RefusedTransactionNamesTheCause(t *testing.T) {
	f, c := cluster3(t, Options{})
	f.node("a:1").script(withMap(map3, func(r *request) string {
		if r.is("NOSUCH") {
			r.conn.fault = "unknown"
			return "-ERR unknown command 'NOSUCH'\r\n"
		}
		return pass
	}))
	tx := c.Tx()
	tx.Do("SET", keyA, "1")
	tx.Do("NOSUCH")
	_, err := tx.Exec(t.Context())
	var server *resp.Error
	if !errors.As(err, &server) || server.Code() != "ERR" {
		t.Errorf("got %v", err)
	}
}

func TestContract18DropDuringATransaction(t *testing.T) {
	f, c := cluster3(t, Options{})
	f.node("a:1").script(withMap(map3, func(r *request) string {
		if r.is("EXEC") {
			r.conn.drop()
			return ""
		}
		return pass
	}))
	tx := c.Tx()
	tx.Do("INCR", keyA)
	if _, err := tx.Exec(t.Context()); !errors.Is(err, ErrMaybeExecuted) {
		t.Errorf("got %v", err)
	}
	if n := len(f.node("a:1").got("EXEC")); n != 1 {
		t.Errorf("EXEC was sent %d times", n)
	}
}

func TestContract18WatchRunsAgainWhereTheKeysAre(t *testing.T) {
	f, c := cluster3(t, Options{})
	f.node("a:1").script(withMap(map3, movedInMulti("b:2", "MOVED")))
	runs := 0
	err := c.Watch(t.Context(), func(conn *Conn) error {
		runs++
		if conn.Addr() != "b:2" {
			t.Errorf("fn ran at %s", conn.Addr())
		}
		n, err := conn.Do(t.Context(), "GET", keyA).Int()
		if err != nil && err != ErrNil {
			return err
		}
		tx := conn.Tx()
		tx.Do("SET", keyA, n+1)
		_, err = tx.Exec(t.Context())
		return err
	}, keyA)
	if err != nil || runs != 1 {
		t.Errorf("%d runs, %v", runs, err)
	}
	got := f.node("b:2").gotAll()
	if want := []string{"WATCH bar", "GET bar", "MULTI", "SET bar 1", "EXEC"}; !slices.Equal(got, want) {
		t.Errorf("b:2 got %q", got)
	}
}

func TestContract18ExecIsNeverMovedAlone(t *testing.T) {
	f, c := cluster3(t, Options{})
	// The slot moves between WATCH and EXEC.
	var moved atomic.Bool
	f.node("a:1").script(withMap(map3, func(r *request) string {
		if moved.Load() {
			return movedInMulti("b:2", "MOVED")(r)
		}
		return pass
	}))
	runs := 0
	err := c.Watch(t.Context(), func(conn *Conn) error {
		runs++
		moved.Store(true)
		tx := conn.Tx()
		tx.Do("INCR", keyA)
		_, err := tx.Exec(t.Context())
		return err
	}, keyA)
	if err != nil || runs != 2 {
		t.Errorf("%d runs, %v", runs, err)
	}
	if got := f.node("b:2").gotAll(); !slices.Equal(got, []string{"WATCH bar", "MULTI", "INCR bar", "EXEC"}) {
		t.Errorf("b:2 got %q", got)
	}
}

func TestContract18AbortedTransaction(t *testing.T) {
	f, c := cluster3(t, Options{})
	f.node("a:1").script(withMap(map3, func(r *request) string {
		if r.is("EXEC") {
			r.conn.multi = nil
			return "_\r\n"
		}
		return pass
	}))
	err := c.Watch(t.Context(), func(conn *Conn) error {
		tx := conn.Tx()
		tx.Do("INCR", keyA)
		_, err := tx.Exec(t.Context())
		return err
	}, keyA)
	if !errors.Is(err, ErrAborted) {
		t.Errorf("got %v", err)
	}
}

func TestContract18ConnectionLeftWatchingServesNobodyElse(t *testing.T) {
	f, c := cluster3(t, Options{})
	stop := errors.New("enough")
	for range 2 {
		if err := c.Watch(t.Context(), func(conn *Conn) error { return stop }, keyA); err != stop {
			t.Errorf("got %v", err)
		}
	}
	got := f.node("a:1").got("WATCH")
	if len(got) != 2 || got[0].conn == got[1].conn {
		t.Error("the second user got a connection that watches")
	}
}
