package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// differences reads what is known to differ.
func differences(t *testing.T) *redistest.Differences {
	t.Helper()
	d, err := redistest.ReadDifferences()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// ours are the rows that redis-server does not list.
func ours(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, row := range differences(t).Parameters {
		if names[row.Name] = true; row.Reason == "" || !known(row.Name) {
			t.Errorf("differences of %q: no such parameter, or no reason", row.Name)
		}
	}
	return names
}

func known(name string) bool {
	_, ok := Lookup(name)
	return ok
}

// started are rows whose value the start of the test's server decides.
var started = []string{"port", "bind", "unixsocket", "dir", "save", "enable-debug-command", "appendonly", "logfile", "loglevel", "daemonize", "pidfile", "dbfilename"}

func live(t *testing.T, c *redistest.Conn) map[string]string {
	t.Helper()
	reply := c.Do("CONFIG", "GET", "*").([]any)
	values := map[string]string{}
	for i := 0; i < len(reply); i += 2 {
		values[reply[i].(string)] = reply[i+1].(string)
	}
	return values
}

func TestTableHasTheParametersOfRedisWithItsDefaults(t *testing.T) {
	theirs := live(t, redistest.Start(t).Dial(t))
	mine, own := map[string]string{}, ours(t)
	for _, pair := range New().Get("*") {
		mine[pair[0]] = pair[1]
		if _, ok := theirs[pair[0]]; !ok && !own[pair[0]] {
			t.Errorf("%s is not listed by redis", pair[0])
		} else if ok && own[pair[0]] {
			t.Errorf("%s is listed by redis too", pair[0])
		}
	}
	for name, want := range theirs {
		got, ok := mine[name]
		switch {
		case !ok:
			t.Errorf("%s is missing", name)
		case got != want && !slices.Contains(started, name):
			t.Errorf("default of %s is %q, in redis %q", name, got, want)
		}
	}
}

// set runs the same CONFIG SET on both sides and compares the replies.
func set(t *testing.T, conn *redistest.Conn, c *Config, pairs ...string) {
	t.Helper()
	var list [][2]string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, [2]string{pairs[i], pairs[i+1]})
	}
	got := "OK"
	if err := c.Set(list); err != nil {
		got = err.Error()
	}
	if want := fmt.Sprint(conn.Do(append([]string{"CONFIG", "SET"}, pairs...)...)); got != want {
		t.Errorf("CONFIG SET %q:\n   got %q\n redis %q", pairs, got, want)
	}
}

// get compares the value of a parameter on both sides.
func get(t *testing.T, conn *redistest.Conn, c *Config, pattern ...string) {
	t.Helper()
	got := []string{}
	for _, pair := range c.Get(pattern...) {
		got = append(got, pair[0]+" "+pair[1])
	}
	want := []string{}
	reply := conn.Do(append([]string{"CONFIG", "GET"}, pattern...)...).([]any)
	for i := 0; i < len(reply); i += 2 {
		want = append(want, fmt.Sprint(reply[i], " ", reply[i+1]))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("CONFIG GET %q:\n   got %q\n redis %q", pattern, got, want)
	}
}

// unlike says whether the outcome of a probe is known not to be that of Redis.
func unlike(rows []redistest.ValueDifference, p *Param, probe string) bool {
	for _, d := range rows {
		concerned := slices.ContainsFunc(d.Names, func(name string) bool {
			prefix, pattern := strings.CutSuffix(name, "*")
			return name == p.Name || pattern && strings.HasPrefix(p.Name, prefix)
		})
		concerned = concerned || d.Effect == "restart" && p.Effect == Restart ||
			d.Kind == "memory" && (p.Kind == Memory || p.Kind == MemoryPercent)
		if concerned && (len(d.Values) == 0 || slices.Contains(d.Values, probe)) && !(d.ExceptDefault && probe == p.Default) {
			return true
		}
	}
	return false
}

func TestSetAnswersAsRedis(t *testing.T) {
	conn := redistest.Start(t).Dial(t)
	c := New()
	theirs, own, differ := live(t, conn), ours(t), differences(t).Values
	for _, name := range started {
		if err := c.Load(name, []string{theirs[name]}, "test"); err != nil {
			t.Fatal(err)
		}
	}
	probes := []string{"abc", "-1", "0", "1", "501", "05", "", "yes", "NO", "-6", "2147483648", "99999999999999999999", "10k", "1MB", "5%", "101%", "1 2", "1 2 3", "x x", "8"}
	for _, p := range All() {
		if own[p.Name] || p.Hidden {
			continue
		}
		before := theirs[p.Name]
		for _, probe := range append(append([]string{before}, probes...), p.Words...) {
			if unlike(differ, p, probe) {
				continue
			}
			for _, name := range append([]string{p.Name}, p.Aliases...) {
				set(t, conn, c, name, probe)
				get(t, conn, c, name)
			}
			if p.Effect != Immutable && !p.Protected {
				set(t, conn, c, p.Name, before)
			}
		}
	}
}

func TestCompoundValuesReadAndPrintAsInRedis(t *testing.T) {
	conn := redistest.Start(t).Dial(t)
	c := New()
	for _, row := range [][]string{
		{"maxmemory", "10KB", "1g", "1gb", "1b", "kb", "1 kb", "+5", "-0", "0x10", " 5", "1t", "1.5gb", "9223372036854775807"},
		{"auto-aof-rewrite-min-size", "9223372036854775807", "9223372036854775808"},
		{"maxmemory-clients", "0%", "100%", "-1%", "1.5%", "%", "5k"},
		{"client-output-buffer-limit", "normal 1 2 3", "replica 1mb 2mb 60", "slave 5 6 7 pubsub 1 1 1", "bogus 1 2 3", "normal 1 2",
			"normal a 2 3", "normal 1 2 -1", "normal -1 2 1", "normal 1 2 x", "NORMAL 1 1 1", "master 1 1 1", "normal 1 1 1 normal 2 2 2",
			"normal  4  4  4", "", "normal '1' 2 3", "normal 1gb 2 99999999999999999999", " normal 1 1 1", "normal 1 1 1 bogus 1 1 1"},
		{"save", "3600 1 300 100", "3600 1 300", "0 1", "-1 1", "1 0", "a b", "  900  1 ", "", "1 -1", "900 1 900 1", "'900' 1"},
		{"notify-keyspace-events", "KEA", "Kg$", "AKE", "Elg$", "KEAm", "KEn", "g$lshzxetdK", "g$lshzxetd", "xK$mn", "KK", "E", "K E", "kea", "Z"},
		{"latency-tracking-info-percentiles", "50.0 99.99 100", "0", "101", "-1", "99.999 1", "50 50", "1e1", "nan", "50,1", "0.1 0.25", "33.333333333333", "inf"},
		{"oom-score-adj-values", "1 2", "1 2 a", "2000 3000 4000"},
		{"shutdown-on-sigint", "save force", "force save", "default save", "nosave now", "save nosave", "save save", "SAVE", "save  now"},
		{"cluster-announce-hostname", "a b", "x.y", "-", "a_b"},
		{"loglevel", "NOTICE", "debug verbose", "notice"},
		{"slowlog-log-slower-than", "-2", "-1"},
		{"hz", "1000", "0", "-0"},
		{"repl-backlog-size", "1", "20000"},
		{"masteruser", "a b", ""},
	} {
		for _, text := range row[1:] {
			set(t, conn, c, row[0], text)
			get(t, conn, c, row[0])
		}
	}
}

func TestSetOfSeveralAnswersAsRedis(t *testing.T) {
	conn := redistest.Start(t).Dial(t)
	c := New()
	for _, pairs := range [][]string{
		{"foo", "1"}, {"foo", "1", "foo", "2"}, {"", ""}, {"maxclients", "100", "foo", "1"},
		{"maxclients", "100", "maxclients", "200"}, {"maxclients", "100", "MAXCLIENTS", "200"},
		{"slave-priority", "1", "replica-priority", "2"}, {"daemonize", "no"}, {"dir", "/"}, {"aclfile", ""},
		{"logfile", "x", "foo", "y"}, {"foo", "y", "logfile", "x"}, {"save", "1 1", "appendonly", "bogus"},
		{"maxmemory", "1", "maxmemory-policy", "zz"}, {"maxclients", "10001", "maxmemory", "bad"}, {"MaxClients", "77", "HZ", "20"},
		{"masteruser", "x'y"}, {"timeout", "-1", "hz", "x"},
	} {
		set(t, conn, c, pairs...)
		get(t, conn, c, "max*", "hz", "timeout", "slave-priority", "replica-p*", "appendonly")
	}
}

func TestGetAnswersAsRedis(t *testing.T) {
	conn := redistest.Start(t).Dial(t)
	c := New()
	for _, patterns := range [][]string{
		{"MaxClients"}, {"maxclients", "MAXCLIENTS"}, {"maxclients", "max*s"}, {"foo"}, {"slave-priority", "replica-priority"},
		{"*priority"}, {"sl[a]ve-pr*"}, {""}, {"HZ", "h?"}, {"MAX*"}, {"[m-n]ax*"}, {`h\z`}, {"lua-time-limit", "busy*"}, {"*_*"},
		{"rdb-key-save-delay"}, {"rdb-key*"}, {"primaryauth"},
	} {
		if strings.HasPrefix(patterns[0], "primary") {
			continue // a word of Valkey
		}
		get(t, conn, c, patterns...)
	}
}
