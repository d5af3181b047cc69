package session

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/acl"
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

// testHost is a process with one shard, whose log is durable up to a number.
type testHost struct {
	password string
	account  *Account
	durable  shard.Sequence
}

func (h *testHost) Identity() Identity {
	return Identity{Server: "redis", Version: "7.4.0", Mode: "standalone", Role: "master", Databases: 16}
}
func (h *testHost) Account(name string) *Account {
	if h.account == nil {
		h.account = NewAccount(acl.NewDefault(h.password))
	}
	if name == acl.DefaultName {
		return h.account
	}
	return nil
}
func (h *testHost) Authenticate(_ *Session, _ Instant, _ []byte, user string, password []byte) *Account {
	if a := h.Account(user); a != nil && a.Rights().Accepts(password) {
		return a
	}
	return nil
}
func (h *testHost) BulkMax() int                  { return 1 << 20 }
func (h *testHost) Durable(p shard.Position) bool { return p.Seq <= h.durable }

// runner answers the commands of this package, and echoes all others.
type runner struct{ batches []int }

func (r *runner) Execute(s *Session, b *Batch) int {
	r.batches = append(r.batches, len(b.Commands))
	for i, c := range b.Commands {
		spec := command.Find(c.Args)
		if string(c.Args[0]) == "BIG" {
			s.W.BulkString(bigReply)
		} else if spec != nil && Handlers[spec.Name] != nil {
			s.SetCommand(spec)
			Handlers[spec.Name](s, b.Now, c.Args)
		} else {
			s.W.Bulk(bytes.Join(c.Args, []byte(" ")))
		}
		if s.Closing || len(s.W.B) >= OutputHigh {
			return i + 1
		}
	}
	return len(b.Commands)
}

// bigReply ends a batch early.
var bigReply = strings.Repeat("x", OutputHigh)

func newSession(t testing.TB, h *testHost) (*Session, *Batch, *runner) {
	t.Helper()
	s, ok := NewRegistry(h).Add("1.2.3.4:5", "6.7.8.9:10", Instant{Wall: 5e6, Mono: 1e9}, 10, Links{Kill: func() {}, Wake: func() {}})
	if !ok {
		t.Fatal("the registry is full")
	}
	r := &runner{}
	return s, NewBatch(r), r
}

// feedAll feeds in pieces, as a driver does, and returns all replies.
func feedAll(s *Session, b *Batch, pieces ...[]byte) []byte {
	var in []byte
	for _, p := range pieces {
		in = append(in, p...)
		for more := true; more; {
			var n int
			n, more = b.Feed(s, Instant{Mono: 2e9}, in)
			in = append([]byte(nil), in[n:]...)
		}
		if s.Closing {
			break
		}
	}
	return s.W.B
}

func TestPipelineRunsInBatches(t *testing.T) {
	s, b, r := newSession(t, &testHost{})
	var wire []byte
	for range 100 {
		wire = resp.AppendCommandStrings(wire, "PING")
	}
	if got := feedAll(s, b, wire); string(got) != strings.Repeat("+PONG\r\n", 100) {
		t.Errorf("replies %q", got)
	}
	if got := fmt.Sprint(r.batches); got != "[32 32 32 4]" {
		t.Errorf("batches of %s", got)
	}
}

func TestHowBytesArriveDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var wire []byte
		for range rapid.IntRange(1, 60).Draw(t, "commands") {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				wire = append(wire, "echo \"a\\x41b\" 'c d'\r\n"...)
			case 1:
				wire = append(wire, "ping\n"...)
			case 2:
				wire = append(wire, "*0\r\n\r\n"...)
			case 3:
				if rapid.IntRange(0, 9).Draw(t, "big") == 0 {
					wire = resp.AppendCommandStrings(wire, "BIG")
				}
			default:
				wire = resp.AppendCommandStrings(wire, "SET", rapid.StringN(0, 5, 20).Draw(t, "key"), "value")
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "end") == 0 {
			wire = append(wire, "*1\r\n!bad\r\n"...)
		}
		whole, b, _ := newSessionForRapid()
		want := bytes.Clone(feedAll(whole, b, bytes.Clone(wire)))
		cut, b, _ := newSessionForRapid()
		var pieces [][]byte
		for rest := wire; len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 3000)).Draw(t, "piece")
			pieces = append(pieces, bytes.Clone(rest[:n]))
			rest = rest[n:]
		}
		if got := feedAll(cut, b, pieces...); !bytes.Equal(want, got) {
			t.Fatalf("in one piece %.300q, in pieces %.300q", want, got)
		}
	})
}

func newSessionForRapid() (*Session, *Batch, *runner) {
	s, _ := NewRegistry(&testHost{}).Add("", "", Instant{}, 10, Links{})
	r := &runner{}
	return s, NewBatch(r), r
}

func TestLimitsBeforeAuthentication(t *testing.T) {
	big := strings.Repeat("x", 20<<10)
	cases := []struct {
		name string
		wire []byte
		want string
	}{
		{"large argument", resp.AppendCommandStrings(nil, "SET", "a", big), "-ERR Protocol error: unauthenticated bulk length\r\n"},
		{"many arguments", resp.AppendCommandStrings(nil, strings.Fields("a b c d e f g h i j k")...), "-ERR Protocol error: unauthenticated multibulk length\r\n"},
		{"after AUTH in the same pipeline", append(resp.AppendCommandStrings(nil, "AUTH", "secret"), resp.AppendCommandStrings(nil, "X", big)...),
			"+OK\r\n$20482\r\nX " + big + "\r\n"},
	}
	for _, c := range cases {
		s, b, _ := newSession(t, &testHost{password: "secret"})
		if got := feedAll(s, b, c.wire); string(got) != c.want {
			t.Errorf("%s: %.200q, want %.200q", c.name, got, c.want)
		}
	}
}

func TestProtocolErrorComesAfterTheRepliesBefore(t *testing.T) {
	s, b, _ := newSession(t, &testHost{})
	got := feedAll(s, b, []byte("PING\r\n*1\r\n$x\r\n PING\r\n"))
	if want := "+PONG\r\n-ERR Protocol error: invalid bulk length\r\n"; string(got) != want || !s.Closing {
		t.Errorf("%q (closing %v), want %q", got, s.Closing, want)
	}
}

func TestNothingRunsAfterQuit(t *testing.T) {
	s, b, _ := newSession(t, &testHost{})
	if got := feedAll(s, b, []byte("*1\r\n$4\r\nQUIT\r\n*1\r\n$4\r\nPING\r\n")); string(got) != "+OK\r\n" || !s.Closing {
		t.Errorf("%q, closing %v", got, s.Closing)
	}
}

func TestRegistryRefusesAboveTheLimit(t *testing.T) {
	r := NewRegistry(&testHost{})
	add := func() (*Session, bool) { return r.Add("", "", Instant{}, 2, Links{}) }
	first, _ := add()
	add()
	if _, ok := add(); ok {
		t.Fatal("a third session was accepted")
	}
	r.Remove(first)
	third, ok := add()
	if !ok || third.ID <= first.ID || r.Len() != 2 || r.Total() != 3 {
		t.Errorf("ok %v, id %d after %d, %d of %d sessions", ok, third.ID, first.ID, r.Len(), r.Total())
	}
	if r.Find(first.ID) != nil || r.Find(third.ID) != third {
		t.Error("sessions are not found by their ids")
	}
}

func TestClientListDescribesEveryConnection(t *testing.T) {
	s, b, _ := newSession(t, &testHost{})
	feedAll(s, b, []byte("CLIENT SETNAME me\r\nCLIENT SETINFO LIB-NAME lib\r\nCLIENT SETINFO lib-ver 1.2\r\nSELECT 3\r\n"))
	s.Sent(len(s.W.B))
	line := string(feedAll(s, b, []byte("CLIENT INFO\r\n")))
	for _, field := range []string{"id=1 ", "addr=1.2.3.4:5 ", "laddr=6.7.8.9:10 ", " name=me ", " age=1 ", " idle=0 ", " db=3 ",
		" cmd=client", " user=default ", " resp=2 ", " lib-name=lib ", " lib-ver=1.2\n"} {
		if !strings.Contains(line, field) {
			t.Errorf("no %q in %q", field, line)
		}
	}
	s.Sent(len(s.W.B))
	got := string(feedAll(s, b, []byte("CLIENT SETINFO lib-name \"a b\"\r\nCLIENT SETINFO nosuch x\r\n")))
	want := "-ERR lib-name cannot contain spaces, newlines or special characters.\r\n-ERR Unrecognized option 'nosuch'\r\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestHeldRepliesKeepTheirOrder(t *testing.T) {
	h := &testHost{}
	s, _, _ := newSession(t, h)
	reply := func(text string, seq shard.Sequence) {
		at := len(s.W.B)
		s.W.Simple(text)
		if seq > 0 {
			s.Hold(at, shard.Position{Seq: seq}, 0)
		}
	}
	reply("a", 0)
	reply("b", 2)
	reply("c", 0)
	reply("d", 5)
	reply("e", 0)
	sent := ""
	release := func() {
		n := s.Releasable(0)
		sent += string(s.W.B[:n])
		s.Sent(n)
	}
	for _, step := range []struct {
		durable shard.Sequence
		want    string
		held    bool
	}{{0, "+a\r\n", true}, {1, "+a\r\n", true}, {2, "+a\r\n+b\r\n+c\r\n", true}, {4, "+a\r\n+b\r\n+c\r\n", true},
		{5, "+a\r\n+b\r\n+c\r\n+d\r\n+e\r\n", false}} {
		h.durable = step.durable
		release()
		if held, _ := s.Held(); sent != step.want || held != step.held {
			t.Errorf("durable %d: sent %q and held %v, want %q and %v", step.durable, sent, held, step.want, step.held)
		}
	}
}

// TestHeldPipelineExpiresOnce: replies whose time is over become errors in
// their places; what is behind them is not touched.
func TestHeldPipelineExpiresOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &testHost{}
		s, _ := NewRegistry(h).Add("", "", Instant{}, 10, Links{})
		type item struct {
			text     string
			seq      shard.Sequence
			deadline int64
		}
		var items []item
		seq := shard.Sequence(0)
		for i := range rapid.IntRange(1, 20).Draw(t, "replies") {
			it := item{text: strings.Repeat(string(rune('a'+i)), rapid.IntRange(0, 200).Draw(t, "length"))}
			if rapid.Bool().Draw(t, "held") {
				seq += shard.Sequence(rapid.IntRange(0, 2).Draw(t, "step"))
				it.seq = seq
				it.deadline = rapid.Int64Range(0, 10).Draw(t, "deadline")
			}
			items = append(items, it)
			at := len(s.W.B)
			s.W.BulkString(it.text)
			if it.seq > 0 {
				s.Hold(at, shard.Position{Seq: it.seq}, it.deadline)
			}
		}
		// Neighbours without a deadline wait together, for the last of them.
		for i := len(items) - 2; i >= 0; i-- {
			if a, b := &items[i], items[i+1]; a.seq > 0 && b.seq > 0 && a.deadline == 0 && b.deadline == 0 {
				a.seq = b.seq
			}
		}
		var sent, want []byte
		pending := items
		for now := int64(1); now <= 10; now++ {
			h.durable += shard.Sequence(rapid.IntRange(0, 3).Draw(t, "progress"))
			for len(pending) > 0 {
				it := pending[0]
				if it.seq > h.durable && !(it.deadline != 0 && now >= it.deadline) {
					break
				}
				var w resp.Writer
				if it.seq > h.durable {
					w.Error(reply.NoReplicas)
				} else {
					w.BulkString(it.text)
				}
				want = append(want, w.B...)
				pending = pending[1:]
			}
			n := s.Releasable(now)
			sent = append(sent, s.W.B[:n]...)
			s.Sent(n)
			if !bytes.Equal(sent, want) {
				t.Fatalf("at %d with durable %d: sent %q, want %q", now, h.durable, sent, want)
			}
		}
	})
}

func FuzzFeed(f *testing.F) {
	f.Add([]byte("*2\r\n$4\r\nECHO\r\n$1\r\na\r\nPING \"x\"\r\n"), uint16(7))
	f.Add([]byte("HELLO 3\r\nRESET\r\n*-1\r\n*1\r\n$-1\r\n"), uint16(3))
	f.Fuzz(func(t *testing.T, wire []byte, step uint16) {
		whole, b, _ := newSessionForRapid()
		want := bytes.Clone(feedAll(whole, b, bytes.Clone(wire)))
		cut, b, _ := newSessionForRapid()
		size := int(step%64) + 1
		var pieces [][]byte
		for rest := wire; len(rest) > 0; {
			n := min(size, len(rest))
			pieces = append(pieces, bytes.Clone(rest[:n]))
			rest = rest[n:]
		}
		if got := feedAll(cut, b, pieces...); !bytes.Equal(want, got) {
			t.Fatalf("in one piece %.300q, in pieces of %d %.300q", want, size, got)
		}
	})
}

// GiveUp implements Executor.
func (r *runner) GiveUp(s *Session) bool {
	s.W.NullArray()
	return true
}

// TestLaterRepliesDoNotProlongAWait: what a look has passed over waits for its own
// position only, or a client that goes on writing would never hear anything.
func TestLaterRepliesDoNotProlongAWait(t *testing.T) {
	h := &testHost{}
	s, _ := NewRegistry(h).Add("", "", Instant{}, 10, Links{})
	write := func(seq shard.Sequence) {
		at := len(s.W.B)
		s.W.OK()
		s.Hold(at, shard.Position{Seq: seq}, 0)
	}
	write(1)
	write(2)
	if n := s.Releasable(1); n != 0 {
		t.Fatalf("%d bytes may leave before anything is durable", n)
	}
	write(3)
	if h.durable = 1; s.Releasable(1) != 0 {
		t.Error("a pipeline leaves in parts")
	}
	if h.durable = 2; s.Releasable(1) != len("+OK\r\n+OK\r\n") {
		t.Error("what was looked at still waits for what came later")
	}
	if h.durable = 3; s.Releasable(1) != len(s.W.B) || s.Kept() != len(s.W.B) {
		t.Error("the last one waits")
	}
}
