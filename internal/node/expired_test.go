package node

import (
	"fmt"
	"testing"
)

// The event comes when a command finds a key whose time is over, and when the
// background does.
func TestExpiredEvent(t *testing.T) {
	forDrivers(t, func(t *testing.T, n *Node) {
		c, listener := dial(t, n), dial(t, n)
		expect(t, c, "OK", "CONFIG", "SET", "notify-keyspace-events", "KEx")
		expect(t, listener, "[psubscribe __key*__:* 1]", "PSUBSCRIBE", "__key*__:*")
		heard := func(key string) {
			t.Helper()
			hears(t, listener, fmt.Sprintf("[pmessage __key*__:* __keyspace@0__:%s expired]", key))
			hears(t, listener, fmt.Sprintf("[pmessage __key*__:* __keyevent@0__:expired %s]", key))
		}
		expect(t, c, "OK", "SET", "background", "v", "PX", "1")
		heard("background")
		if got := infoField(t, c, "expired_keys"); got != "1" {
			t.Errorf("%s keys have expired", got)
		}

		expect(t, c, "OK", "DEBUG", "SET-ACTIVE-EXPIRE", "0")
		for _, read := range [][]string{{"GET", "read"}, {"EXISTS", "read"}, {"STRLEN", "read"}} {
			expect(t, c, "OK", "SET", "read", "v", "PX", "1")
			eventually(t, "the time of the key is over", func() bool {
				got := fmt.Sprint(c.Do(read...))
				return got == "<nil>" || got == "0"
			})
			heard("read")
		}
		// A write finds it too, and the event comes before the write's own.
		expect(t, c, "OK", "SET", "written", "v", "PX", "1")
		eventually(t, "the time of the key is over", func() bool { return fmt.Sprint(c.Do("SET", "written", "w", "NX", "GET")) == "<nil>" })
		heard("written")
		expect(t, c, "w", "GET", "written")
		expect(t, c, "OK", "DEBUG", "SET-ACTIVE-EXPIRE", "1")
		// Deleting a key is another event.
		expect(t, c, "1", "DEL", "written")
		expect(t, c, "OK", "SET", "last", "v", "PX", "1")
		heard("last")
	}, "hz", "500", "enable-debug-command", "yes")
}
