package server

import (
	"fmt"
	"slices"
	"testing"

	gostrings "strings"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/metrics"
	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/session"
)

func TestEveryFieldOfInfoHasItsSource(t *testing.T) {
	rows, sources := startSubject(t, first, 1).info.Unbound()
	if len(rows) > 0 {
		t.Errorf("fields without a source: %q", rows)
	}
	if len(sources) > 0 {
		t.Errorf("sources without a field: %q", sources)
	}
}

func TestEveryWorkingCommandHasOneHandler(t *testing.T) {
	handled := map[string]int{}
	count := func(names []string) {
		for _, name := range names {
			handled[name]++
		}
	}
	for _, family := range families {
		count(names(family))
	}
	count(names(session.Handlers))
	count(names(handlers))
	count(names(keyHandlers))
	for spec := range command.All() {
		n := handled[spec.Name]
		delete(handled, spec.Name)
		working := spec.State == command.Working && (spec.Parent == nil || spec.Parent.State == command.Working)
		container := spec.Subcommands != nil
		switch {
		case !working && n != 0:
			t.Errorf("%s has a handler and is %v", spec.Name, spec.State)
		case working && n == 0 && !container, n > 1:
			t.Errorf("%s has %d handlers", spec.Name, n)
		}
	}
	for name := range handled {
		t.Errorf("handler for %s, which is not in the command table", name)
	}
}

func names[H any](handlers map[string]H) (list []string) {
	for name := range handlers {
		list = append(list, name)
	}
	return list
}

// sections lists the titles in a reply to INFO.
func sections(t *testing.T, c *redistest.Conn, asked []string) (titles []string) {
	t.Helper()
	for line := range gostrings.SplitSeq(fmt.Sprint(c.Do(append([]string{"INFO"}, asked...)...)), "\r\n") {
		if title, ok := gostrings.CutPrefix(line, "# "); ok {
			titles = append(titles, title)
		}
	}
	return titles
}

func TestInfoChoosesSectionsAsRedis(t *testing.T) {
	oracle, c := redistest.Start(t).Dial(t), startSubject(t, first, 1).dial(t)
	ours := map[string]bool{}
	for _, s := range metrics.Sections {
		ours[s.Name] = true
	}
	theirs := map[string]bool{}
	for _, title := range sections(t, oracle, []string{"everything"}) {
		theirs[title] = true
	}
	for _, asked := range [][]string{
		nil, {"default"}, {"all"}, {"everything"}, {"server"}, {"SERVER"}, {"clients", "memory"}, {"memory", "clients"}, {"commandstats"},
		{"default", "commandstats"}, {"keyspace", "keyspace"}, {"nosuch"}, {"nosuch", "cpu"}, {"errorstats"}, {"cluster"}, {"stats", "all"},
	} {
		want := slices.DeleteFunc(sections(t, oracle, asked), func(s string) bool { return !ours[s] })
		got := slices.DeleteFunc(sections(t, c, asked), func(s string) bool { return !theirs[s] })
		if !slices.Equal(want, got) {
			t.Errorf("INFO %q:\n  redis-server %q\n  bowline      %q", asked, want, got)
		}
	}
}

func TestInfoTellsWhatHappened(t *testing.T) {
	c := startSubject(t, first, 1, "maxmemory", "64mb").dial(t)
	c.Do("SET", "a", "1", "EX", "1000")
	c.Do("SET", "b", "1")
	c.Do("GET", "a")
	c.Do("GET", "none")
	c.Do("INCR")
	c.Do("NOSUCH")
	c.Do("INCRBY", "a", "x")
	text := fmt.Sprint(c.Do("INFO", "everything"))
	for _, line := range []string{
		"redis_mode:standalone", "multiplexing_api:portable", "connected_clients:1", "maxmemory:67108864", "maxmemory_human:64.00M",
		"keyspace_hits:1", "keyspace_misses:1", "total_connections_received:1", "total_error_replies:3", "db0:keys=2,expires=1,avg_ttl=0",
		"errorstat_ERR:count=3", "role:master", "cluster_enabled:0", "rdb_changes_since_last_save:2", "used_cpu_sys:1.000000",
	} {
		if !gostrings.Contains(text, "\r\n"+line+"\r\n") {
			t.Errorf("INFO lacks %q:\n%s", line, text)
		}
	}
	for _, part := range []string{
		"cmdstat_get:calls=2,", "cmdstat_incr:calls=0,usec=0,usec_per_call=0.00,rejected_calls=1,failed_calls=0",
		"cmdstat_set:calls=2,",
	} {
		if !gostrings.Contains(text, part) {
			t.Errorf("INFO lacks %q:\n%s", part, text)
		}
	}
	c.Do("CONFIG", "RESETSTAT")
	text = fmt.Sprint(c.Do("INFO", "stats"))
	for _, line := range []string{"keyspace_hits:0", "total_error_replies:0", "total_connections_received:0"} {
		if !gostrings.Contains(text, "\r\n"+line+"\r\n") {
			t.Errorf("after CONFIG RESETSTAT: INFO lacks %q:\n%s", line, text)
		}
	}
}
