package topology

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// oracle is a redis-server that serves all slots, and its map as we have it.
func oracle(t *testing.T, args ...string) (*redistest.Conn, *Map, *View) {
	t.Helper()
	srv := redistest.Start(t, append([]string{"--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1"}, args...)...)
	conn := srv.Dial(t)
	if got := fmt.Sprint(conn.Do("CLUSTER", "ADDSLOTSRANGE", "0", "5460", "5462", "16383")); got != "OK" {
		t.Fatal(got)
	}
	id := NodeID(fmt.Sprint(conn.Do("CLUSTER", "MYID")))
	_, port, err := net.SplitHostPort(srv.Addr)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	self := Member{ID: id, Host: "127.0.0.1", Port: n}
	for i, arg := range args {
		if arg == "--cluster-announce-hostname" {
			self.Hostname = args[i+1]
		}
	}
	// Two shards side by side must not show.
	slots, err := slot.ParseAssignments("0-99@0,100-5460@1,5462-16383@0")
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(1, 0, []Group{{Name: "g", Members: []Member{self}, Slots: slots}})
	if err != nil {
		t.Fatal(err)
	}
	return conn, m, &View{Self: id}
}

func compare(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if string(got) != string(want) {
		t.Errorf("%s:\n   got %q\n redis %q", what, got, want)
	}
}

func TestRepliesHaveTheBytesOfRedis(t *testing.T) {
	endpoints := map[string]Endpoint{"ip": ByIP, "hostname": ByHostname, "unknown-endpoint": ByNothing}
	for _, hostname := range []string{"", "db4.example"} {
		conn, m, v := oracle(t, "--cluster-announce-hostname", hostname)
		for proto := 2; proto <= 3; proto++ {
			conn.Do("HELLO", strconv.Itoa(proto))
			for word, endpoint := range endpoints {
				conn.Do("CONFIG", "SET", "cluster-preferred-endpoint-type", word)
				v.Endpoint = endpoint
				where := fmt.Sprintf("RESP%d by %s, hostname %q", proto, word, hostname)
				w := resp.Writer{Proto: proto}
				AppendSlots(&w, m, v)
				compare(t, "CLUSTER SLOTS, "+where, w.B, conn.Raw("CLUSTER", "SLOTS"))
				w.B = nil
				AppendShards(&w, m, v)
				compare(t, "CLUSTER SHARDS, "+where, w.B, conn.Raw("CLUSTER", "SHARDS"))
			}
		}
	}
}

func TestTextsAreThoseOfRedis(t *testing.T) {
	conn, m, v := oracle(t, "--cluster-announce-hostname", "db4.example", "--cluster-require-full-coverage", "no")
	compare(t, "CLUSTER NODES", []byte(NodesText(m, v)), []byte(fmt.Sprint(conn.Do("CLUSTER", "NODES"))))
	v.Partial = true
	info := fmt.Sprint(conn.Do("CLUSTER", "INFO"))
	// A node begins with state fail and looks again after some time.
	info = regexp.MustCompile(`cluster_state:\w+`).ReplaceAllString(info, "cluster_state:ok")
	compare(t, "CLUSTER INFO", []byte(InfoText(m, v)), []byte(info))
}

func TestMovedHasTheAddressOfRedis(t *testing.T) {
	m := mustParse(t, read(t, "three_groups.map"))
	g1, g2, g3 := m.Groups[0], m.Groups[1], m.Groups[2]
	for _, c := range []struct {
		v    View
		m    *Member
		want string
	}{
		{View{}, g1.Primary(), "127.0.0.1:7001"},
		{View{TLS: true}, g1.Primary(), "127.0.0.1:7001"},
		{View{}, g2.Primary(), "2001:db8::2:7005"},
		{View{TLS: true}, g2.Primary(), "2001:db8::2:7105"},
		{View{}, g3.Primary(), "db3.example:7103"},
		{View{Endpoint: ByHostname}, g1.Primary(), "?:7001"},
		{View{Endpoint: ByHostname}, &g1.Members[1], "db4.example:7004"},
		{View{Endpoint: ByNothing}, g1.Primary(), ":7001"},
	} {
		if got := string(c.v.AppendAddress(nil, c.m)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestNodesTextOfAClusterWithReplicasAndFailures(t *testing.T) {
	m := mustParse(t, read(t, "three_groups.map"))
	v := &View{Self: "1b22b8f86e2a4bd3e4a1a3a9e35cbda4ee0a1b2c", NowMillis: 1700000000000}
	want := `07c37dfeb235213a872192d90877d0cd55635b91 127.0.0.1:7001@17001 master - 0 1700000000000 3 connected 0-5460
1b22b8f86e2a4bd3e4a1a3a9e35cbda4ee0a1b2c 127.0.0.1:7004@17004,db4.example myself,slave 07c37dfeb235213a872192d90877d0cd55635b91 0 0 3 connected
5d9a1f3c2b4e6a8092837465564738291a0b1c2d ::1:7002@17002 slave 6e0b2f4d3c5f7b91a394857667584930ab1c2d3e 0 1700000000000 5 connected
6e0b2f4d3c5f7b91a394857667584930ab1c2d3e 2001:db8::2:7005@17005 master - 0 1700000000000 5 connected 5461-10922
7f1c305e4d60820b495a6b7c8d9eafb0c1d2e3f4 db3.example:7103@0 master,fail - 0 0 0 disconnected 10923-16383
80112233445566778899aabbccddeeff00112233 10.0.0.9:7009@17009 master - 0 1700000000000 0 connected
`
	if got := NodesText(m, v); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if line, ok := NodeLine(m, v.Self, v); !ok || line != strings.Split(want, "\n")[1] {
		t.Errorf("got %q, %v", line, ok)
	}
	if _, ok := NodeLine(m, "x", v); ok {
		t.Error("found a node that is not there")
	}
	v.MessagesSent = 5
	info := InfoText(m, v)
	for _, line := range []string{"cluster_state:fail", "cluster_slots_assigned:16384", "cluster_slots_ok:10923", "cluster_slots_fail:5461",
		"cluster_known_nodes:6", "cluster_size:3", "cluster_current_epoch:5", "cluster_my_epoch:3", "cluster_stats_messages_sent:5"} {
		if !strings.Contains(info, line+"\r\n") {
			t.Errorf("no %s in\n%s", line, info)
		}
	}
}

func TestSlotsListReplicasThatHaveData(t *testing.T) {
	m := mustParse(t, read(t, "three_groups.map"))
	var w resp.Writer
	AppendSlots(&w, m, &View{})
	text := string(w.B)
	if !strings.HasPrefix(text, "*3\r\n*4\r\n:0\r\n:5460\r\n*4\r\n$9\r\n127.0.0.1\r\n:7001\r\n") || strings.Contains(text, "5d9a1f") {
		t.Errorf("got %q", text)
	}
	w.B = nil
	AppendShards(&w, m, &View{Offset: func(NodeID) int64 { return 42 }})
	text = string(w.B)
	for word, n := range map[string]int{"$6\r\nmaster": 4, "$7\r\nreplica\r\n": 2, "loading": 1, "$4\r\nfail": 1, "online": 4, ":42\r\n": 6, "tls-port": 2, "$4\r\nport": 5} {
		if got := strings.Count(text, word); got != n {
			t.Errorf("%q stands %d times, not %d, in %q", word, got, n, text)
		}
	}
}
