// Package devcluster is a whole cluster in one process: several nodes on
// loopback, the slots in equal parts, nothing written to disk. `bowline dev` and
// tests start it with [Start].
package devcluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/node"
	"github.com/bowline-kv/bowline/internal/topology"
)

// NodesMax is the largest number of nodes: they share one process.
const NodesMax = 64

// Options say what cluster to start.
type Options struct {
	// Nodes is the number of nodes, 1 to [NodesMax].
	Nodes int
	// Port is the first node's port; the others follow. A port that is taken is
	// passed over. 0: any free ports.
	Port int
	// Shards is the number of shards of each node, at least 1.
	Shards int
	// Version is the program's version.
	Version string
	// Log takes the nodes' log lines.
	Log *slog.Logger
	// TLS gives each node a port for TLS too, any free one; Configure then has to
	// name a certificate.
	TLS bool
	// Configure changes a node's settings before it starts; nil: the defaults.
	Configure func(index int, cfg *config.Config) error
}

// Cluster is a running cluster.
type Cluster struct {
	// Map is the cluster map that all nodes serve by.
	Map *topology.Map
	// Nodes are the nodes, in the order of the map.
	Nodes []*node.Node
}

// Start starts the nodes. When it returns an error nothing is left running.
func Start(o Options) (*Cluster, error) {
	if o.Nodes < 1 || o.Nodes > NodesMax {
		return nil, fmt.Errorf("a cluster of %d nodes: between 1 and %d are possible", o.Nodes, NodesMax)
	}
	listeners, err := node.ListenLoopback(o.Nodes, o.Port)
	if err != nil {
		return nil, err
	}
	secure := make([]net.Listener, o.Nodes)
	if o.TLS {
		if secure, err = node.ListenLoopback(o.Nodes, 0); err != nil {
			node.CloseListeners(listeners)
			return nil, err
		}
	}
	closeAll := func(from int) {
		node.CloseListeners(listeners[from:])
		if o.TLS {
			node.CloseListeners(secure[from:])
		}
	}
	members := make([]topology.Member, o.Nodes)
	for i, l := range listeners {
		members[i] = topology.Member{
			ID:   topology.NodeIDOf("dev-" + strconv.Itoa(i+1)),
			Host: node.Loopback,
			Port: l.Addr().(*net.TCPAddr).Port,
		}
		if o.TLS {
			members[i].TLSPort = secure[i].Addr().(*net.TCPAddr).Port
		}
	}
	c := &Cluster{}
	if c.Map, err = topology.Even(members, max(o.Shards, 1)); err != nil {
		closeAll(0)
		return nil, fmt.Errorf("make the cluster map: %w", err)
	}
	for i, l := range listeners {
		n, err := startNode(o, i, l, secure[i], c.Map, members[i].ID)
		if err != nil {
			closeAll(i)
			return nil, errors.Join(fmt.Errorf("start node %d: %w", i+1, err), c.Stop(context.Background()))
		}
		c.Nodes = append(c.Nodes, n)
	}
	return c, nil
}

func startNode(o Options, index int, l, secure net.Listener, m *topology.Map, id topology.NodeID) (*node.Node, error) {
	cfg := config.New()
	if o.Configure != nil {
		if err := o.Configure(index, cfg); err != nil {
			return nil, err
		}
	}
	options := node.Options{
		Config: cfg, Version: o.Version, Log: o.Log.With("node", index+1),
		Listeners: []net.Listener{l}, Map: m, NodeID: id,
	}
	if secure != nil {
		options.TLSListeners = []net.Listener{secure}
	}
	return node.Start(options)
}

// Stop ends all nodes, as [node.Node.Stop] does.
func (c *Cluster) Stop(ctx context.Context) error {
	var errs []error
	for _, n := range c.Nodes {
		errs = append(errs, n.Stop(ctx))
	}
	return errors.Join(errs...)
}
