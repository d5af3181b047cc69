package node

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// debugField reads a field of a section that is shown only by its own name.
func debugField(t *testing.T, c *redistest.Conn, name string) int {
	t.Helper()
	_, rest, ok := strings.Cut(fmt.Sprint(c.Do("INFO", "debug")), "\r\n"+name+":")
	if !ok {
		t.Fatalf("INFO debug lacks %s", name)
	}
	value, _, _ := strings.Cut(rest, "\r\n")
	n, err := strconv.Atoi(value)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestInfoTellsWhatEventLoopsDo(t *testing.T) {
	forDrivers(t, func(t *testing.T, n *Node) {
		c := dial(t, n)
		number := func(name string) int {
			t.Helper()
			n, err := strconv.Atoi(infoField(t, c, name))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := number("eventloop_cycles")
		for range 100 {
			expect(t, c, "PONG", "PING")
		}
		c.Write([]byte(strings.Repeat("APPEND k "+strings.Repeat("x", 90)+"\r\n", 400)))
		for i := range 400 {
			if got := c.Receive(); got != int64(90*(i+1)) {
				t.Fatalf("APPEND gives %v", got)
			}
		}
		if cycles := number("eventloop_cycles") - before; cycles < 101 {
			t.Errorf("%d cycles for 101 requests one after another", cycles)
		}
		commands, whole := number("eventloop_duration_cmd_sum"), number("eventloop_duration_sum")
		if commands < 1 || commands > whole {
			t.Errorf("%d us of %d us for commands", commands, whole)
		}
		if longest := debugField(t, c, "eventloop_duration_max"); longest < 1 || longest > number("eventloop_duration_sum") {
			t.Errorf("the longest cycle took %d us", longest)
		}
		if most := debugField(t, c, "eventloop_cmd_per_cycle_max"); most < 2 || most > 400 {
			t.Errorf("at most %d commands in a cycle", most)
		}
		eventually(t, "background work is measured", func() bool { return debugField(t, c, "eventloop_duration_cron_sum") > 0 })
		eventually(t, "the newest cycles are measured", func() bool {
			return number("instantaneous_eventloop_cycles_per_sec") > 0 && number("instantaneous_eventloop_duration_usec") >= 0
		})
		if text := fmt.Sprint(c.Do("INFO", "everything")); strings.Contains(text, "# Debug") {
			t.Error("the section is shown although it was not named")
		}
		expect(t, c, "OK", "CONFIG", "RESETSTAT")
		if cycles := number("eventloop_cycles"); cycles > 50 {
			t.Errorf("%d cycles after CONFIG RESETSTAT", cycles)
		}
	}, "hz", "100")
}
