package server

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// everything sends commands, and one that turns replies on and one that closes the
// connection behind them, and gives all bytes that come back.
func everything(t *testing.T, c *redistest.Conn, commands [][]string) string {
	t.Helper()
	var wire []byte
	for _, args := range append(commands, []string{"CLIENT", "REPLY", "ON"}, []string{"ECHO", "end"}, []string{"QUIT"}) {
		wire = append(wire, redistest.Encode(args...)...)
	}
	c.Write(wire)
	c.Net().SetReadDeadline(time.Now().Add(30 * time.Second))
	got, err := io.ReadAll(c.Net())
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// Only the right replies are left out, also of transactions, whose arrays then
// have fewer elements than they say.
func TestRepliesThatNobodyWantsAreThoseOfRedis(t *testing.T) {
	oracle, ours := redistest.Start(t), startSubject(t, first, 1)
	off, skip, on := []string{"CLIENT", "REPLY", "OFF"}, []string{"CLIENT", "REPLY", "SKIP"}, []string{"CLIENT", "REPLY", "ON"}
	multi, exec, set, get := []string{"MULTI"}, []string{"EXEC"}, []string{"SET", "a", "1"}, []string{"GET", "a"}
	big := []string{"SET", "big", string(bytes.Repeat([]byte("x"), 1<<17))}
	for name, commands := range map[string][][]string{
		"off inside":               {multi, set, off, get, exec, get},
		"off inside, on again":     {multi, set, off, get, on, get, exec, get},
		"skip inside":              {multi, set, skip, get, exec, get, get},
		"on inside":                {off, multi, set, on, get, exec, get},
		"off before EXEC":          {multi, set, get, []string{"NOSUCH"}, exec, off, multi, get, exec},
		"skip before MULTI":        {skip, multi, get, exec},
		"skip before EXEC's error": {skip, exec, get},
		"skip queued twice":        {multi, skip, skip, exec, get, get},
		"off, large":               {big, multi, []string{"GET", "big"}, off, []string{"GET", "big"}, exec, on, []string{"GET", "big"}},
		"on for a skipped EXEC":    {multi, get, on, get, exec, get},
		"subscribe":                {off, []string{"SUBSCRIBE", "news"}, []string{"PING"}, []string{"UNSUBSCRIBE"}, get},
		"subscribe inside":         {multi, off, []string{"SUBSCRIBE", "news"}, get, exec, []string{"UNSUBSCRIBE"}, get},
		"reset":                    {off, set, []string{"RESET"}, get},
	} {
		want, got := everything(t, oracle.Dial(t), commands), everything(t, ours.dial(t), commands)
		if want != got {
			t.Errorf("%s:\n  redis-server %.300q\n  bowline      %.300q", name, want, got)
		}
	}
}
