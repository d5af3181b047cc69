package clienttest

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/node"
	"github.com/bowline-kv/bowline/internal/server"
	"github.com/bowline-kv/bowline/internal/topology"
	"github.com/bowline-kv/bowline/slot"
)

// Node is a server: alone, or of a [Cluster].
type Node struct {
	tb       testing.TB
	opt      Options
	id       topology.NodeID
	addr     string
	password string // of the settings; "": none
	door     *door

	life sync.Mutex // held while the node is stopped or restarted

	mu      sync.Mutex
	running *node.Node     // nil: killed; guarded by mu
	inside  net.Addr       // a second port of running, without faults; guarded by mu
	m       *topology.Map  // nil: alone; guarded by mu
	detours server.Detours // guarded by mu
}

const (
	// stopTimeout bounds the end of a node.
	stopTimeout = 30 * time.Second
	// bindTimeout is for how long Restart tries to get its port back.
	bindTimeout = 10 * time.Second
	bindPause   = 10 * time.Millisecond
)

// newNode makes a node that does not run yet, on a listener that becomes its own.
func newNode(tb testing.TB, opt Options, l net.Listener, id topology.NodeID) *Node {
	n := &Node{tb: tb, opt: opt, id: id, addr: l.Addr().String()}
	n.detours.Slots = map[slot.ID]server.Detour{}
	n.door = newDoor(l)
	tb.Cleanup(func() {
		if err := n.stop(false); err != nil {
			tb.Errorf("stop node %s: %v", n.addr, err)
		}
	})
	return n
}

// start runs the node behind its door. n.mu is held, or nobody has n yet.
func (n *Node) start() error {
	cfg := config.New()
	for name, value := range n.opt.Settings {
		if err := cfg.Load(name, []string{value}, "clienttest"); err != nil {
			return err
		}
	}
	n.password = cfg.String(config.RequirePass)
	inside, err := node.ListenLoopback(1, 0)
	if err != nil {
		return err
	}
	running, err := node.Start(node.Options{
		Config: cfg, Version: "clienttest", Log: n.opt.log().With("node", n.addr),
		Listeners: []net.Listener{n.door, inside[0]}, Map: n.m, NodeID: n.id,
	})
	if err != nil {
		node.CloseListeners(inside)
		return err
	}
	n.running, n.inside = running, inside[0].Addr()
	return nil
}

// stop ends the node; abruptly says that connections are reset before anything else.
func (n *Node) stop(abruptly bool) error {
	n.life.Lock()
	defer n.life.Unlock()
	n.mu.Lock()
	running := n.running
	n.running = nil
	n.mu.Unlock()
	if abruptly {
		n.door.breakDown()
	}
	n.door.Resume() // what is held back would never end
	if running == nil {
		return n.door.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return running.Stop(ctx)
}

// Addr returns the node's "host:port". It stays the same over [Node.Restart].
func (n *Node) Addr() string { return n.addr }

// Addrs returns the address alone in a list, as client.Options wants it.
func (n *Node) Addrs() []string { return []string{n.addr} }

// Kill ends the node as clients see a crash: its connections are reset at once and its
// port is closed. What its settings say of the disk is done as at an orderly stop: a
// node with save points writes its snapshot. Killing a dead node does nothing.
func (n *Node) Kill() {
	n.tb.Helper()
	if err := n.stop(true); err != nil {
		n.tb.Fatalf("kill node %s: %v", n.addr, err)
	}
}

// Restart runs a killed node again, on the same port and without keys, unless its
// settings keep them on disk. Faults that were set before are gone. In a cluster it
// has the cluster's map of now.
func (n *Node) Restart() {
	n.tb.Helper()
	if err := n.restart(); err != nil {
		n.tb.Fatalf("restart node %s: %v", n.addr, err)
	}
}

var errRuns = errors.New("it runs")

func (n *Node) restart() error {
	n.life.Lock()
	defer n.life.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.running != nil {
		return errRuns
	}
	l, err := listenAgain(n.addr)
	if err != nil {
		return err
	}
	n.door.reopen(l)
	if err := n.start(); err != nil {
		return errors.Join(err, n.door.Close())
	}
	if n.m != nil {
		n.running.SetDetours(n.detours)
	}
	return nil
}

// listenAgain opens a port that was the node's a moment ago. The system may have lent
// it to an outgoing connection meanwhile.
func listenAgain(addr string) (net.Listener, error) {
	for end := time.Now().Add(bindTimeout); ; time.Sleep(bindPause) {
		l, err := net.Listen("tcp4", addr)
		if err == nil || time.Now().After(end) {
			return l, err
		}
	}
}

// Running reports whether the node runs: it was not killed, or restarted since.
func (n *Node) Running() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.running != nil
}

// setMap gives the node a new map. A dead node gets it with its restart.
func (n *Node) setMap(m *topology.Map) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.m == m {
		return nil
	}
	n.m = m
	if n.running == nil {
		return nil
	}
	return n.running.SetMap(m)
}

// detour makes commands on a slot get an error; with asking, they run after ASKING.
func (n *Node) detour(id slot.ID, text string, asking bool) {
	n.change(func(d *server.Detours) { d.Slots[id] = server.Detour{Error: text, Asking: asking} })
}

// clear ends a detour.
func (n *Node) clear(id slot.ID) {
	n.change(func(d *server.Detours) { delete(d.Slots, id) })
}

func (n *Node) change(f func(*server.Detours)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f(&n.detours)
	if n.running != nil {
		n.running.SetDetours(n.detours)
	}
}
