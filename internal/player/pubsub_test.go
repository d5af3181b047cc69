package player

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// listen subscribes on a connection of its own and waits for the confirmation.
func listen(t *testing.T, c *redistest.Conn, proto int, args ...string) *redistest.Conn {
	t.Helper()
	c.Do("HELLO", strconv.Itoa(proto))
	c.Do(args...)
	return c
}

// withoutExpired leaves out the messages that keys have expired: when that happens
// to a key that no command asks for is up to the background of each server.
func withoutExpired(messages string) string {
	var kept strings.Builder
	for line := range strings.Lines(messages) {
		if !strings.Contains(line, "expired") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// heard reads messages up to and including the one with the given body.
func heard(t interface{ Fatalf(string, ...any) }, c *redistest.Conn, last string) string {
	var all strings.Builder
	for n := 0; ; n++ {
		if n > 100000 {
			t.Fatalf("the last message does not come")
		}
		raw := c.ReceiveRaw()
		fmt.Fprintf(&all, "%q\n", raw)
		if strings.HasSuffix(string(raw), last+"\r\n") {
			return all.String()
		}
	}
}

// TestNotificationsAreThoseOfRedis plays random programs while another
// connection listens to all keyspace notifications.
func TestNotificationsAreThoseOfRedis(t *testing.T) {
	notifyAsRedis(t, NewGenerator(DebianVersion), pair)
}

// notifyAsRedis plays with pairs that both give all notifications.
func notifyAsRedis(t *testing.T, g *Generator, pairOf func(t *testing.T, proto int, settings ...string) Pair) {
	const length = 50
	setChecks(t, *steps/length/4)
	programs := g.Programs(length)
	forBothProtocols(t, func(t *testing.T, proto int) {
		p := pairOf(t, proto, "notify-keyspace-events", "KEAnm")
		want := listen(t, p.Oracle.Another(), proto, "PSUBSCRIBE", "*")
		got := listen(t, p.Subject.Another(), proto, "PSUBSCRIBE", "*")
		n := 0
		rapid.Check(t, func(t *rapid.T) {
			n++
			last := fmt.Sprintf("end of program %d", n)
			var program [][]string
			for _, args := range programs.Draw(t, "program") {
				// Where wrong arguments are refused first, no key is missed.
				if !p.refusedFirst(args) {
					program = append(program, args)
				}
			}
			program = append(program, []string{"FLUSHALL"}, []string{"PUBLISH", "end", last})
			if difference := p.Play(program); difference != "" {
				t.Fatal(difference)
			}
			if a, b := withoutExpired(heard(t, want, last)), withoutExpired(heard(t, got, last)); a != b {
				t.Fatalf("where they differ first, redis-server says\n%s\nbowline says\n%s", a[differ(a, b):], b[differ(a, b):])
			}
		})
	})
}

// differ is the start of the first line in which two texts differ.
func differ(a, b string) int {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return strings.LastIndexByte(a[:i], '\n') + 1
}

// TestMessagesReachWhoListens compares what several listeners of both protocols
// hear of the same messages.
func TestMessagesReachWhoListens(t *testing.T) {
	oracle, subject := redistest.Start(t), startBowline(t)
	dial := func() Pair { return Pair{Oracle: oracle.Dial(t), Subject: redistest.Dial(t, "tcp", subject)} }
	var listeners []Pair
	for _, proto := range []int{2, 3} {
		for _, args := range [][]string{{"SUBSCRIBE", "news", "end"}, {"PSUBSCRIBE", "n*", "end"}, {"SUBSCRIBE", "news", "other", "end"}, {"SSUBSCRIBE", "news", "end"}} {
			l := dial()
			for _, c := range []*redistest.Conn{l.Oracle, l.Subject} {
				c.Do("HELLO", strconv.Itoa(proto))
				c.Send(args...)
				for range args[1:] {
					c.Receive()
				}
			}
			listeners = append(listeners, l)
		}
	}
	publisher := dial()
	for i := range 300 {
		for _, args := range [][]string{
			{"PUBLISH", "news", strconv.Itoa(i)}, {"PUBLISH", "nothing", strconv.Itoa(i)}, {"SPUBLISH", "news", strconv.Itoa(i)},
			{"PUBLISH", "other", strings.Repeat("x", i*10)}, {"PUBSUB", "NUMSUB", "news", "other", "nobody"}, {"PUBSUB", "SHARDNUMSUB", "news"}, {"PUBSUB", "NUMPAT"},
		} {
			if difference := publisher.Play([][]string{args}); difference != "" {
				t.Fatal(difference)
			}
		}
	}
	publisher.Play([][]string{{"PUBLISH", "end", "the end"}, {"SPUBLISH", "end", "the end"}})
	for i, l := range listeners {
		if want, got := heard(t, l.Oracle, "the end"), heard(t, l.Subject, "the end"); want != got {
			t.Errorf("listener %d hears %d bytes from redis-server and %d from bowline", i, len(want), len(got))
		}
	}
}

// TestOverwritingAKeyWhoseTimeIsOverIsTold: first it expires.
func TestOverwritingAKeyWhoseTimeIsOverIsTold(t *testing.T) {
	p := pair(t, 2, "enable-debug-command", "yes", "notify-keyspace-events", "KEAnm")
	want := listen(t, p.Oracle.Another(), 2, "PSUBSCRIBE", "*")
	got := listen(t, p.Subject.Another(), 2, "PSUBSCRIBE", "*")
	if difference := p.Play([][]string{{"DEBUG", "SET-ACTIVE-EXPIRE", "0"}, {"SADD", "set", "a"}, {"ZADD", "zset", "1", "a"}, {"SET", "string", "a"}}); difference != "" {
		t.Fatal(difference)
	}
	dump := fmt.Sprint(p.Oracle.Do("DUMP", "string"))
	for _, args := range [][]string{
		{"SET", "k", "v"}, {"MSET", "k", "v"}, {"GETSET", "k", "v"}, {"SETRANGE", "k", "1", "x"}, {"BITOP", "NOT", "k", "string"}, {"SADD", "k", "a"},
		{"SINTERSTORE", "k", "set"}, {"SUNIONSTORE", "k", "set", "none"}, {"SDIFFSTORE", "k", "set", "none"}, {"SDIFFSTORE", "k", "none"},
		{"ZUNIONSTORE", "k", "1", "zset"}, {"ZRANGESTORE", "k", "zset", "0", "-1"}, {"SORT", "set", "BY", "nosort", "STORE", "k"}, {"COPY", "set", "k", "REPLACE"},
		{"HSET", "k", "f", "v"}, {"RPUSH", "k", "a"}, {"SMOVE", "set", "k", "a"}, {"SMOVE", "none", "k", "a"}, {"RENAME", "string", "k"},
		// What is empty deletes it.
		{"SINTERSTORE", "k", "none"}, {"SUNIONSTORE", "k", "none"}, {"ZINTERSTORE", "k", "1", "none"}, {"ZUNIONSTORE", "k", "1", "none"}, {"ZDIFFSTORE", "k", "1", "none"},
		{"ZRANGESTORE", "k", "none", "0", "-1"}, {"SORT", "none", "STORE", "k"}, {"BITOP", "AND", "k", "none"},
		{"RESTORE", "k", "0", "no dump", "REPLACE"}, {"RESTORE", "k", "0", "no dump"},
		{"RESTORE", "k", "1", dump, "REPLACE", "ABSTTL"}, {"RESTORE", "k", "0", dump, "REPLACE"}, {"RESTORE", "k", "0", dump},
	} {
		program := [][]string{{"DEL", "k"}, {"SET", "k", "old", "PXAT", "1"}, args, {"PUBLISH", "end", args[0]}}
		if difference := p.Play(program); difference != "" {
			t.Error(difference)
		}
		if a, b := heard(t, want, args[0]), heard(t, got, args[0]); a != b {
			t.Errorf("%q: redis-server says\n%s\nbowline says\n%s", args, a, b)
		}
	}
}
