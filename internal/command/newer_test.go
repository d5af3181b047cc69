package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/resp"
)

// TestNewerRowsMatchRedis8 looks at what is newer than 7.0.
func TestNewerRowsMatchRedis8(t *testing.T) {
	newerRows(t, redistest.Redis8, func(s *Spec) bool { return !s.SinceValkey && s.Since >= "7.2" })
}

// TestNewerRowsMatchValkey8 is the same for what Valkey has.
func TestNewerRowsMatchValkey8(t *testing.T) {
	newerRows(t, redistest.Valkey8, func(s *Spec) bool { return s.SinceValkey })
}

// ownGrammar are the commands whose arguments are described otherwise.
var ownGrammar = map[string]string{
	"commandlog|get":   "the names of logs are words to choose from, not any texts",
	"commandlog|len":   "the same",
	"commandlog|reset": "the same",
}

// checkDocs compares the documentation of a command without subcommands.
func checkDocs(t *testing.T, conn *redistest.Conn, s *Spec) {
	t.Helper()
	live, _ := conn.Do("COMMAND", "DOCS", s.Name).([]any)
	if len(live) != 2 || len(s.Subcommands) > 0 || ownGrammar[s.Name] != "" {
		return
	}
	w := &resp.Writer{Proto: 2}
	AppendDocs(w, s)
	if diff := cmp.Diff(docFacts(undisplayed(live[1].([]any))), docFacts(decodeReply(w.B).([]any))); diff != "" {
		t.Errorf("%s: server (-) and table (+):\n%s", s.Name, diff)
	}
}

// undisplayed leaves out what 7.0 does not tell: how arguments are shown, which is as
// they are called.
func undisplayed(list []any) []any {
	var out []any
	for i := 0; i < len(list); i++ {
		if list[i] == "display_text" {
			i++
			continue
		}
		if inner, ok := list[i].([]any); ok {
			out = append(out, undisplayed(inner))
		} else {
			out = append(out, list[i])
		}
	}
	return out
}

// newerRows compares the rows of what is looked at: all others are those of 7.0.
func newerRows(t *testing.T, server redistest.Newer, is func(s *Spec) bool) {
	compared := 0
	conn := server.Start(t).Dial(t)
	var walk func(list []any)
	walk = func(list []any) {
		for _, e := range list {
			entry := e.([]any)
			name := entry[0].(string)
			if s := findAnyName(name); s != nil && is(s) {
				checkRow(t, name, entryFacts(entry), nil)
				checkDocs(t, conn, s)
				compared++
			}
			walk(entry[9].([]any))
		}
	}
	walk(conn.Do("COMMAND").([]any))
	if compared < 8 {
		t.Errorf("only %d rows were compared", compared)
	}
}
