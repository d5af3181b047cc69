package player

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/node"
	"github.com/bowline-kv/bowline/internal/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// steps is the length of the random play, for each protocol.
var steps = flag.Int("steps", 20000, "random steps per protocol")

// startBowline serves on loopback until the test ends.
func startBowline(t testing.TB, settings ...string) string {
	t.Helper()
	cfg := config.New()
	for i := 0; i < len(settings); i += 2 {
		if err := cfg.Load(settings[i], []string{settings[i+1]}, "test"); err != nil {
			t.Fatal(err)
		}
	}
	listeners, err := node.ListenLoopback(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	n, err := node.Start(node.Options{Config: cfg, Version: "test", Log: slog.New(slog.DiscardHandler), Listeners: []net.Listener{listeners[0]}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return n.Addrs()[0].String()
}

// driverFor makes each protocol version run on another driver, so that both
// drivers play everything.
var driverFor = map[int]string{2: "epoll", 3: "portable"}

// pair starts both servers and connects to them in a protocol version.
func pair(t *testing.T, proto int, settings ...string) Pair {
	t.Helper()
	return pairWith(t, redistest.Start, proto, settings...)
}

// pairWith is pair with another server than Debian's.
func pairWith(t *testing.T, start func(testing.TB, ...string) *redistest.Server, proto int, settings ...string) Pair {
	t.Helper()
	var flags []string
	for i := 0; i < len(settings); i += 2 {
		flags = append(flags, "--"+settings[i], settings[i+1])
	}
	p := Pair{
		Oracle:  start(t, flags...).Dial(t),
		Subject: redistest.Dial(t, "tcp", startBowline(t, append(settings[:len(settings):len(settings)], "network", driverFor[proto])...)),
	}
	for _, c := range []*redistest.Conn{p.Oracle, p.Subject} {
		// Where a password is set the script itself logs in, and chooses the protocol.
		if e, bad := c.Do("HELLO", strconv.Itoa(proto)).(redistest.Error); bad && !strings.HasPrefix(string(e), "NOAUTH") {
			t.Fatal(e)
		}
	}
	return p
}

func forBothProtocols(t *testing.T, run func(t *testing.T, proto int)) {
	for _, proto := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", proto), func(t *testing.T) { run(t, proto) })
	}
}

func TestRandomProgramsAnswerAsRedis(t *testing.T) {
	g := NewGenerator(DebianVersion)
	if len(g.Names()) < 35 {
		t.Fatalf("only %d commands take part: %q", len(g.Names()), g.Names())
	}
	forBothProtocols(t, func(t *testing.T, proto int) { pair(t, proto).playAll(t, g) })
}

// playAll plays random programs, and compares what is there at their end.
func (p Pair) playAll(t *testing.T, g *Generator) {
	t.Helper()
	const programLength = 100
	// Programs have half the length on average.
	setChecks(t, 2**steps/programLength)
	// The state at the end is compared too.
	var state [][]string
	for _, key := range someKeys {
		state = append(state, []string{"TYPE", key}, []string{"GET", key}, []string{"LRANGE", key, "0", "-1"}, []string{"PEXPIRETIME", key})
	}
	state = append(state, []string{"DBSIZE"}, []string{"KEYS", "*"})
	for _, db := range []string{"1", "2", "3"} {
		state = append(state, []string{"SELECT", db}, []string{"KEYS", "*"})
		for _, key := range someKeys {
			state = append(state, []string{"GET", key}, []string{"PEXPIRETIME", key})
		}
	}
	state = append(state, []string{"SELECT", "0"}, []string{"FLUSHALL"})
	programs := g.Programs(programLength)
	rapid.Check(t, func(t *rapid.T) {
		program := programs.Draw(t, "program")
		if difference := p.Play(append(program, state...)); difference != "" {
			t.Fatal(difference)
		}
	})
}

func setChecks(t *testing.T, n int) {
	t.Helper()
	for name, value := range map[string]string{
		"rapid.checks": strconv.Itoa(max(1, n)), "rapid.nofailfile": "true", "rapid.shrinktime": "10s",
	} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTransactionsOfSeveralConnectionsAnswerAsRedis mixes the commands of three
// connections that watch each other's keys.
func TestTransactionsOfSeveralConnectionsAnswerAsRedis(t *testing.T) {
	const length = 60
	setChecks(t, *steps/length)
	turns := NewGenerator(DebianVersion).Session(length)
	forBothProtocols(t, func(t *testing.T, proto int) {
		oracle := redistest.Start(t)
		subject := startBowline(t)
		var pairs []Pair
		for range 3 {
			p := Pair{Oracle: oracle.Dial(t), Subject: redistest.Dial(t, "tcp", subject)}
			for _, c := range []*redistest.Conn{p.Oracle, p.Subject} {
				c.Do("HELLO", strconv.Itoa(proto))
			}
			pairs = append(pairs, p)
		}
		rapid.Check(t, func(t *rapid.T) {
			program := turns.Draw(t, "program")
			for _, key := range someKeys {
				program = append(program, Turn{0, []string{"GET", key}}, Turn{0, []string{"PEXPIRETIME", key}})
			}
			for _, p := range pairs { // nothing is left from the program before
				for _, c := range []*redistest.Conn{p.Oracle, p.Subject} {
					c.Do("MULTI")
					c.Do("DISCARD")
					c.Do("FLUSHALL")
				}
			}
			if difference := PlayTurns(pairs, program); difference != "" {
				t.Fatal(difference)
			}
		})
	})
}

// TestScriptsAnswerAsRedis plays the files of testdata: a command a line, in
// the quoting of redis-cli; "#settings name value ..." at the head starts the
// servers with these; "#code" before a command compares only the error's code, "#unordered"
// the lines of the reply in any order, and "#seconds" a time that goes on.
func TestScriptsAnswerAsRedis(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts found: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			s := readScript(t, file)
			forBothProtocols(t, func(t *testing.T, proto int) {
				pair(t, proto, s.settings...).playScript(t, s)
			})
		})
	}
}

// playScript plays the steps of a script one by one.
func (p Pair) playScript(t *testing.T, s script) {
	t.Helper()
	for _, step := range s.steps {
		rule := step.rule
		if rule == Exact {
			rule = p.rule(step.args[0])
		}
		want, got := p.Oracle.Raw(step.args...), p.Subject.Raw(step.args...)
		if !rule.Same(want, got) {
			t.Errorf("line %d: %s\n  redis-server: %s\n  bowline:      %s", step.line, Quote(step.args), shown(want), shown(got))
		}
	}
}

type script struct {
	settings []string
	steps    []step
}

type step struct {
	line int
	args []string
	rule Comparison
}

func readScript(t *testing.T, file string) (s script) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rule := Exact
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(text, "#settings "):
			s.settings = strings.Fields(text)[1:]
		case text == "#code":
			rule = CodeOnly
		case text == "#unordered":
			rule = Unordered
		case text == "#seconds":
			rule = NearSeconds
		case text == "" || text[0] == '#':
		default:
			s.steps = append(s.steps, step{n, splitWords(t, text), rule})
			rule = Exact
		}
	}
	return s
}

// splitWords reads words, and "..." with Go's escapes.
func splitWords(t *testing.T, text string) (words []string) {
	t.Helper()
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		if text[0] != '"' {
			word, rest, _ := strings.Cut(text, " ")
			words, text = append(words, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		word, _ := strconv.Unquote(quoted)
		words, text = append(words, word), text[len(quoted):]
	}
	return words
}

// TestScanFindsWhatKeysFinds walks both servers with the same options.
func TestScanFindsWhatKeysFinds(t *testing.T) {
	p := pair(t, 2)
	for i := range 2000 {
		args := []string{"SET", fmt.Sprintf("key:%d", i), "v"}
		if i%3 == 0 {
			args[1] = fmt.Sprintf("{same}:%d", i)
		}
		p.Oracle.Do(args...)
		p.Subject.Do(args...)
	}
	for _, options := range [][]string{
		nil, {"COUNT", "1"}, {"COUNT", "7"}, {"COUNT", "100000"}, {"MATCH", "*9"}, {"MATCH", "{same}:*", "COUNT", "50"},
		{"TYPE", "string"}, {"TYPE", "list"}, {"TYPE", "nonsense"}, {"TYPE", "STRING", "MATCH", "key:1?"},
	} {
		want, got := walk(t, p.Oracle, options), walk(t, p.Subject, options)
		if !slices.Equal(want, got) {
			t.Errorf("SCAN %q: redis-server finds %d keys, bowline %d", options, len(want), len(got))
		}
	}
}

func walk(t *testing.T, c *redistest.Conn, options []string) []string {
	t.Helper()
	found := map[string]bool{}
	cursor := "0"
	for calls := 0; ; calls++ {
		if calls > 100000 {
			t.Fatal("the walk does not end")
		}
		reply, ok := c.Do(append([]string{"SCAN", cursor}, options...)...).([]any)
		if !ok {
			t.Fatalf("SCAN %s %q gives %v", cursor, options, reply)
		}
		for _, key := range reply[1].([]any) {
			found[key.(string)] = true
		}
		if cursor = reply[0].(string); cursor == "0" {
			break
		}
	}
	keys := make([]string, 0, len(found))
	for k := range found {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestLargeValuesArriveWhole reads and changes values that are too large to be
// copied under a lock.
func TestLargeValuesArriveWhole(t *testing.T) {
	for _, network := range []string{"portable", "epoll"} {
		t.Run(network, func(t *testing.T) {
			c := redistest.Dial(t, "tcp", startBowline(t, "network", network))
			sizes := []int{1 << 12, 1<<16 - 1, 1 << 16, 1<<16 + 1, 1 << 20, 9 << 20}
			values := map[string]string{}
			for i, n := range sizes {
				key := fmt.Sprintf("k%d", i)
				values[key] = strings.Repeat(string(rune('a'+i)), n)
				c.Do("SET", key, values[key])
			}
			program := [][]string{{"GET", "k4"}, {"SET", "k4", "short", "GET"}, {"GET", "k4"}, {"GETDEL", "k5"}, {"GET", "k5"},
				{"MGET", "k0", "k3", "k5", "k2", "k3"}, {"APPEND", "k2", "x"}, {"GETEX", "k2", "PERSIST"}, {"MULTI"}, {"GET", "k1"}, {"GET", "k2"}, {"DEL", "k2"}, {"EXEC"}, {"PING"}}
			want := []any{values["k4"], values["k4"], "short", values["k5"], nil,
				[]any{values["k0"], values["k3"], nil, values["k2"], values["k3"]}, int64(1<<16 + 1), values["k2"] + "x",
				redistest.Simple("OK"), redistest.Simple("QUEUED"), redistest.Simple("QUEUED"), redistest.Simple("QUEUED"),
				[]any{values["k1"], values["k2"] + "x", int64(1)}, redistest.Simple("PONG")}
			for _, args := range program {
				c.Send(args...)
			}
			for i, args := range program {
				if got := c.Receive(); fmt.Sprint(got) != fmt.Sprint(want[i]) {
					t.Errorf("%q: a reply of %d bytes, want %d", args, len(fmt.Sprint(got)), len(fmt.Sprint(want[i])))
				}
			}
		})
	}
}
