package server

import (
	"fmt"
	"slices"
	gostrings "strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

// slowEntries lists what SLOWLOG GET shows, without ids and times, the oldest
// first.
func slowEntries(c *redistest.Conn) (list []string) {
	for _, e := range c.Do("SLOWLOG", "GET", "-1").([]any) {
		list = append(list, fmt.Sprint(e.([]any)[3], e.([]any)[5]))
	}
	slices.Reverse(list)
	return list
}

func TestSlowLogShowsWhatRedisShows(t *testing.T) {
	var lists [2][]string
	for i, c := range []*redistest.Conn{redistest.Start(t).Dial(t), startSubject(t, first, 1).dial(t)} {
		c.Do("CONFIG", "SET", "slowlog-log-slower-than", "0")
		c.Do("CLIENT", "SETNAME", "me")
		many := []string{"MGET"}
		for n := range 40 {
			many = append(many, fmt.Sprint("k", n))
		}
		var wire []byte
		for _, args := range [][]string{
			{"SET", "a", "1"}, {"GET", "a"}, many, many[:32], many[:33], {"SET", "long", gostrings.Repeat("x", 128)}, {"SET", "long", gostrings.Repeat("x", 129)},
			{"NOSUCH"}, {"GET"}, {"INCR", "long"}, {"AUTH", "x"}, {"AUTH", "u", "secret"}, {"HELLO", "2", "AUTH", "default", "secret"}, {"CONFIG", "GET", "port"}, {"MULTI"}, {"GET", "a"}, {"MGET", "a", "b"}, {"EXEC"},
		} {
			wire = append(wire, redistest.Encode(args...)...)
		}
		c.Write(wire)
		for range 18 {
			c.Receive()
		}
		lists[i] = slowEntries(c)
	}
	if !slices.Equal(lists[0], lists[1]) {
		t.Errorf("redis-server:\n%s\nbowline:\n%s", gostrings.Join(lists[0], "\n"), gostrings.Join(lists[1], "\n"))
	}
}

// tickingServer is one whose clock goes on by step with each look at it.
func tickingServer(t *testing.T, step int64, settings ...string) (*Server, func(commands ...string) string) {
	t.Helper()
	cfg := config.New()
	for i := 0; i < len(settings); i += 2 {
		if err := cfg.Load(settings[i], []string{settings[i+1]}, "test"); err != nil {
			t.Fatal(err)
		}
	}
	at := int64(0)
	now := func() session.Instant {
		at += step
		return session.Instant{Wall: 1e15 + at/1000, Mono: at}
	}
	srv := New(Options{Config: cfg, Space: shard.NewSpace(shard.Options{Databases: 1}), Now: now})
	s, _ := srv.Registry().Add("1.2.3.4:5", "", now(), 10, session.Links{Kill: func() {}, Wake: func() {}})
	b := session.NewBatch(srv.NewExecutor())
	return srv, func(commands ...string) string {
		var wire []byte
		for _, c := range commands {
			wire = resp.AppendCommandStrings(wire, gostrings.Fields(c)...)
		}
		b.Feed(s, session.Instant{Wall: 1e15 + at/1000, Mono: at}, wire)
		out := string(s.W.B)
		s.W.B = nil
		return out
	}
}

func (l *commandLog) names() (names []string) {
	for _, e := range l.entries {
		names = append(names, fmt.Sprintf("%s %d", e.args[0], e.value))
	}
	return names
}

func TestLongCommandsOfABatchAreTimedAlone(t *testing.T) {
	// Each look at the clock takes 20 ms.
	srv, do := tickingServer(t, 20e6)
	do("GET a")
	if got := fmt.Sprint(srv.slow.names()); got != "[GET 20000]" {
		t.Errorf("alone: %s", got)
	}
	srv.slow.entries = nil
	many := "MGET" + gostrings.Repeat(" a", fewArguments)
	do("GET a", "MGET a b", many, "GET c", "KEYS *")
	if got := fmt.Sprint(srv.slow.names()); got != "[MGET 20000 GET 20000 KEYS 20000]" {
		t.Errorf("in a batch: %s", got)
	}
	// After a slow run of short commands each is timed.
	srv.slow.entries = nil
	do("GET a", "GET b")
	if got := fmt.Sprint(srv.slow.names()); got != "[GET 20000 GET 20000]" {
		t.Errorf("in the batch after: %s", got)
	}
	if got := do("INFO commandstats"); !gostrings.Contains(got, "cmdstat_get:calls=5,usec=90000,") {
		t.Errorf("%s", got)
	}
}

func TestLatencyMonitorKeepsTheLongestOfASecond(t *testing.T) {
	srv, do := tickingServer(t, 20e6, "latency-monitor-threshold", "20")
	do("GET a")
	do("KEYS *")
	if got := do("LATENCY LATEST"); !gostrings.HasPrefix(got, "*2\r\n*4\r\n$7\r\ncommand\r\n:1000000000\r\n:20\r\n:20\r\n*4\r\n$12\r\nfast-command\r\n") {
		t.Errorf("%q", got)
	}
	srv.latency.add("command", latencySample{1, 500})
	for i := range int64(300) {
		srv.latency.add("command", latencySample{i, i})
		srv.latency.add("command", latencySample{i, 1})
	}
	e := srv.latency.events["command"]
	if n := len(e.samples); n != latencySamples || e.samples[n-1] != (latencySample{299, 299}) || e.max != 500 {
		t.Errorf("%d samples, the last %v, the longest ever %d", n, e.samples[n-1], e.max)
	}
	if got := do("LATENCY GRAPH command"); gostrings.Count(got, "\n") < 7 || !gostrings.Contains(got, "command - high 299 ms, low 220 ms (all time high 500 ms)\n") {
		t.Errorf("%s", got)
	}
	if got := do("LATENCY DOCTOR"); !gostrings.Contains(got, "1. command: 160 spikes") {
		t.Errorf("%s", got)
	}
	if got := do("LATENCY RESET command nosuch"); got != ":1\r\n" {
		t.Errorf("%q", got)
	}
}

func TestHistogramBucketsHoldTheirDurations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(0, 1<<histogramMaxBits-1).Draw(t, "nanoseconds") >> rapid.IntRange(0, histogramMaxBits).Draw(t, "shift")
		i := bucketOf(n)
		if n > bucketEnd(i) || i > 0 && n <= bucketEnd(i-1) {
			t.Fatalf("%d is in bucket %d, which ends at %d", n, i, bucketEnd(i))
		}
		if over := bucketEnd(i) - n; over > n/16 {
			t.Fatalf("%d is told as %d", n, bucketEnd(i))
		}
	})
	if got := bucketOf(1 << 62); got != histogramBuckets-1 {
		t.Errorf("bucket %d", got)
	}
	var h histogram
	for _, n := range []uint64{500, 900, 1500, 30000, 31000, 5e9, 1 << 50} {
		h.add(n, 1)
	}
	var s summedHistogram
	s.add(&h)
	got := ""
	s.powers(func(micros, count uint64) { got += fmt.Sprint(micros, ":", count, " ") })
	if got != "1:2 2:3 33:5 8657043:6 69256347:7 " {
		t.Errorf("powers %s", got)
	}
	if p := s.percentile(50); p < 30000 || p > 32000 {
		t.Errorf("the median is %d", p)
	}
}

func TestLatencyHistogramsOfCommands(t *testing.T) {
	c := startSubject(t, first, 1).dial(t)
	c.Do("HELLO", "3")
	for range 10 {
		c.Do("GET", "a")
	}
	c.Do("CLIENT", "ID")
	m, ok := c.Do("LATENCY", "HISTOGRAM", "get", "GET", "client|id", "nosuch").(redistest.Map)
	if !ok || len(m) != 4 || fmt.Sprintf("%v %v %v", m[0], m[1].(redistest.Map)[:2], m[2]) != "get [calls 10] client|id" {
		t.Errorf("LATENCY HISTOGRAM: %v", m)
	}
	if text := fmt.Sprint(c.Do("INFO", "latencystats")); !gostrings.Contains(text, "latency_percentiles_usec_get:p50=") || !gostrings.Contains(text, ",p99.9=") {
		t.Errorf("%s", text)
	}
	c.Do("CONFIG", "SET", "latency-tracking", "no")
	c.Do("CONFIG", "RESETSTAT")
	c.Do("GET", "a")
	if m := c.Do("LATENCY", "HISTOGRAM", "get").(redistest.Map); len(m) != 0 {
		t.Errorf("after latency-tracking was turned off: %v", m)
	}
}

func TestSecretsOfSettingsAreNotInTheSlowLog(t *testing.T) {
	srv, do := tickingServer(t, 20e6)
	do("CONFIG SET maxclients 7 requirepass sesame TLS-KEY-FILE-PASS sesame")
	if got := fmt.Sprintf("%s", srv.slow.entries[0].args); got != "[CONFIG SET maxclients 7 requirepass (redacted) TLS-KEY-FILE-PASS (redacted)]" {
		t.Errorf("%s", got)
	}
}
