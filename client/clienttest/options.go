package clienttest

import (
	"log/slog"
	"net"
	"testing"

	"github.com/bowline-kv/bowline/internal/node"
	"github.com/bowline-kv/bowline/internal/topology"
)

// NodesMax is the largest cluster.
const NodesMax = 64

// Options say what to start. The zero value is what [Start] and [StartCluster] use.
type Options struct {
	// Settings are those of a node, by their name in redis.conf, such as "maxmemory" or
	// "requirepass". port, bind and unixsocket have no effect.
	Settings map[string]string
	// Log takes the nodes' log lines; nil: nobody reads them.
	Log *slog.Logger
}

func (o Options) log() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

// Start runs a single server, which ends with the test.
func Start(tb testing.TB) *Node {
	tb.Helper()
	return Options{}.Start(tb)
}

// StartCluster runs a cluster of 1 to [NodesMax] primaries with equal parts of the
// slots. It ends with the test.
func StartCluster(tb testing.TB, nodes int) *Cluster {
	tb.Helper()
	return Options{}.StartCluster(tb, nodes)
}

// Start is the function [Start], with options.
func (o Options) Start(tb testing.TB) *Node {
	tb.Helper()
	l := listen(tb, 1)
	n := newNode(tb, o, l[0], "")
	if err := n.start(); err != nil {
		tb.Fatalf("start a node: %v", err)
	}
	return n
}

// StartCluster is the function [StartCluster], with options.
func (o Options) StartCluster(tb testing.TB, nodes int) *Cluster {
	tb.Helper()
	if nodes < 1 || nodes > NodesMax {
		tb.Fatalf("a cluster of %d nodes: between 1 and %d are possible", nodes, NodesMax)
	}
	c := &Cluster{tb: tb}
	var members []topology.Member
	for _, l := range listen(tb, nodes) {
		id := topology.NodeIDOf("clienttest-" + l.Addr().String())
		c.Nodes = append(c.Nodes, newNode(tb, o, l, id))
		members = append(members, topology.Member{ID: id, Host: node.Loopback, Port: l.Addr().(*net.TCPAddr).Port})
	}
	m, err := topology.Even(members, 1)
	if err != nil {
		tb.Fatalf("make the cluster map: %v", err)
	}
	c.m = m
	for _, n := range c.Nodes {
		n.m = m
		if err := n.start(); err != nil {
			tb.Fatalf("start node %s: %v", n.addr, err)
		}
	}
	return c
}

func listen(tb testing.TB, nodes int) []net.Listener {
	tb.Helper()
	list, err := node.ListenLoopback(nodes, 0)
	if err != nil {
		tb.Fatal(err)
	}
	return list
}
