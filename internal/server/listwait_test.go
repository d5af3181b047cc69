package server

import (
	"fmt"
	"testing"
	"time"
)

// TestAWaitingCommandGoesByTheOrderOfItsKeys, when several of them can serve it,
// as Redis does since 7.2.
func TestAWaitingCommandGoesByTheOrderOfItsKeys(t *testing.T) {
	s := startSubject(t, first, 1)
	c := s.dial(t)
	a := waitFor(t, s, c, 0, "2", "BLPOP", "q", "p", "0")
	expect(t, c, "OK", "MULTI")
	expect(t, c, "QUEUED", "RPUSH", "p", "1")
	expect(t, c, "QUEUED", "RPUSH", "q", "2")
	expect(t, c, "[1 1]", "EXEC")
	expectRaw(t, a, "*2 $1 q $1 2")
	expect(t, c, "1", "LLEN", "p")
	expect(t, c, "1", "DEL", "p")

	a = waitFor(t, s, c, 0, "2", "BLMOVE", "p", "q", "LEFT", "LEFT", "0")
	b := waitFor(t, s, c, 1, "2", "BLPOP", "q", "p", "0")
	expect(t, c, "2", "LPUSH", "p", "1", "2")
	expectRaw(t, a, "$1 2")
	expectRaw(t, b, "*2 $1 q $1 2")
	expect(t, c, "[1]", "LRANGE", "p", "0", "-1")
}

func TestAWaitEnds(t *testing.T) {
	s := startSubject(t, first, 1)
	c := s.dial(t)
	// By its time.
	a := s.dial(t)
	a.Send("BLPOP", "q", "0.05")
	expectRaw(t, a, "*-1")
	a.Do("HELLO", "3")
	a.Send("BLMOVE", "p", "q", "LEFT", "LEFT", "0.05")
	expectRaw(t, a, "_")
	// By others.
	for reason, want := range map[string]string{"TIMEOUT": "*-1", "ERROR": "-UNBLOCKED client unblocked via CLIENT UNBLOCK"} {
		a = s.dial(t)
		id := a.Do("CLIENT", "ID")
		a.Send("BLPOP", "q", "0")
		awaitBlocked(t, c, 1)
		expect(t, c, "1", "CLIENT", "UNBLOCK", text(id), reason)
		expectRaw(t, a, want)
		expect(t, c, "0", "CLIENT", "UNBLOCK", text(id), reason)
	}
	// By the client itself: its place is free.
	for range 3 {
		waitFor(t, s, c, 0, "2", "BLPOP", "q", "0").Close()
		awaitBlocked(t, c, 0)
	}
	a = s.dial(t)
	id := a.Do("CLIENT", "ID")
	a.Send("BLPOP", "q", "0")
	awaitBlocked(t, c, 1)
	expect(t, c, "1", "CLIENT", "KILL", "ID", text(id))
	awaitBlocked(t, c, 0)
	expect(t, c, "1", "RPUSH", "q", "x")
	expect(t, c, "1", "LLEN", "q")
}

// TestRepliesOfWaitingClientsKeepTheirPlace: what was sent behind the command
// that waits runs after it, and CLIENT REPLY holds for it.
func TestRepliesOfWaitingClientsKeepTheirPlace(t *testing.T) {
	s := startSubject(t, first, 1)
	c := s.dial(t)
	a := s.dial(t)
	a.Send("SET", "a", "1")
	a.Send("BLPOP", "q", "0")
	a.Send("GET", "a")
	a.Send("CLIENT", "REPLY", "SKIP")
	a.Send("BLPOP", "q", "0")
	a.Send("GET", "a")
	awaitBlocked(t, c, 1)
	expect(t, c, "OK", "SET", "a", "2")
	expect(t, c, "1", "RPUSH", "q", "x")
	expectRaw(t, a, "+OK")
	expectRaw(t, a, "*2 $1 q $1 x")
	expectRaw(t, a, "$1 2")
	awaitBlocked(t, c, 1)
	expect(t, c, "OK", "SET", "a", "3")
	expect(t, c, "1", "RPUSH", "q", "y")
	expectRaw(t, a, "$1 3")
}

// TestManyClientsWaitForManyKeys lets clients take from lists that others fill,
// over several stripes: nothing is lost, and nothing comes twice.
func TestManyClientsWaitForManyKeys(t *testing.T) {
	s := startSubject(t, first, 1)
	c := s.dial(t)
	const clients, rounds = 8, 100
	got := make(chan string, clients*rounds)
	done := make(chan struct{})
	for i := range clients {
		conn := s.dial(t)
		go func() {
			defer func() { done <- struct{}{} }()
			for range rounds {
				commands := [][]string{{"BLPOP", "a", "b", "c", "d", "0"}, {"BLMPOP", "0", "4", "d", "c", "b", "a", "LEFT"}}
				switch reply := conn.Do(commands[i%2]...).(type) {
				case []any:
					if inner, ok := reply[1].([]any); ok {
						got <- text(inner[0])
					} else {
						got <- text(reply[1])
					}
				}
			}
		}()
	}
	keys := []string{"a", "b", "c", "d"}
	want := map[string]bool{}
	for i := range clients * rounds {
		v := text(i)
		want[v] = true
		switch key := keys[i%4]; i % 3 {
		case 0:
			c.Do("RPUSH", key, v)
		case 1:
			c.Do("RPUSH", "source", v)
			c.Do("LMOVE", "source", key, "LEFT", "RIGHT")
		default:
			c.Do("MULTI")
			c.Do("RPUSH", key, v)
			c.Do("EXEC")
		}
	}
	for range clients {
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			t.Fatalf("%d values were taken of %d", len(got), len(want))
		}
	}
	close(got)
	for v := range got {
		if !want[v] {
			t.Errorf("%s came twice", v)
		}
		delete(want, v)
	}
	if len(want) > 0 {
		t.Errorf("%d values are lost", len(want))
	}
}

func text(v any) string { return fmt.Sprint(v) }
