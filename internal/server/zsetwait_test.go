package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// awaitBlocked waits until so many clients wait.
func awaitBlocked(t *testing.T, c *redistest.Conn, n int) {
	t.Helper()
	want := fmt.Sprintf("blocked_clients:%d\r\n", n)
	for end := time.Now().Add(10 * time.Second); !strings.Contains(fmt.Sprint(c.Do("INFO", "clients")), want); {
		if time.Now().After(end) {
			t.Fatalf("it does not get to %s", want)
		}
	}
}

// waitFor sends a command on a connection of its own, which waits.
func waitFor(t *testing.T, s *subject, works *redistest.Conn, before int, proto string, args ...string) *redistest.Conn {
	t.Helper()
	c := s.dial(t)
	c.Do("HELLO", proto)
	c.Send(args...)
	awaitBlocked(t, works, before+1)
	return c
}

func expectRaw(t *testing.T, c *redistest.Conn, want string) {
	t.Helper()
	if got := strings.ReplaceAll(string(c.ReceiveRaw()), "\r\n", " "); got != want+" " {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClientsWaitForSortedSets(t *testing.T) {
	s := startSubject(t, first, 1)
	c := s.dial(t)
	// One command serves several, in the order of their arrival.
	a := waitFor(t, s, c, 0, "2", "BZPOPMIN", "other", "z", "0")
	b := waitFor(t, s, c, 1, "3", "BZPOPMAX", "z", "0")
	d := waitFor(t, s, c, 2, "2", "BZMPOP", "0", "2", "other", "z", "MIN", "COUNT", "2")
	e := waitFor(t, s, c, 3, "3", "BZMPOP", "0", "1", "z", "MAX")
	expect(t, c, "5", "ZADD", "z", "1", "a", "2", "b", "3.5", "c", "4", "d", "5", "e")
	expectRaw(t, a, "*3 $1 z $1 a $1 1")
	expectRaw(t, b, "*3 $1 z $1 e ,5")
	expectRaw(t, d, "*2 $1 z *2 *2 $1 b $1 2 *2 $1 c $3 3.5")
	expectRaw(t, e, "*2 $1 z *1 *2 $1 d ,4")
	expect(t, c, "0", "EXISTS", "z")
	awaitBlocked(t, c, 0)

	// What a transaction takes back brings nothing, and a string neither.
	a = waitFor(t, s, c, 0, "2", "BZPOPMIN", "z", "0")
	expect(t, c, "OK", "MULTI")
	expect(t, c, "QUEUED", "ZADD", "z", "1", "a", "2", "b")
	expect(t, c, "QUEUED", "ZREM", "z", "a", "b")
	expect(t, c, "[2 2]", "EXEC")
	expect(t, c, "OK", "SET", "z", "text")
	awaitBlocked(t, c, 1)
	expect(t, c, "1", "DEL", "z")
	expect(t, c, "OK", "MULTI")
	expect(t, c, "QUEUED", "ZADD", "z", "1", "a", "2", "b")
	expect(t, c, "QUEUED", "ZREM", "z", "a")
	expect(t, c, "[2 1]", "EXEC")
	expectRaw(t, a, "*3 $1 z $1 b $1 2")

	// Whatever makes a sorted set serves.
	for _, command := range [][]string{
		{"ZUNIONSTORE", "z", "1", "source"}, {"ZRANGESTORE", "z", "source", "0", "0"}, {"COPY", "source", "z"}, {"RENAME", "source", "z"},
	} {
		c.Do("ZADD", "source", "1", "m")
		a = waitFor(t, s, c, 0, "2", "BZPOPMIN", "z", "0")
		c.Do(command...)
		expectRaw(t, a, "*3 $1 z $1 m $1 1")
	}

	// Nobody waits inside a transaction, or for a key of another type.
	c.Do("SET", "text", "v")
	expect(t, c, "WRONGTYPE Operation against a key holding the wrong kind of value", "BZPOPMIN", "none", "text", "0")
	expect(t, c, "OK", "MULTI")
	expect(t, c, "QUEUED", "BZPOPMIN", "z", "0")
	expect(t, c, "QUEUED", "BZMPOP", "0", "1", "z", "MIN")
	expect(t, c, "[<nil> <nil>]", "EXEC")
}

func TestClientsStopToWaitForSortedSets(t *testing.T) {
	s := startSubject(t, first, 1)
	c := s.dial(t)
	expect(t, c, "<nil>", "BZPOPMIN", "z", "0.001")
	expect(t, c, "<nil>", "BZMPOP", "0.001", "1", "z", "MAX")
	for _, end := range []struct{ proto, how, want string }{
		{"2", "TIMEOUT", "*-1"}, {"3", "TIMEOUT", "_"}, {"2", "ERROR", "-UNBLOCKED client unblocked via CLIENT UNBLOCK"},
	} {
		a := s.dial(t)
		a.Do("HELLO", end.proto)
		id := fmt.Sprint(a.Do("CLIENT", "ID"))
		a.Send("BZPOPMAX", "z", "0")
		awaitBlocked(t, c, 1)
		expect(t, c, "1", "CLIENT", "UNBLOCK", id, end.how)
		expectRaw(t, a, end.want)
		expect(t, c, "1", "ZADD", "z", "1", "a")
		expect(t, c, "1", "DEL", "z")
	}
}
