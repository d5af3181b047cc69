package redistest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOracleAnswers(t *testing.T) {
	c := Start(t).Dial(t)
	steps := []struct {
		args []string
		want any
	}{
		{[]string{"SET", "a", "1"}, Simple("OK")},
		{[]string{"GET", "a"}, "1"},
		{[]string{"INCR", "a"}, int64(2)},
		{[]string{"GET", "none"}, nil},
		{[]string{"MGET", "a", "none"}, []any{"2", nil}},
		{[]string{"NOPE"}, Error("ERR unknown command 'NOPE', with args beginning with: ")},
	}
	for _, s := range steps {
		if diff := cmp.Diff(s.want, c.Do(s.args...)); diff != "" {
			t.Errorf("%q: %s", s.args, diff)
		}
	}
	if got := c.Raw("GET", "a"); string(got) != "$1\r\n2\r\n" {
		t.Errorf("raw reply %q", got)
	}
	c.Do("HELLO", "3")
	if got := c.Do("CONFIG", "GET", "port"); len(got.(Map)) != 2 {
		t.Errorf("CONFIG GET in RESP3: %v", got)
	}
}
