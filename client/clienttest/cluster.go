package clienttest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/bowline-kv/bowline/internal/topology"
	"github.com/bowline-kv/bowline/slot"
)

// Cluster is a running cluster of primaries.
type Cluster struct {
	// Nodes are the nodes, in the order of their first slots. Not to be changed.
	Nodes []*Node

	tb testing.TB
	mu sync.Mutex
	m  *topology.Map // guarded by mu
	// asked has, for slots that AskSlot was called for, the node with the keys;
	// guarded by mu.
	asked map[slot.ID]*Node
}

// tryAgain is what a slot answers while its keys are carried to another node.
const tryAgain = "TRYAGAIN Multiple keys request during rehashing of slot"

// Addrs returns the addresses of all nodes, as client.Options wants them.
func (c *Cluster) Addrs() []string {
	var list []string
	for _, n := range c.Nodes {
		list = append(list, n.addr)
	}
	return list
}

// Owner returns the node that the cluster's map names for a key.
func (c *Cluster) Owner(key string) *Node { return c.SlotOwner(int(slot.OfString(key))) }

// SlotOwner returns the node that the cluster's map names for a slot, 0 to 16383.
func (c *Cluster) SlotOwner(id int) *Node {
	c.tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owner(c.slot(id))
}

func (c *Cluster) owner(id slot.ID) *Node {
	g, _, _ := c.m.Owner(id)
	return c.node(g.Primary().ID)
}

func (c *Cluster) node(id topology.NodeID) *Node {
	return c.Nodes[slices.IndexFunc(c.Nodes, func(n *Node) bool { return n.id == id })]
}

func (c *Cluster) slot(id int) slot.ID {
	c.tb.Helper()
	if id < 0 || id >= slot.Count {
		c.tb.Fatalf("slot %d: between 0 and %d are possible", id, slot.Count-1)
	}
	return slot.ID(id)
}

// MoveSlot moves a slot and its keys to another node, and gives all nodes the new map.
// Clients that ask the old owner are answered MOVED; while the keys are carried over,
// TRYAGAIN. A dead owner's keys stay lost: the slot is empty then, as after a failover
// without a replica. A client that waits in a blocking command for a key of the slot is
// not told, and waits on.
func (c *Cluster) MoveSlot(id int, to *Node) {
	c.tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.slot(id)
	c.mine(to)
	if err := c.move(at, to); err != nil {
		c.tb.Fatalf("move slot %d to %s: %v", id, to.addr, err)
	}
}

// AskSlot brings a slot to the state in which its keys are with another node and the map
// does not say so yet, as in the middle of a move: the owner answers ASK for every key,
// and the other node serves the slot after ASKING only. [Cluster.MoveSlot] ends it, to
// either of the two.
func (c *Cluster) AskSlot(id int, to *Node) {
	c.tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.slot(id)
	c.mine(to)
	owner := c.owner(at)
	if to == owner {
		c.tb.Fatalf("ask for slot %d: %s is its owner", id, to.addr)
	}
	holder := c.holder(at)
	owner.detour(at, tryAgain, false)
	if holder != owner {
		holder.detour(at, tryAgain, false)
	}
	to.detour(at, tryAgain, false)
	if err := carry(at, holder, to); err != nil {
		c.tb.Fatalf("carry slot %d to %s: %v", id, to.addr, err)
	}
	if holder != owner && holder != to {
		holder.clear(at)
	}
	to.detour(at, fmt.Sprintf("MOVED %d %s", id, owner.addr), true)
	if c.asked == nil {
		c.asked = map[slot.ID]*Node{}
	}
	c.asked[at] = to
	owner.detour(at, fmt.Sprintf("ASK %d %s", id, to.addr), false)
}

// RefuseSlot makes the owner of a slot answer every command on its keys with an error
// line, such as "TRYAGAIN ..." or "CLUSTERDOWN ...", until [Cluster.AllowSlot] or a move of
// the slot. Nothing is executed meanwhile. An empty text, or one with a line break, ends
// the test.
func (c *Cluster) RefuseSlot(id int, text string) {
	c.tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.slot(id)
	if text == "" || slices.ContainsFunc([]byte(text), func(b byte) bool { return b == '\r' || b == '\n' }) {
		c.tb.Fatalf("refuse slot %d: %q is no error line", id, text)
	}
	if c.asked[at] != nil {
		c.tb.Fatalf("refuse slot %d: it is on its way to another node", id)
	}
	c.owner(at).detour(at, text, false)
}

// AllowSlot ends [Cluster.RefuseSlot].
func (c *Cluster) AllowSlot(id int) {
	c.tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.slot(id)
	if c.asked[at] == nil {
		c.owner(at).clear(at)
	}
}

// mine checks that a node belongs to the cluster.
func (c *Cluster) mine(n *Node) {
	c.tb.Helper()
	if !slices.Contains(c.Nodes, n) {
		c.tb.Fatal("the node is of another cluster")
	}
}

// holder is the node that has the keys of a slot.
func (c *Cluster) holder(id slot.ID) *Node {
	if n := c.asked[id]; n != nil {
		return n
	}
	return c.owner(id)
}

func (c *Cluster) move(id slot.ID, to *Node) error {
	owner, holder := c.owner(id), c.holder(id)
	m, err := reassign(c.m, id, to.id)
	if err != nil {
		return err
	}
	for _, n := range []*Node{owner, holder, to} {
		n.detour(id, tryAgain, false)
	}
	if err := carry(id, holder, to); err != nil {
		return err
	}
	c.m = m
	delete(c.asked, id)
	// The new owner is the first to know: it serves before anybody sends clients there.
	// The nodes that make clients wait come next.
	for _, n := range append([]*Node{to, owner, holder}, c.Nodes...) {
		if err := n.setMap(m); err != nil {
			return err
		}
		n.clear(id)
	}
	return nil
}

// reassign gives the next version of a map, in which a node's group has one slot more.
func reassign(m *topology.Map, id slot.ID, to topology.NodeID) (*topology.Map, error) {
	var groups []topology.Group
	for _, g := range m.Groups {
		next := topology.Group{ID: g.ID, Name: g.Name, Epoch: g.Epoch, Members: g.Members}
		for _, a := range g.Slots {
			next.Slots = append(next.Slots, without(a, id)...)
		}
		if g.Primary().ID == to {
			next.Epoch = m.ConfigEpoch + 1
			next.Slots = append(next.Slots, slot.Assignment{Range: slot.Range{First: id, Last: id}})
		}
		groups = append(groups, next)
	}
	return topology.New(m.Version+1, 0, groups)
}

// without cuts a slot out of an assignment.
func without(a slot.Assignment, id slot.ID) []slot.Assignment {
	if id < a.First || id > a.Last {
		return []slot.Assignment{a}
	}
	var parts []slot.Assignment
	if a.First < id {
		parts = append(parts, slot.Assignment{Range: slot.Range{First: a.First, Last: id - 1}, Shard: a.Shard})
	}
	if id < a.Last {
		parts = append(parts, slot.Assignment{Range: slot.Range{First: id + 1, Last: a.Last}, Shard: a.Shard})
	}
	return parts
}
