package player

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// stage is one server with connections that wait and one that works.
type stage struct {
	t       *testing.T
	waiting []*redistest.Conn
	ids     []string
	works   *redistest.Conn
	looks   *redistest.Conn // works may be in a transaction
}

func newStage(t *testing.T, dial func() *redistest.Conn, proto, waiting int) *stage {
	s := &stage{t: t}
	for range waiting {
		c := dial()
		c.Do("HELLO", strconv.Itoa(proto))
		s.waiting = append(s.waiting, c)
		s.ids = append(s.ids, fmt.Sprint(c.Do("CLIENT", "ID")))
	}
	s.works, s.looks = dial(), dial()
	s.works.Do("HELLO", strconv.Itoa(proto))
	return s
}

// block sends a command on a connection and waits until it was executed, whether
// or not it waits then.
func (s *stage) block(i int, args []string) {
	s.waiting[i].Send(args...)
	mark := "cmd=" + args[0] + " "
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		if strings.Contains(fmt.Sprint(s.looks.Do("CLIENT", "LIST", "ID", s.ids[i])), mark) {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%q is never executed", args)
		}
	}
}

// play runs a program and returns all replies: those of the working connection,
// and at the end those of the ones that waited, who are no longer let wait.
func (s *stage) play(program []Turn) (replies [][]byte) {
	for _, c := range append(s.waiting[:len(s.waiting):len(s.waiting)], s.works) {
		c.Do("PING")
	}
	s.works.Do("FLUSHALL")
	used := map[int]bool{}
	for _, turn := range program {
		if turn.Connection == 0 {
			replies = append(replies, bytes.Clone(s.works.Raw(turn.Args...)))
		} else if i := turn.Connection - 1; !used[i] {
			used[i] = true
			s.block(i, turn.Args)
		}
	}
	for i := range s.waiting {
		if used[i] {
			s.looks.Do("CLIENT", "UNBLOCK", s.ids[i])
			replies = append(replies, bytes.Clone(s.waiting[i].ReceiveRaw()))
		}
	}
	for _, db := range []string{"1", "0"} {
		s.works.Do("SELECT", db)
		for _, key := range waitedKeys {
			replies = append(replies, bytes.Clone(s.works.Raw("TYPE", key)), bytes.Clone(s.works.Raw("LRANGE", key, "0", "-1")),
				bytes.Clone(s.works.Raw("ZRANGE", key, "0", "-1", "WITHSCORES")))
		}
	}
	return replies
}

var waitedKeys = []string{"p", "q", "r"}

// waitingCommands are those that take part in [TestWaitingClientsAreServedAsByRedis],
// with KEY, VALUE, SIDE and END to be chosen.
var waitingCommands = map[bool][]string{
	true: {
		"blpop KEY 0", "blpop KEY KEY 0", "brpop KEY KEY 0", "blmove KEY KEY SIDE SIDE 0", "brpoplpush KEY KEY 0",
		"blmpop 0 2 KEY KEY SIDE COUNT 2", "blmpop 0 1 KEY SIDE",
		"bzpopmin KEY 0", "bzpopmin KEY KEY 0", "bzpopmax KEY KEY 0", "bzmpop 0 2 KEY KEY END COUNT 2", "bzmpop 0 1 KEY END",
	},
	false: {
		"RPUSH KEY VALUE", "LPUSH KEY VALUE VALUE", "RPUSH KEY VALUE VALUE VALUE", "LPOP KEY", "SET KEY VALUE", "DEL KEY", "RENAME KEY KEY",
		"COPY KEY KEY", "LMOVE KEY KEY SIDE SIDE", "MULTI", "EXEC", "SWAPDB 0 1", "MOVE KEY 1", "LTRIM KEY 1 -1",
		"ZADD KEY 1 VALUE", "ZADD KEY 2 VALUE 3 VALUE 1 VALUE", "ZINCRBY KEY 1 VALUE", "ZPOPMIN KEY", "ZMPOP 2 KEY KEY END", "ZREM KEY VALUE",
		"ZREMRANGEBYRANK KEY 1 -1",
	},
}

// takesPart says whether a command fits a program. Where a client waits for
// several keys and more than one of them becomes ready at once, Redis goes by the
// order of the command's keys since 7.2, and by chance before: so in programs
// with such clients nothing makes several keys ready.
func takesPart(command string, severalKeys bool) bool {
	waitsForSeveral := strings.Contains(command, "KEY KEY") && !strings.HasPrefix(command, "blmove") && !strings.HasPrefix(command, "brpoplpush")
	switch name, _, _ := strings.Cut(command, " "); name {
	case "MULTI", "EXEC", "SWAPDB", "blmove", "brpoplpush":
		return !severalKeys
	case "blpop", "brpop", "blmpop", "bzpopmin", "bzpopmax", "bzmpop":
		return severalKeys || !waitsForSeveral
	}
	return true
}

func drawWaitingCommand(t *rapid.T, waits, severalKeys bool) []string {
	var commands []string
	for _, c := range waitingCommands[waits] {
		if takesPart(c, severalKeys) {
			commands = append(commands, c)
		}
	}
	words := strings.Fields(rapid.SampledFrom(commands).Draw(t, "command"))
	for i, w := range words {
		switch w {
		case "KEY":
			words[i] = rapid.SampledFrom(waitedKeys).Draw(t, "key")
		case "SIDE":
			words[i] = rapid.SampledFrom([]string{"LEFT", "RIGHT"}).Draw(t, "side")
		case "END":
			words[i] = rapid.SampledFrom([]string{"MIN", "MAX"}).Draw(t, "end")
		case "VALUE":
			words[i] = rapid.SampledFrom([]string{"1", "2", "x", "y", "z"}).Draw(t, "value")
		}
	}
	return words
}

// TestWaitingClientsAreServedAsByRedis lets four clients wait for lists and
// sorted sets while a fifth changes them in all ways, and compares who gets what.
func TestWaitingClientsAreServedAsByRedis(t *testing.T) {
	const waiting = 4
	turn := func(severalKeys bool) *rapid.Generator[Turn] {
		return rapid.Custom(func(t *rapid.T) Turn {
			who := rapid.IntRange(-4, waiting).Draw(t, "connection")
			return Turn{Connection: max(0, who), Args: drawWaitingCommand(t, who > 0, severalKeys)}
		})
	}
	setChecks(t, *steps/200)
	forBothProtocols(t, func(t *testing.T, proto int) {
		oracle := redistest.Start(t)
		subject := startBowline(t, "network", driverFor[proto])
		want := newStage(t, func() *redistest.Conn { return oracle.Dial(t) }, proto, waiting)
		got := newStage(t, func() *redistest.Conn { return redistest.Dial(t, "tcp", subject) }, proto, waiting)
		rapid.Check(t, func(t *rapid.T) {
			program := rapid.SliceOfN(turn(rapid.Bool().Draw(t, "several keys")), 1, 20).Draw(t, "program")
			program = append(program, Turn{Args: []string{"DISCARD"}})
			a, b := want.play(program), got.play(program)
			for i := range a {
				if !bytes.Equal(a[i], b[i]) {
					t.Fatalf("reply %d:\n  redis-server: %q\n  bowline:      %q\nof %v", i+1, a[i], b[i], program)
				}
			}
		})
	})
}
