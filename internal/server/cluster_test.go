package server

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/topology"
	"github.com/bowline-kv/bowline/slot"
)

// The nodes of the test's maps.
var (
	first   = topology.NodeIDOf("first")
	replica = topology.NodeIDOf("replica")
	second  = topology.NodeIDOf("second")
	third   = topology.NodeIDOf("third")
)

// clusterMap has three groups. The third one's slots end at last, so that 16383
// covers everything; the second node has two shards.
func clusterMap(t *testing.T, last int) *topology.Map {
	t.Helper()
	m, err := topology.Parse(fmt.Appendf(nil, `
		version 5
		group g1 epoch 1 slots 0-5460
		  member %s 127.0.0.1:7001 primary
		  member %s 127.0.0.1:7004 replica
		group g2 epoch 2 slots 5461-8000@0,8001-10922@1
		  member %s 127.0.0.1:7002 primary hostname=two.example
		group g3 epoch 3 slots 10923-%d
		  member %s [::1]:7003 primary`, first, replica, second, last, third))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func startMember(t *testing.T, m *topology.Map, id topology.NodeID, settings ...string) (*subject, *redistest.Conn) {
	t.Helper()
	shards := 1
	if id == second {
		shards = 2
	}
	s := startSubject(t, id, shards, settings...)
	if err := s.SetMap(m); err != nil {
		t.Fatal(err)
	}
	return s, s.dial(t)
}

// keyIn finds a key of a slot between two.
func keyIn(low, high int) string {
	for i := 0; ; i++ {
		key := "key" + strconv.Itoa(i)
		if s := int(slot.Of([]byte(key))); low <= s && s <= high {
			return key
		}
	}
}

// Slots of the keys used here: hello 866, bar 5061, foo 12182.

func TestKeysOfOtherNodesAreRedirected(t *testing.T) {
	m := clusterMap(t, slot.Count-1)
	_, c := startMember(t, m, first)
	expect(t, c, "OK", "SET", "hello", "1")
	expect(t, c, "1", "GET", "hello")
	expect(t, c, "MOVED 12182 ::1:7003", "SET", "foo", "1")
	expect(t, c, "MOVED 12182 ::1:7003", "GET", "foo")
	expect(t, c, "MOVED 12182 ::1:7003", "DEL", "{foo}a", "{foo}b")
	k := keyIn(5461, 10922)
	expect(t, c, fmt.Sprintf("MOVED %d 127.0.0.1:7002", slot.Of([]byte(k))), "INCR", k)
	expect(t, c, "ERR wrong number of arguments for 'get' command", "GET", "foo", "bar")
	// One pipeline, so that nothing of a command is left for the next.
	var wire []byte
	for range 20 {
		for _, args := range [][]string{{"SET", "foo", "1"}, {"DBSIZE"}, {"GET", "hello"}, {"MSET", "foo", "1", "bar", "2"}, {"KEYS", "*"}} {
			wire = append(wire, redistest.Encode(args...)...)
		}
	}
	c.Write(wire)
	for range 20 {
		for _, want := range []string{"MOVED 12182 ::1:7003", "1", "1", reply.CrossSlot(12182, 5061), "[hello]"} {
			if got := fmt.Sprint(c.Receive()); got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
		}
	}
}

// A command without keys once answered MOVED after one that had some.
func TestCommandWithoutKeysForgetsTheSlotsOfTheOneBefore(t *testing.T) {
	_, c := startMember(t, clusterMap(t, slot.Count-1), first)
	expect(t, c, "MOVED 12182 ::1:7003", "GET", "foo")
	for _, args := range [][]string{{"DBSIZE"}, {"GET", "foo"}, {"FLUSHALL"}, {"GET", "foo"}, {"FLUSHDB"}, {"GET", "foo"}, {"SCAN", "0"}} {
		if got := fmt.Sprint(c.Do(args...)); strings.HasPrefix(got, "MOVED") != (args[0] == "GET") {
			t.Errorf("%q: %s", args, got)
		}
	}
}

func TestPreferredEndpointStandsInRedirects(t *testing.T) {
	m := clusterMap(t, slot.Count-1)
	k := keyIn(5461, 10922)
	n := slot.Of([]byte(k))
	for setting, host := range map[string]string{"ip": "127.0.0.1", "hostname": "two.example", "unknown-endpoint": ""} {
		_, c := startMember(t, m, first, "cluster-preferred-endpoint-type", setting)
		expect(t, c, fmt.Sprintf("MOVED %d %s:7002", n, host), "GET", k)
	}
}

func TestKeysOfSeveralSlotsAreRefused(t *testing.T) {
	_, c := startMember(t, clusterMap(t, slot.Count-1), first)
	for _, args := range [][]string{
		{"MSET", "hello", "1", "bar", "2"}, {"MGET", "hello", "bar"}, {"DEL", "hello", "bar"}, {"EXISTS", "hello", "hello", "bar"},
		{"MSETNX", "hello", "1", "{hello}", "1", "bar", "2"},
	} {
		expect(t, c, "CROSSSLOT Keys in request don't hash to the same slot (slots 866 and 5061)", args...)
	}
	expect(t, c, "CROSSSLOT Keys in request don't hash to the same slot (slots 12182 and 5061)", "MGET", "foo", "bar")
	expect(t, c, "OK", "MSET", "{hello}a", "1", "{hello}b", "2")
	expect(t, c, "2", "UNLINK", "{hello}a", "{hello}b")
}

func TestSlotsWithoutOwner(t *testing.T) {
	m := clusterMap(t, 16000)
	lost := keyIn(16001, slot.Count-1)
	t.Run("stop everything", func(t *testing.T) {
		_, c := startMember(t, m, first)
		expect(t, c, reply.ClusterDown, "SET", "hello", "1")
		expect(t, c, reply.ClusterDown, "GET", "foo")
		expect(t, c, reply.ClusterSlotUnset, "GET", lost)
		expect(t, c, "0", "DBSIZE")
		if got := fmt.Sprint(c.Do("CLUSTER", "INFO")); !strings.HasPrefix(got, "cluster_state:fail\r\n") {
			t.Errorf("CLUSTER INFO: %s", got)
		}
	})
	t.Run("stop writes", func(t *testing.T) {
		_, c := startMember(t, m, first, "cluster-allow-reads-when-down", "yes")
		expect(t, c, reply.ClusterDownReads, "SET", "hello", "1")
		expect(t, c, "<nil>", "GET", "hello")
		expect(t, c, reply.ClusterSlotUnset, "GET", lost)
		expect(t, c, "OK", "MULTI")
		expect(t, c, "QUEUED", "GET", "hello")
		expect(t, c, "[<nil>]", "EXEC")
		expect(t, c, "OK", "MULTI")
		expect(t, c, reply.ClusterDownReads, "SET", "hello", "1")
		expect(t, c, reply.ExecAbort, "EXEC")
		expect(t, c, "OK", "CONFIG", "SET", "cluster-allow-reads-when-down", "no")
		expect(t, c, reply.ClusterDown, "GET", "hello")
	})
	t.Run("leave shard channels", func(t *testing.T) {
		_, c := startMember(t, m, first)
		expect(t, c, "0", "SPUBLISH", "hello", "x")
		expect(t, c, "OK", "CONFIG", "SET", "cluster-allow-pubsubshard-when-down", "no")
		expect(t, c, reply.ClusterDown, "SPUBLISH", "hello", "x")
	})
	t.Run("stop only themselves", func(t *testing.T) {
		_, c := startMember(t, m, first, "cluster-require-full-coverage", "no")
		expect(t, c, "OK", "SET", "hello", "1")
		expect(t, c, "MOVED 12182 ::1:7003", "GET", "foo")
		expect(t, c, reply.ClusterSlotUnset, "GET", lost)
		if got := fmt.Sprint(c.Do("CLUSTER", "INFO")); !strings.HasPrefix(got, "cluster_state:ok\r\n") {
			t.Errorf("CLUSTER INFO: %s", got)
		}
	})
}

func TestReplicaWithoutDataServesNothing(t *testing.T) {
	_, c := startMember(t, clusterMap(t, slot.Count-1), replica)
	moved := "MOVED 866 127.0.0.1:7001"
	expect(t, c, moved, "GET", "hello")
	expect(t, c, moved, "SET", "hello", "1")
	expect(t, c, "OK", "READONLY")
	expect(t, c, reply.MasterDown, "GET", "hello")
	expect(t, c, reply.MasterDown, "EXISTS", "{hello}a", "{hello}b")
	expect(t, c, moved, "SET", "hello", "1")
	expect(t, c, "MOVED 12182 ::1:7003", "GET", "foo")
	if got := fmt.Sprint(c.Do("CLIENT", "INFO")); !strings.Contains(got, " flags=r ") {
		t.Errorf("CLIENT INFO: %s", got)
	}
	expect(t, c, "OK", "READWRITE")
	expect(t, c, moved, "GET", "hello")
	for _, args := range [][]string{{"FLUSHALL"}, {"FLUSHDB"}} {
		expect(t, c, reply.ReadOnlyReplica, args...)
	}
	expect(t, c, "0", "DBSIZE")
	expect(t, c, "[]", "KEYS", "*")
	hello := fmt.Sprint(c.Do("HELLO", "3"))
	if !strings.Contains(hello, "mode cluster") || !strings.Contains(hello, "role replica") {
		t.Errorf("HELLO: %s", hello)
	}
	if info := fmt.Sprint(c.Do("INFO", "replication")); !strings.Contains(info, "role:slave\r\n") {
		t.Errorf("INFO replication: %s", info)
	}
}

func TestAskingHoldsForOneCommand(t *testing.T) {
	_, c := startMember(t, clusterMap(t, slot.Count-1), first)
	// No slot is arriving here, so that it changes nothing.
	for range 2 {
		expect(t, c, "OK", "ASKING")
		expect(t, c, "MOVED 12182 ::1:7003", "GET", "foo")
		expect(t, c, "MOVED 12182 ::1:7003", "GET", "foo")
	}
	expect(t, c, "OK", "ASKING")
	expect(t, c, "OK", "SET", "hello", "1")
}

func TestOnlyDatabaseZeroInACluster(t *testing.T) {
	_, c := startMember(t, clusterMap(t, slot.Count-1), first)
	expect(t, c, "OK", "SELECT", "0")
	expect(t, c, reply.ClusterSelect, "SELECT", "1")
	expect(t, c, reply.NotInteger, "SELECT", "x")
}

func TestClusterCommandsNeedACluster(t *testing.T) {
	c := startSubject(t, first, 1).dial(t)
	for _, args := range [][]string{
		{"CLUSTER", "SLOTS"}, {"CLUSTER", "INFO"}, {"CLUSTER", "KEYSLOT", "a"}, {"CLUSTER", "HELP"}, {"READONLY"}, {"READWRITE"}, {"ASKING"},
	} {
		expect(t, c, reply.ClusterDisabled, args...)
	}
	expect(t, c, "OK", "MSET", "foo", "1", "bar", "2")
	expect(t, c, "[1 2]", "MGET", "foo", "bar")
}

func TestTwoShardsInOneNode(t *testing.T) {
	s, c := startMember(t, clusterMap(t, slot.Count-1), second)
	low, high := keyIn(5461, 8000), keyIn(8001, 10922)
	expect(t, c, "OK", "SET", low, "low")
	expect(t, c, "OK", "SET", high, "high")
	expect(t, c, "low", "GET", low)
	expect(t, c, "high", "GET", high)
	for i, sh := range s.space.Shards() {
		if sh.Last() != 1 {
			t.Errorf("the log of shard %d ends at %d, want 1", i, sh.Last())
		}
	}
	expect(t, c, "2", "DBSIZE")
	keys := c.Do("KEYS", "*").([]any)
	scan := c.Do("SCAN", "0", "COUNT", "100000").([]any)
	if len(keys) != 2 || len(scan[1].([]any)) != 2 || scan[0] != "0" {
		t.Errorf("KEYS gives %v, SCAN %v", keys, scan)
	}
	expect(t, c, reply.CrossSlot(int(slot.Of([]byte(low))), int(slot.Of([]byte(high)))), "MGET", low, high)
	expect(t, c, "MOVED 866 127.0.0.1:7001", "GET", "hello")
	expect(t, c, "OK", "FLUSHALL")
	expect(t, c, "0", "DBSIZE")
	expect(t, c, "<nil>", "GET", high)
}

func TestClusterDescribesItself(t *testing.T) {
	_, c := startMember(t, clusterMap(t, slot.Count-1), first)
	expect(t, c, string(first), "CLUSTER", "MYID")
	expect(t, c, "12182", "CLUSTER", "KEYSLOT", "foo")
	expect(t, c, "12182", "CLUSTER", "KEYSLOT", "a{foo}b{bar}")
	expect(t, c, "[]", "CLUSTER", "LINKS")
	expect(t, c, fmt.Sprintf("[[0 5460 [127.0.0.1 7001 %s []] [127.0.0.1 7004 %s []]] "+
		"[5461 10922 [127.0.0.1 7002 %s [hostname two.example]]] [10923 16383 [::1 7003 %s []]]]", first, replica, second, third), "CLUSTER", "SLOTS")
	group := fmt.Sprint(c.Do("CLUSTER", "MYSHARDID"))
	if !topology.NodeID(group).Valid() {
		t.Errorf("CLUSTER MYSHARDID: %s", group)
	}
	lines, ok := c.Do("CLUSTER", "REPLICAS", string(first)).([]any)
	if !ok || len(lines) != 1 || !strings.HasPrefix(fmt.Sprint(lines[0]), string(replica)+" 127.0.0.1:7004") {
		t.Errorf("CLUSTER REPLICAS: %v", lines)
	}
	expect(t, c, fmt.Sprint(lines), "CLUSTER", "SLAVES", string(first))
	expect(t, c, "[]", "CLUSTER", "REPLICAS", string(second))
	expect(t, c, reply.NodeNotMaster, "CLUSTER", "REPLICAS", string(replica))
	expect(t, c, "ERR Unknown node x", "CLUSTER", "REPLICAS", "x")
	nodes := strings.Split(strings.TrimSpace(fmt.Sprint(c.Do("CLUSTER", "NODES"))), "\n")
	if len(nodes) != 4 || !slices.ContainsFunc(nodes, func(l string) bool {
		return strings.HasPrefix(l, string(first)) && strings.Contains(l, " myself,master ") && strings.HasSuffix(l, " 0-5460")
	}) {
		t.Errorf("CLUSTER NODES:\n%s", strings.Join(nodes, "\n"))
	}
	if shards := c.Do("CLUSTER", "SHARDS").([]any); len(shards) != 3 {
		t.Errorf("CLUSTER SHARDS: %v", shards)
	}
	if help := c.Do("CLUSTER", "HELP").([]any); len(help) < 20 {
		t.Errorf("CLUSTER HELP: %v", help)
	}
}

func TestKeysOfASlotAreCountedAndListed(t *testing.T) {
	_, c := startMember(t, clusterMap(t, slot.Count-1), first)
	expect(t, c, "OK", "MSET", "{hello}1", "1", "{hello}2", "2", "{hello}3", "3")
	expect(t, c, "OK", "SET", "bar", "1")
	expect(t, c, "3", "CLUSTER", "COUNTKEYSINSLOT", "866")
	expect(t, c, "0", "CLUSTER", "COUNTKEYSINSLOT", "867")
	keys := c.Do("CLUSTER", "GETKEYSINSLOT", "866", "100").([]any)
	slices.SortFunc(keys, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	if fmt.Sprint(keys) != "[{hello}1 {hello}2 {hello}3]" {
		t.Errorf("CLUSTER GETKEYSINSLOT: %v", keys)
	}
	if some := c.Do("CLUSTER", "GETKEYSINSLOT", "866", "2").([]any); len(some) != 2 {
		t.Errorf("two of them: %v", some)
	}
	expect(t, c, "[]", "CLUSTER", "GETKEYSINSLOT", "866", "0")
	expect(t, c, "[]", "CLUSTER", "GETKEYSINSLOT", "867", "10")
	expect(t, c, reply.InvalidSlot, "CLUSTER", "COUNTKEYSINSLOT", "16384")
	expect(t, c, reply.NotInteger, "CLUSTER", "COUNTKEYSINSLOT", "x")
	expect(t, c, reply.InvalidSlotOrCount, "CLUSTER", "GETKEYSINSLOT", "866", "-1")
	expect(t, c, reply.InvalidSlotOrCount, "CLUSTER", "GETKEYSINSLOT", "16384", "1")
	expect(t, c, reply.NotInteger, "CLUSTER", "GETKEYSINSLOT", "866", "x")
}

func TestTopologyCommandsNameTheRightWay(t *testing.T) {
	_, c := startMember(t, clusterMap(t, slot.Count-1), first)
	for _, args := range [][]string{
		{"MEET", "127.0.0.1", "7009"}, {"FORGET", string(second)}, {"ADDSLOTS", "1"}, {"ADDSLOTSRANGE", "1", "2"}, {"DELSLOTS", "1"},
		{"DELSLOTSRANGE", "1", "2"}, {"SETSLOT", "1", "STABLE"}, {"REPLICATE", string(first)}, {"FAILOVER"}, {"RESET"},
		{"FLUSHSLOTS"}, {"BUMPEPOCH"}, {"SET-CONFIG-EPOCH", "1"},
	} {
		got := fmt.Sprint(c.Do(append([]string{"CLUSTER"}, args...)...))
		if !strings.HasPrefix(got, "ERR CLUSTER "+args[0]+" is not supported: ") || !strings.Contains(got, "cluster-map") {
			t.Errorf("CLUSTER %q: %s", args, got)
		}
	}
	expect(t, c, "ERR unknown subcommand 'NOPE'. Try CLUSTER HELP.", "CLUSTER", "NOPE")
	expect(t, c, "ERR wrong number of arguments for 'cluster' command", "CLUSTER")
}

func TestNewMapTakesEffectAtOnce(t *testing.T) {
	s, c := startMember(t, clusterMap(t, slot.Count-1), third)
	expect(t, c, "OK", "SET", "foo", "1")
	expect(t, c, "MOVED 866 127.0.0.1:7001", "GET", "hello")
	m, err := topology.Parse(fmt.Appendf(nil, "version 6\ngroup g1 slots 12182\n member %s 127.0.0.1:7001 primary\n"+
		"group g3 slots 0-12181,12183-16383\n member %s 127.0.0.1:7003 primary", first, third))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetMap(m); err != nil {
		t.Fatal(err)
	}
	expect(t, c, "MOVED 12182 127.0.0.1:7001", "GET", "foo")
	expect(t, c, "<nil>", "GET", "hello")
}

// Who waits for a key whose slot goes away is sent after it, also when the key's next
// value comes at the same time; who waits for another goes on waiting.
func TestNewMapTurnsAwayThoseWhoWait(t *testing.T) {
	before := clusterMap(t, slot.Count-1)
	s, c := startMember(t, before, third)
	without := func(rest string) *topology.Map {
		m, err := topology.Parse(fmt.Appendf(nil, "version 6\ngroup g1 slots 12182%s\n member %s 127.0.0.1:7001 primary\n"+
			"group g3 slots 0-12181,12184-16383\n member %s 127.0.0.1:7003 primary", rest, first, third))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	stays := keyIn(13000, 14000)
	a := waitFor(t, s, c, 0, "2", "BLPOP", "foo", "0")
	b := waitFor(t, s, c, 1, "3", "BZPOPMIN", "{foo}z", "0")
	other := waitFor(t, s, c, 2, "2", "BLPOP", stays, "0")
	if err := s.SetMap(without(",12183")); err != nil {
		t.Fatal(err)
	}
	expectRaw(t, a, "-MOVED 12182 127.0.0.1:7001")
	expectRaw(t, b, "-MOVED 12182 127.0.0.1:7001")
	awaitBlocked(t, c, 1)
	expect(t, c, "1", "RPUSH", stays, "x")
	expectRaw(t, other, "*2 $"+strconv.Itoa(len(stays))+" "+stays+" $1 x")

	// A slot that nobody has any more, and one that is on its way.
	if err := s.SetMap(before); err != nil {
		t.Fatal(err)
	}
	a = waitFor(t, s, c, 0, "2", "BLPOP", "foo", "0")
	s.SetDetours(Detours{Slots: map[slot.ID]Detour{12182: {Error: "ASK 12182 127.0.0.1:7001"}}})
	orphan := keyIn(12183, 12183)
	b = waitFor(t, s, c, 1, "2", "BLPOP", orphan, "0")
	if err := s.SetMap(without("")); err != nil {
		t.Fatal(err)
	}
	expectRaw(t, b, "-CLUSTERDOWN Hash slot not served")
	if err := s.SetMap(without(",12183")); err != nil {
		t.Fatal(err)
	}
	awaitBlocked(t, c, 1)
	s.SetDetours(Detours{})
	expectRaw(t, a, "-MOVED 12182 127.0.0.1:7001")
}

// However the waits, the pushes and the maps fall together, every wait ends: with what
// was pushed or with the way to the new owner.
func TestNoWaitOutlivesItsSlot(t *testing.T) {
	here := clusterMap(t, slot.Count-1)
	s, c := startMember(t, here, third)
	gone, err := topology.Parse(fmt.Appendf(nil, "version 6\ngroup g1 slots 12182\n member %s 127.0.0.1:7001 primary\n"+
		"group g3 slots 0-12181,12183-16383\n member %s 127.0.0.1:7003 primary", first, third))
	if err != nil {
		t.Fatal(err)
	}
	pusher := s.dial(t)
	var waits []*redistest.Conn
	for range 4 {
		waits = append(waits, s.dial(t))
	}
	for range 30 {
		for _, w := range waits {
			w.Send("BLPOP", "foo", "0")
		}
		pusher.Send("RPUSH", "foo", "x", "y")
		if err := s.SetMap(gone); err != nil {
			t.Fatal(err)
		}
		for _, w := range waits {
			got := fmt.Sprint(w.Receive())
			if got != "[foo x]" && got != "[foo y]" && got != "MOVED 12182 127.0.0.1:7001" {
				t.Fatalf("a wait ended with %s", got)
			}
		}
		pusher.Receive()
		awaitBlocked(t, c, 0)
		if err := s.SetMap(here); err != nil {
			t.Fatal(err)
		}
		pusher.Do("DEL", "foo")
	}
}

func TestMapsThatDoNotFitAreRefused(t *testing.T) {
	m := clusterMap(t, slot.Count-1)
	stranger := startSubject(t, topology.NodeIDOf("stranger"), 1)
	if err := stranger.SetMap(m); !errors.Is(err, ErrNotInMap) || !strings.Contains(err.Error(), "map version 5") {
		t.Errorf("a node that is not in the map: %v", err)
	}
	expect(t, stranger.dial(t), reply.ClusterDisabled, "CLUSTER", "INFO")
	small := startSubject(t, second, 1)
	if err := small.SetMap(m); err == nil || !strings.Contains(err.Error(), "asks for 2 shards, this node has 1") {
		t.Errorf("a node with too few shards: %v", err)
	}
	expect(t, small.dial(t), "OK", "SET", "foo", "1")
}

// shape replaces what differs between two clusters of the same form.
func shape(v any) string {
	switch v := v.(type) {
	case redistest.Verbatim:
		return "verbatim " + textShape(string(v))
	case string:
		return textShape(v)
	case int64:
		return "int"
	case redistest.Map:
		return "map" + shape([]any(v))
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = shape(v[i])
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprintf("%T %v", v, v)
}

var differing = regexp.MustCompile(`[0-9a-f]{40}|\b\d+\b`)

func textShape(s string) string { return differing.ReplaceAllString(s, "N") }

func TestClusterRepliesHaveTheShapeOfRedis(t *testing.T) {
	oracle := redistest.Start(t, "--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1").Dial(t)
	expect(t, oracle, "OK", "CLUSTER", "ADDSLOTSRANGE", "0", "16383")
	m, err := topology.Parse(fmt.Appendf(nil, "version 1\ngroup g slots 0-16383\n member %s 127.0.0.1:7001 primary bus=17001", first))
	if err != nil {
		t.Fatal(err)
	}
	_, c := startMember(t, m, first)
	for end := 0; ; end++ { // the oracle takes a moment to find itself in order
		if strings.Contains(fmt.Sprint(oracle.Do("CLUSTER", "INFO")), "cluster_state:ok") {
			break
		}
		if end > 1e6 {
			t.Fatal("the redis cluster node does not come up")
		}
	}
	for _, proto := range []string{"2", "3"} {
		oracle.Do("HELLO", proto)
		c.Do("HELLO", proto)
		for _, args := range [][]string{
			{"SLOTS"}, {"SHARDS"}, {"NODES"}, {"INFO"}, {"MYID"}, {"LINKS"}, {"KEYSLOT", "foo"}, {"COUNTKEYSINSLOT", "1"},
			{"GETKEYSINSLOT", "1", "1"}, {"REPLICAS", "x"}, {"COUNTKEYSINSLOT", "x"}, {"COUNTKEYSINSLOT", "99999"},
			{"GETKEYSINSLOT", "1", "-1"}, {"GETKEYSINSLOT", "x", "1"}, {"GETKEYSINSLOT", "16384", "1"}, {"NOPE"}, {"KEYSLOT"}, {"SLOTS", "x"},
		} {
			args = append([]string{"CLUSTER"}, args...)
			if want, got := shape(oracle.Do(args...)), shape(c.Do(args...)); got != want {
				t.Errorf("RESP%s %q:\n  redis-server %s\n  bowline      %s", proto, args, want, got)
			}
		}
	}
}
