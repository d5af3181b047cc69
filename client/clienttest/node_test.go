package clienttest

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/client"
)

func TestSingleServer(t *testing.T) {
	n := Start(t)
	c := open(t, client.Options{Addrs: n.Addrs()})
	mustSet(t, c, "a", 1)
	wantText(t, c, "1", "a")
	wantText(t, c, "1", "a")
	if executed, refused := n.Calls("GET"); executed != 2 || refused != 0 {
		t.Errorf("%d GET were executed and %d refused", executed, refused)
	}
	if executed, refused := n.Calls("ZADD"); executed != 0 || refused != 0 {
		t.Errorf("%d ZADD were executed and %d refused", executed, refused)
	}
	openConns, accepted := n.Conns()
	if dials := int(c.Stats().Dials); openConns < 1 || accepted != dials {
		t.Errorf("%d connections are open, %d were accepted, the client opened %d", openConns, accepted, dials)
	}
	c.Close()
	waitFor(t, "the connections' end", func() bool { left, _ := n.Conns(); return left == 0 })
}

func TestClusterSpreadsKeys(t *testing.T) {
	cluster := StartCluster(t, 3)
	c := open(t, client.Options{Addrs: cluster.Addrs()[1:2], RequireCluster: true})
	for _, n := range cluster.Nodes {
		mustSet(t, c, keyOf(cluster, n), n.Addr())
	}
	for _, n := range cluster.Nodes {
		wantText(t, c, n.Addr(), keyOf(cluster, n))
		if executed, refused := n.Calls("set"); executed != 1 || refused != 0 {
			t.Errorf("node %s executed %d SET and refused %d", n.Addr(), executed, refused)
		}
	}
}

func TestKilledNodeComesBackOnItsPort(t *testing.T) {
	cluster := StartCluster(t, 3)
	c := open(t, client.Options{Addrs: cluster.Addrs(), RetryTimeout: time.Second})
	dead := cluster.Nodes[1]
	gone, there := keyOf(cluster, dead), keyOf(cluster, cluster.Nodes[2])
	mustSet(t, c, gone, "x")
	mustSet(t, c, there, "y")

	dead.Kill()
	dead.Kill() // changes nothing
	if dead.Running() {
		t.Error("the node runs")
	}
	if nc, err := net.Dial("tcp", dead.Addr()); err == nil {
		nc.Close()
		t.Error("the port is open")
	}
	waitFor(t, "the client to notice", func() bool { return c.Stats().Drops > 0 })
	if err := c.Set(t.Context(), gone, "z"); !errors.Is(err, client.ErrNoNode) {
		t.Errorf("a key of the dead node: %v", err)
	}
	wantText(t, c, "y", there)

	addr := dead.Addr()
	dead.Restart()
	if dead.Addr() != addr || !dead.Running() {
		t.Errorf("it was at %s and is at %s, running %t", addr, dead.Addr(), dead.Running())
	}
	if _, err := c.Get(t.Context(), gone); !errors.Is(err, client.ErrNil) {
		t.Errorf("a key that was lost: %v", err)
	}
	mustSet(t, c, gone, "again")
	wantText(t, c, "again", gone)
}

// A command that waits for its reply when the node dies may have been executed.
func TestKillBreaksCommandsUnderWay(t *testing.T) {
	n := Start(t)
	c := open(t, client.Options{Addrs: n.Addrs()})
	result := make(chan error, 1)
	go func() {
		_, err := c.BLPop(t.Context(), []string{"queue"}, 0)
		result <- err
	}()
	waitFor(t, "the command", func() bool {
		blocked, err := c.Do(t.Context(), "INFO", "clients").Text()
		return err == nil && strings.Contains(blocked, "blocked_clients:1\r\n")
	})
	n.Kill()
	if err := <-result; !errors.Is(err, client.ErrMaybeExecuted) {
		t.Errorf("got %v", err)
	}
}

func TestSettingsOfTheNode(t *testing.T) {
	dir := t.TempDir()
	n := Options{Settings: map[string]string{
		"requirepass": "secret", "appendonly": "yes", "appendfsync": "always", "dir": dir,
	}}.Start(t)
	if _, err := client.Open(t.Context(), client.Options{Addrs: n.Addrs()}); err == nil {
		t.Error("no password was needed")
	}
	c := open(t, client.Options{Addrs: n.Addrs(), Password: "secret"})
	mustSet(t, c, "a", "kept")
	n.Kill()
	n.Restart()
	waitFor(t, "the client to notice", func() bool { return c.Stats().Drops > 0 })
	wantText(t, c, "kept", "a")
	if executed, _ := n.Calls("get"); executed != 1 {
		t.Errorf("%d GET since the restart", executed)
	}
}

func TestMisuseEndsTheTest(t *testing.T) {
	cluster := StartCluster(t, 2)
	other := StartCluster(t, 1)
	cases := map[string]struct {
		want string
		run  func(tb testing.TB)
	}{
		"no nodes":       {"a cluster of 0 nodes: between 1 and 64 are possible", func(tb testing.TB) { StartCluster(tb, 0) }},
		"many nodes":     {"a cluster of 65 nodes: ", func(tb testing.TB) { StartCluster(tb, 65) }},
		"setting":        {"start a node: ", func(tb testing.TB) { Options{Settings: map[string]string{"maxclients": "many"}}.Start(tb) }},
		"unknown":        {"start a node: ", func(tb testing.TB) { Options{Settings: map[string]string{"no-such": "1"}}.Start(tb) }},
		"cluster":        {"start node ", func(tb testing.TB) { Options{Settings: map[string]string{"no-such": "1"}}.StartCluster(tb, 2) }},
		"slot":           {"slot 16384: between 0 and 16383 are possible", func(tb testing.TB) { as(cluster, tb).SlotOwner(16384) }},
		"negative slot":  {"slot -1: ", func(tb testing.TB) { as(cluster, tb).MoveSlot(-1, cluster.Nodes[0]) }},
		"stranger":       {"the node is of another cluster", func(tb testing.TB) { as(cluster, tb).MoveSlot(1, other.Nodes[0]) }},
		"ask the owner":  {"ask for slot 1: ", func(tb testing.TB) { as(cluster, tb).AskSlot(1, cluster.Nodes[0]) }},
		"no error":       {"refuse slot 1: ", func(tb testing.TB) { as(cluster, tb).RefuseSlot(1, "") }},
		"two lines":      {"refuse slot 1: ", func(tb testing.TB) { as(cluster, tb).RefuseSlot(1, "ERR a\r\n+OK") }},
		"restart":        {"restart node ", func(tb testing.TB) { n := cluster.Nodes[0]; n2 := nodeAs(n, tb); n2.Restart() }},
		"calls when off": {"count commands of node ", func(tb testing.TB) { other.Nodes[0].Kill(); nodeAs(other.Nodes[0], tb).Calls("get") }},
	}
	for name, test := range cases {
		if got := failure(t, test.run); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// as gives a cluster whose failures another test gets.
func as(c *Cluster, tb testing.TB) *Cluster { return &Cluster{Nodes: c.Nodes, tb: tb, m: c.m} }

func nodeAs(n *Node, tb testing.TB) *Node {
	return &Node{tb: tb, opt: n.opt, id: n.id, addr: n.addr, door: n.door, running: n.running, inside: n.inside, m: n.m}
}
