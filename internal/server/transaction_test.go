package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/reply"
)

// TestATransactionThatNoRecordHoldsIsRefused before anything of it is executed; when that shows
// only while it runs, the commands that are too many are.
func TestATransactionThatNoRecordHoldsIsRefused(t *testing.T) {
	s := startSubject(t, "", 1)
	s.effectsMax = 10000
	c := s.dial(t)
	expect(t, c, "OK", "MULTI")
	for range 8 {
		expect(t, c, "QUEUED", "APPEND", "a", strings.Repeat("x", 1000))
	}
	if got := errorText(c.Do("APPEND", "a", strings.Repeat("x", 1000))); got != reply.TransactionTooLarge {
		t.Errorf("one more is answered with %q", got)
	}
	if got := errorText(c.Do("EXEC")); got != reply.ExecAbort {
		t.Errorf("EXEC is answered with %q", got)
	}
	expect(t, c, "0", "EXISTS", "a")

	// The effect of SPOP has the members.
	members := []string{"SADD", "s"}
	for i := range 8 {
		members = append(members, strings.Repeat(string(rune('a'+i)), 2000))
	}
	expect(t, c, "8", members...)
	expect(t, c, "OK", "MULTI")
	for _, command := range [][]string{{"SPOP", "s", "4"}, {"SET", "b", strings.Repeat("x", 3000)}, {"SET", "c", "1"}, {"GET", "c"}} {
		expect(t, c, "QUEUED", command...)
	}
	replies, ok := c.Do("EXEC").([]any)
	if !ok || len(replies) != 4 || errorText(replies[1]) != reply.TransactionTooLarge || fmt.Sprint(replies[2:]) != "[OK 1]" {
		t.Errorf("EXEC is answered with %.60q", replies)
	}
	expect(t, c, "0", "EXISTS", "b")
}

func errorText(r any) string {
	if err, ok := r.(error); ok {
		return err.Error()
	}
	return ""
}
