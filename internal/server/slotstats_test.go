package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/topology"
	"github.com/bowline-kv/bowline/slot"
)

func TestSlotsTellHowManyKeysTheyHave(t *testing.T) {
	_, c := startMember(t, clusterMap(t, slot.Count-1), first)
	expect(t, c, "OK", "MSET", "{hello}1", "1", "{hello}2", "2", "{hello}3", "3") // slot 866
	expect(t, c, "OK", "SET", "bar", "1")                                         // slot 5061
	expect(t, c, "[[865 [key-count 0]] [866 [key-count 3]]]", "CLUSTER", "SLOT-STATS", "SLOTSRANGE", "865", "866")
	expect(t, c, "[[866 [key-count 3]] [5061 [key-count 1]] [0 [key-count 0]]]", "CLUSTER", "SLOT-STATS", "ORDERBY", "key-count", "LIMIT", "3")
	expect(t, c, reply.SlotMetric, "CLUSTER", "SLOT-STATS", "ORDERBY", "cpu-usec")
}

// slotStatsRequests are what is asked of a node with all slots.
const slotStatsRequests = `SLOTSRANGE 0 2
slotsrange 865 866
SLOTSRANGE 16383 16383
SLOTSRANGE 2 1
SLOTSRANGE -1 1
SLOTSRANGE 0 16384
SLOTSRANGE x 1
SLOTSRANGE 0 x
SLOTSRANGE 0
SLOTSRANGE 0 1 2
FOO 1
ORDERBY key-count
ORDERBY KEY-COUNT limit 2
ORDERBY key-count LIMIT 3 ASC
ORDERBY key-count DESC LIMIT 3
ORDERBY key-count ASC
ORDERBY key-count LIMIT 16384
ORDERBY cpu-usec
ORDERBY foo LIMIT 0
ORDERBY key-count LIMIT 0
ORDERBY key-count LIMIT 16385
ORDERBY key-count LIMIT x
ORDERBY key-count LIMIT
ORDERBY key-count LIMIT 0 FOO
ORDERBY key-count FOO
ORDERBY key-count ASC DESC
ORDERBY key-count ASC ASC
ORDERBY key-count LIMIT 1 LIMIT 2
ORDERBY key-count LIMIT 1 LIMIT
FOO
ORDERBY`

func TestNewerSlotStatsAreThoseOfValkey8(t *testing.T) {
	valkey := redistest.Valkey8.Start(t, "--cluster-enabled", "yes").Dial(t)
	expect(t, valkey, "OK", "CLUSTER", "ADDSLOTSRANGE", "0", "16383")
	m, err := topology.Parse(fmt.Appendf(nil, "version 1\ngroup g slots 0-16383\n member %s 127.0.0.1:7001 primary bus=17001", first))
	if err != nil {
		t.Fatal(err)
	}
	_, c := startMember(t, m, first)
	for deadline := time.Now().Add(30 * time.Second); valkey.Do("GET", "any") != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("valkey-server does not serve")
		}
	}
	for _, proto := range []string{"2", "3"} {
		for _, conn := range []*redistest.Conn{valkey, c} {
			conn.Do("HELLO", proto)
			conn.Do("MSET", "{hello}1", "1", "{hello}2", "2", "{hello}3", "3")
			conn.Do("SET", "bar", "1")
		}
		for line := range strings.Lines(slotStatsRequests) {
			args := append([]string{"CLUSTER", "SLOT-STATS"}, strings.Fields(line)...)
			if want, got := valkey.Raw(args...), c.Raw(args...); string(want) != string(got) {
				t.Errorf("%q: valkey-server says %.200q, bowline %.200q", args, want, got)
			}
		}
	}
}
