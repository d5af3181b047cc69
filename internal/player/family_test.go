package player

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// playedFamily is what is played of one type.
type playedFamily struct {
	group    string
	read     [][]string          // the commands that tell all of a key, without it
	settings map[string][]string // that decide about forms; redis-server has them too
	hidden   bool                // forms are not compared
	// ours are settings that redis-server does not have, with the value that makes the
	// names of forms the same.
	ours map[string]string
}

var families = []playedFamily{
	{
		group:    "hash",
		read:     [][]string{{"HGETALL"}, {"HLEN"}},
		settings: map[string][]string{"hash-max-listpack-entries": {"0", "2", "4", "512"}, "hash-max-listpack-value": {"0", "3", "64"}},
	},
	{
		group:    "set",
		read:     [][]string{{"SMEMBERS"}, {"SCARD"}},
		settings: map[string][]string{"set-max-intset-entries": {"0", "2", "4", "512"}},
		ours:     map[string]string{"set-max-listpack-entries": "0"},
	},
}

func TestFamiliesAnswerAsRedis(t *testing.T) {
	for _, f := range families {
		t.Run(f.group, func(t *testing.T) {
			forBothProtocols(t, func(t *testing.T, proto int) {
				p := pair(t, proto, "enable-debug-command", "yes")
				for name, value := range f.ours {
					p.Subject.Do("CONFIG", "SET", name, value)
				}
				p.playFamily(t, &f, NewFamily(DebianVersion, f.group))
			})
		})
	}
}

// playFamily plays random programs, and compares what is there at their end.
func (p Pair) playFamily(t *testing.T, f *playedFamily, g *Generator) {
	t.Helper()
	const programLength = 100
	setChecks(t, max(1, *steps/programLength))
	state := f.state()
	programs := Settings(g.Programs(programLength), f.settings)
	played := 0
	rapid.Check(t, func(t *rapid.T) {
		program := programs.Draw(t, "program")
		played += len(program)
		if difference := p.Play(append(program, state...)); difference != "" {
			t.Fatal(difference)
		}
		want, got := lookups(p.Oracle), lookups(p.Subject)
		if want != got && !slices.ContainsFunc(program, p.refusedFirst) {
			t.Fatalf("redis-server counts %s, bowline %s", want, got)
		}
	})
	t.Logf("%d steps", played)
}

// state is how all is read that a program has left, and given up.
func (f *playedFamily) state() [][]string {
	state := [][]string{{"SELECT", "0"}}
	for _, key := range someKeys {
		state = append(state, []string{"TYPE", key}, []string{"PEXPIRETIME", key})
		if !f.hidden {
			state = append(state, []string{"OBJECT", "ENCODING", key})
		}
		for _, args := range f.read {
			state = append(state, slices.Insert(slices.Clone(args), 1, key))
		}
	}
	for _, key := range someNoise {
		state = append(state, []string{"TYPE", key})
	}
	for name, values := range f.settings {
		state = append(state, []string{"CONFIG", "SET", name, values[len(values)-1]}) // as it was
	}
	// Of everything, now that keys whose time is over were looked at.
	return append(state, []string{"DEBUG", "DIGEST"}, []string{"FLUSHALL"})
}

// refusedFirst says whether wrong arguments of a command may be refused before it
// looks for its key, where redis-server does that later.
func (p Pair) refusedFirst(args []string) bool {
	return p.rule(args[0]) == StricterError || p.rule(args[0]) == ErrorsOnly
}

// lookups tells how many reads found their key, and how many did not.
func lookups(c *redistest.Conn) string {
	text, _ := c.Do("INFO", "stats").(string)
	var counts []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "keyspace_") {
			counts = append(counts, strings.TrimSpace(line))
		}
	}
	c.Do("CONFIG", "RESETSTAT")
	return strings.Join(counts, ", ")
}

// TestFamiliesNotifyAsRedis plays their programs while another connection listens to
// all keyspace notifications.
func TestFamiliesNotifyAsRedis(t *testing.T) {
	for _, f := range families {
		t.Run(f.group, func(t *testing.T) { notifyAsRedis(t, NewFamily(DebianVersion, f.group), pair) })
	}
}
