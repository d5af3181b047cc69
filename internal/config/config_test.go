package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestTableRowsAreWhole(t *testing.T) {
	spelling := regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
	environ := map[string]string{}
	for _, p := range All() {
		for _, name := range slices.Concat([]string{p.Name}, p.Aliases, p.Synonyms) {
			if !spelling.MatchString(name) || len(name) > 64 {
				t.Errorf("bad name %q", name)
			}
			key := environmentName(name)
			if other, taken := environ[key]; taken && byName[other] != p {
				t.Errorf("%s and %s have the same name %s in the environment", other, name, key)
			}
			environ[key] = name
		}
		if p.Doc == "" || !strings.HasSuffix(p.Doc, ".") || strings.Count(p.Doc, ". ") > 0 {
			t.Errorf("%s: the doc is not one sentence: %q", p.Name, p.Doc)
		}
		switch p.Kind {
		case Int, Octal, Memory, MemoryPercent, Integers:
			if p.Min >= p.Max {
				t.Errorf("%s has no limits", p.Name)
			}
		case Enum, EnumSet:
			if len(p.Words) < 2 {
				t.Errorf("%s has no words", p.Name)
			}
		}
	}
}

func TestDefaultsAreReadable(t *testing.T) {
	c := New()
	for _, row := range []struct{ got, want any }{
		{c.Int(MaxClients), int64(10000)},
		{c.Int(ProtoMaxBulkLen), int64(512 << 20)},
		{c.Bool(ProtectedMode), true},
		{c.Bool(ClusterEnabled), false},
		{c.String(Durability), "memory"},
		{c.Int(Durability), int64(0)},
		{c.String(ClientQueryBufferLimit), "1073741824"},
		{fmt.Sprint(c.Strings(Bind)), "[* -::*]"},
		{fmt.Sprint(c.Floats(LatencyPercentiles)), "[50 99 99.9]"},
		{fmt.Sprint(c.SavePoints(Save)), "[{3600 1} {300 100} {60 10000}]"},
		{c.BufferLimit(LimitReplica), BufferLimit{256 << 20, 64 << 20, 60}},
		{c.BufferLimit(LimitNormal), BufferLimit{}},
		{c.BufferLimit(limitClasses), BufferLimit{}},
		{c.String(Save), "3600 1 300 100 60 10000"},
		{c.Origin(MaxClients), "default"},
	} {
		if row.got != row.want {
			t.Errorf("got %v, want %v", row.got, row.want)
		}
	}
}

func TestNamesOfValkeyAreFoundButNotListed(t *testing.T) {
	c := New()
	if err := c.Set([][2]string{{"primaryauth", "s3"}, {"log-level", "debug"}}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(c.Get("primaryauth", "masterauth", "loglevel")); got != "[[primaryauth s3] [masterauth s3] [loglevel debug]]" {
		t.Error(got)
	}
	if got := c.Get("primary*", "log-*", "rdb-key*"); len(got) != 0 {
		t.Error(got)
	}
	if got := c.Get("rdb-key-save-delay"); len(got) != 1 {
		t.Error(got)
	}
}

func TestSetTakesTheOwnValueOfWhatNeedsARestart(t *testing.T) {
	c := New()
	for _, p := range All() {
		err := c.Set([][2]string{{p.Name, c.String(p)}})
		if refused := p.Effect == Immutable || p.Protected; refused != (err != nil) {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	err := c.Set([][2]string{{"maxclients", "5"}, {"port", "1"}})
	if want := "ERR CONFIG SET failed (possibly related to argument 'port') - can't set immutable config"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if c.Int(MaxClients) != 10000 {
		t.Error("half of the change happened")
	}
}

func TestProtectedParametersFollowTheirGuard(t *testing.T) {
	pair := [][2]string{{"dbfilename", "x.rdb"}}
	for _, row := range []struct {
		guard         string
		remote, local bool
	}{{"no", false, false}, {"local", false, true}, {"yes", true, true}} {
		c := New()
		if err := c.Load("enable-protected-configs", []string{row.guard}, "--flag"); err != nil {
			t.Fatal(err)
		}
		if err := c.Set(pair); (err == nil) != row.remote {
			t.Errorf("%s: Set: %v", row.guard, err)
		}
		if err := c.SetLocal(pair); (err == nil) != row.local {
			t.Errorf("%s: SetLocal: %v", row.guard, err)
		}
	}
}

func TestVetoUndoesTheWholeSet(t *testing.T) {
	c := New()
	var log []string
	note := func(p *Param, veto string) {
		c.OnChange(p, func() error {
			log = append(log, p.Name+"="+c.String(p))
			if c.String(p) == veto {
				return errors.New("too many for this system")
			}
			return nil
		})
	}
	note(MaxClients, "")
	note(HZ, "")
	note(Timeout, "7")
	err := c.Set([][2]string{{"maxclients", "50"}, {"hz", "10"}, {"timeout", "7"}})
	if want := ReplyError("ERR CONFIG SET failed (possibly related to argument 'timeout') - too many for this system"); err != want {
		t.Errorf("got %v", err)
	}
	// hz keeps its value, so nobody is called for it.
	if got := strings.Join(log, " "); got != "maxclients=50 timeout=7 maxclients=10000" {
		t.Errorf("calls: %s", got)
	}
	if c.Int(MaxClients) != 10000 || c.Int(Timeout) != 0 || c.Origin(MaxClients) != "default" {
		t.Error("the old values are not back")
	}
	if err := c.Set([][2]string{{"timeout", "8"}}); err != nil || c.Int(Timeout) != 8 || c.Origin(Timeout) != "CONFIG SET" {
		t.Errorf("timeout is %d from %s, %v", c.Int(Timeout), c.Origin(Timeout), err)
	}
}

func TestReadersNeverSeeHalfOfASet(t *testing.T) {
	c := New()
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				now := *c.now.Load()
				if a, b := now[Timeout.index].n, now[TCPKeepalive.index].n; a != 0 && a != b {
					t.Errorf("timeout %d beside tcp-keepalive %d", a, b)
					return
				}
			}
		})
	}
	for i := 1; i < 500; i++ {
		n := fmt.Sprint(i)
		if err := c.Set([][2]string{{"timeout", n}, {"tcp-keepalive", n}}); err != nil {
			t.Error(err)
		}
	}
	close(done)
	wg.Wait()
}

func TestReadingDoesNotAllocate(t *testing.T) {
	c := New()
	n := testing.AllocsPerRun(100, func() {
		if c.Int(MaxClients)+c.BufferLimit(LimitPubSub).Hard == 0 || c.String(Durability) == "" {
			t.Error("no value")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkInt(b *testing.B) {
	c := New()
	for b.Loop() {
		c.Int(ProtoMaxBulkLen)
	}
}

func FuzzSet(f *testing.F) {
	f.Add("maxclients", "100", "maxmemory", "100mb")
	f.Add("save", "3600 1 300 100", "client-output-buffer-limit", "normal 1 2 3 slave 1mb 1mb 60")
	f.Add("notify-keyspace-events", "KEA", "latency-tracking-info-percentiles", "50 99.9")
	f.Add("shutdown-on-sigint", "save now", "maxmemory-clients", "5%")
	f.Add("dir", "/", "foo", "bar")
	f.Fuzz(func(t *testing.T, name1, text1, name2, text2 string) {
		c := New()
		before := fmt.Sprint(c.Get("*"))
		err := c.Set([][2]string{{name1, text1}, {name2, text2}})
		if err != nil {
			var reply ReplyError
			if !errors.As(err, &reply) || !strings.HasPrefix(string(reply), "ERR ") {
				t.Fatalf("error %v", err)
			}
			if fmt.Sprint(c.Get("*")) != before {
				t.Fatal("a refused set changed something")
			}
			return
		}
		// What CONFIG GET prints, CONFIG SET takes, and nothing changes.
		for _, name := range []string{name1, name2} {
			p, ok := Lookup(name)
			if !ok {
				t.Fatalf("set of %q was accepted", name)
			}
			text := c.String(p)
			if err := c.Set([][2]string{{name, text}}); err != nil || c.String(p) != text {
				t.Fatalf("%s prints %q, which becomes %q, %v", name, text, c.String(p), err)
			}
		}
	})
}
