package command

import (
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// TestNewerRowsMatchRedis8 looks at what is newer than 7.0.
func TestNewerRowsMatchRedis8(t *testing.T) {
	newerRows(t, redistest.Redis8, func(s *Spec) bool { return !s.SinceValkey && s.Since >= "7.2" })
}

// TestNewerRowsMatchValkey8 is the same for what Valkey has.
func TestNewerRowsMatchValkey8(t *testing.T) {
	newerRows(t, redistest.Valkey8, func(s *Spec) bool { return s.SinceValkey })
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
