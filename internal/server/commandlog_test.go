package server

import (
	"fmt"
	"slices"
	gostrings "strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// loggedSizes lists what COMMANDLOG GET shows, without times and addresses, the oldest
// first.
func loggedSizes(c *redistest.Conn, log string) (list []string) {
	for _, e := range c.Do("COMMANDLOG", "GET", "-1", log).([]any) {
		e := e.([]any)
		list = append(list, fmt.Sprint(e[0], " ", e[2], " ", e[3], " ", e[5]))
	}
	slices.Reverse(list)
	return list
}

// playLarge sends commands with large requests and replies, in one piece, and gives the
// entries of both logs.
func playLarge(c *redistest.Conn) (requests, replies []string) {
	c.Do("CLIENT", "SETNAME", "me")
	c.Do("CONFIG", "SET", "commandlog-request-larger-than", "200", "commandlog-reply-larger-than", "100")
	long := gostrings.Repeat("x", 172) // of a SET of 200 bytes
	many := []string{"MGET"}
	for i := range 40 {
		many = append(many, fmt.Sprint("k", i))
	}
	commands := [][]string{
		{"SET", "a", long}, {"SET", "a", long[1:]}, {"GET", "a"}, {"SET", "b", gostrings.Repeat("y", 94)}, {"GET", "b"}, {"SET", "b", gostrings.Repeat("y", 93)}, {"GET", "b"},
		{"SET", "c", gostrings.Repeat("z", 200_000)}, {"GET", "c"}, many, {"NOSUCH", long, long}, {"GET", long, long}, {"INCR", long + long},
		{"GETDEL", "c"}, {"AUTH", "default", long + long}, {"PING", long + long},
	}
	var wire []byte
	for _, args := range commands {
		wire = append(wire, redistest.Encode(args...)...)
	}
	c.Write(wire)
	for range commands {
		c.Receive()
	}
	requests = loggedSizes(c, "large-request")
	replies = loggedSizes(c, "large-reply")
	return requests, replies[:len(replies)-1] // without what told the requests
}

func TestLargeCommandsAreLogged(t *testing.T) {
	c := startSubject(t, first, 1).dial(t)
	requests, replies := playLarge(c)
	for _, log := range []struct {
		name string
		got  []string
		want []string // size and command
	}{
		{"large-request", requests, []string{"200 [SET", "200031 [SET", "365 [MGET", "366 [INCR", "379 [AUTH", "366 [PING"}},
		{"large-reply", replies, []string{"179 [GET", "101 [GET", "100 [GET", "200011 [GET", "205 [MGET", "200011 [GETDEL", "352 [PING"}},
	} {
		for i, e := range log.got {
			if i >= len(log.want) || !gostrings.HasPrefix(e, fmt.Sprint(i, " ", log.want[i], " ")) || !gostrings.HasSuffix(e, " me") {
				t.Errorf("%s: entry %d is %.100s", log.name, i, e)
			}
		}
		if len(log.got) != len(log.want) {
			t.Errorf("%s has %d entries, want %d", log.name, len(log.got), len(log.want))
		}
	}
	c.Do("CONFIG", "SET", "commandlog-request-larger-than", "-1", "commandlog-large-reply-max-len", "3")
	c.Do("SET", "a", gostrings.Repeat("x", 1000))
	c.Do("GET", "a")
	if requests, replies := c.Do("COMMANDLOG", "LEN", "LARGE-REQUEST"), c.Do("COMMANDLOG", "LEN", "large-reply"); requests != int64(6) || replies != int64(3) {
		t.Errorf("%v requests and %v replies", requests, replies)
	}
	c.Do("COMMANDLOG", "RESET", "large-reply")
	if got := fmt.Sprint(c.Do("COMMANDLOG", "LEN", "large-request"), c.Do("COMMANDLOG", "LEN", "large-reply")); got != "6 0" {
		t.Errorf("after the reset: %s", got)
	}
}

// TestLargeCommandsOfATransactionAreLogged: their requests came with the commands that
// queued them; Valkey counts the replies of a transaction up to each command.
func TestLargeCommandsOfATransactionAreLogged(t *testing.T) {
	c := startSubject(t, first, 1).dial(t)
	c.Do("CONFIG", "SET", "commandlog-request-larger-than", "200", "commandlog-reply-larger-than", "100")
	for _, args := range [][]string{{"MULTI"}, {"SET", "a", gostrings.Repeat("x", 300)}, {"GET", "a"}, {"PING"}, {"EXEC"}} {
		c.Do(args...)
	}
	if got := fmt.Sprint(loggedSizes(c, "large-request"), loggedSizes(c, "large-reply")); got != "[] [0 308 [GET a] ]" {
		t.Error(got)
	}
}

func TestNewerLogsOfLargeCommandsAreThoseOfValkey8(t *testing.T) {
	wantRequests, wantReplies := playLarge(redistest.Valkey8.Start(t).Dial(t))
	requests, replies := playLarge(startSubject(t, first, 1).dial(t))
	for i, want := range slices.Concat(wantRequests, wantReplies) {
		if got := slices.Concat(requests, replies); i >= len(got) || got[i] != want {
			t.Errorf("valkey-server: %s", want)
		}
	}
	if t.Failed() {
		t.Logf("bowline:\n%s\n%s", gostrings.Join(requests, "\n"), gostrings.Join(replies, "\n"))
	}
}
