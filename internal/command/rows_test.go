package command

import (
	"slices"
	"sort"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/google/go-cmp/cmp"
)

// facts is what COMMAND INFO says of one command, in comparable form.
type facts struct {
	arity      int64
	first      int64
	last       int64
	step       int64
	flags      []string
	categories []string
	tips       []string
	keySpecs   []any
}

// differences reads what is known to differ.
func differences(t *testing.T) *redistest.Differences {
	t.Helper()
	d, err := redistest.ReadDifferences()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// rowDifferences are the fields in which rows differ, by the name of the command.
func rowDifferences(t *testing.T) map[string][]string {
	t.Helper()
	differ := map[string][]string{}
	for _, row := range differences(t).Commands {
		if differ[row.Command] = row.Fields; findAnyName(row.Command) == nil || row.Reason == "" {
			t.Errorf("differences of %q: no such command, or no reason", row.Command)
		}
	}
	return differ
}

func TestRowsMatchLiveServer(t *testing.T) {
	conn := redistest.Start(t).Dial(t)
	differ := rowDifferences(t)
	seen := map[string]bool{}
	var walk func(list []any)
	walk = func(list []any) {
		for _, e := range list {
			entry := e.([]any)
			name := entry[0].(string)
			seen[name] = true
			checkRow(t, name, entryFacts(entry), differ[name])
			walk(entry[9].([]any))
		}
	}
	walk(conn.Do("COMMAND").([]any))
	if len(seen) < 300 {
		t.Errorf("the server listed only %d commands", len(seen))
	}
	for s := range All() {
		if !seen[s.Name] && !s.SinceValkey && s.Since < "7.2.0" && s.Group != "sentinel" {
			t.Errorf("%s is said to be there since %s, but 7.0.15 does not know it", s.Name, s.Since)
		}
	}
}

// checkRow compares a row with the server's, of which it may differ in some fields.
func checkRow(t *testing.T, name string, live facts, differ []string) {
	t.Helper()
	s := findAnyName(name)
	if s == nil {
		t.Errorf("the table lacks %s", name)
		return
	}
	ours := specFacts(s)
	for _, f := range []struct {
		name       string
		ours, live any
	}{
		{"arity", ours.arity, live.arity},
		{"keys", []int64{ours.first, ours.last, ours.step}, []int64{live.first, live.last, live.step}},
		{"flags", ours.flags, live.flags},
		{"categories", ours.categories, live.categories},
		{"tips", ours.tips, live.tips},
		{"key_specs", ours.keySpecs, live.keySpecs},
	} {
		diff := cmp.Diff(f.ours, f.live)
		known := slices.Contains(differ, f.name)
		if diff != "" && !known {
			t.Errorf("%s: %s of the table (-) and the server (+):\n%s", name, f.name, diff)
		}
		if diff == "" && known {
			t.Errorf("%s: %s is no difference any more", name, f.name)
		}
	}
}

// specFacts reads our row the way a client would: off the wire.
func specFacts(s *Spec) facts { return entryFacts(decodeReply(appendInfo2(s)).([]any)) }

func entryFacts(e []any) facts {
	f := facts{
		arity: e[1].(int64), first: e[3].(int64), last: e[4].(int64), step: e[5].(int64),
		flags: simpleStrings(e[2]), categories: simpleStrings(e[6]), tips: simpleStrings(e[7]),
	}
	sort.Strings(f.flags)
	sort.Strings(f.categories)
	for _, k := range e[8].([]any) {
		f.keySpecs = append(f.keySpecs, withoutNotes(k.([]any)))
	}
	return f
}

// withoutNotes drops the prose that the server adds to some key specifications.
func withoutNotes(pairs []any) []any {
	if len(pairs) > 1 && text(pairs[0]) == "notes" {
		return pairs[2:]
	}
	return pairs
}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case redistest.Simple:
		return string(v)
	}
	return ""
}

func findAnyName(name string) *Spec {
	for s := range All() {
		if s.Name == name {
			return s
		}
	}
	return nil
}
