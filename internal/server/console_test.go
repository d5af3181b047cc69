package server_test

import (
	"strings"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/server"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

// tester is a testing.T or a rapid.T.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// console is a client of a server without a socket, whose clock the test sets.
type console struct {
	t      tester
	millis int64 // unix time
	srv    *server.Server
	space  *shard.Space
	batch  *session.Batch
	s      *session.Session
}

func newConsole(t tester) *console {
	c := &console{t: t, millis: 1_800_000_000_000}
	c.space = shard.NewSpace(shard.Options{Databases: 2, LogBytes: 8 << 20})
	c.srv = server.New(server.Options{Config: config.New(), Space: c.space, Now: c.now})
	c.s, _ = c.srv.Registry().Add("", "", c.now(), 10, session.Links{Kill: func() {}, Wake: func() {}})
	c.batch = session.NewBatch(c.srv.NewExecutor())
	return c
}

func (c *console) now() session.Instant { return session.Instant{Wall: c.millis * 1000, Mono: 1} }

// run executes a command and gives its reply, the lines separated by spaces.
func (c *console) run(args ...string) string {
	c.s.W.B = c.s.W.B[:0]
	c.batch.Feed(c.s, c.now(), resp.AppendCommandStrings(nil, args...))
	return strings.TrimSuffix(strings.ReplaceAll(string(c.s.W.B), "\r\n", " "), " ")
}

// script runs lines of "command => reply". "after <milliseconds>" advances the
// clock, and "expire" does the background work.
func (c *console) script(text string) {
	c.t.Helper()
	for line := range strings.Lines(text) {
		command, want, replies := strings.Cut(strings.TrimSpace(line), " => ")
		args := strings.Fields(command)
		switch {
		case len(args) == 0 || args[0] == "#":
		case args[0] == "after":
			millis, _ := resp.ParseInt([]byte(args[1]))
			c.millis += millis
		case args[0] == "expire":
			for tx := c.space.NewTx(); tx.ExpireStep(c.millis, 100); {
			}
		default:
			if got := c.run(args...); replies && got != want {
				c.t.Errorf("%s\n  got  %s\n  want %s", command, got, want)
			}
		}
	}
}

// effects lists what the log has, one line an effect.
func (c *console) effects() (lines []string) {
	records, _ := c.space.Shards()[0].ReadLog(1, 1<<20)
	for _, payload := range records {
		err := shard.DecodeEffects(payload, func(_ int, args [][]byte) error {
			words := make([]string, len(args))
			for i, a := range args {
				words[i] = string(a)
			}
			lines = append(lines, strings.Join(words, " "))
			return nil
		})
		if err != nil {
			c.t.Fatal(err)
		}
	}
	return lines
}
