package client

import (
	"math/rand/v2"

	"github.com/bowline-kv/bowline/client/internal/announce"
	"github.com/bowline-kv/bowline/slot"
)

// topology is one view of the cluster. It never changes once it can be seen: a new one
// takes its place, so a reader sees the old or the new one and never half.
type topology struct {
	groups []*group
	owner  [slot.Count]uint16 // the slot's group by number + 1; 0: nobody serves it
	nodes  map[string]*node   // by address, all of groups
	// standalone: there is one server, which has all keys.
	standalone bool
}

// group is a primary and its replicas. Shared and immutable.
type group struct {
	primary  *node
	replicas []*node // those that are online
}

// group gives who serves a slot; nil: nobody. Without a slot it is any group.
func (t *topology) group(at int) *group {
	switch {
	case t.standalone:
		return t.groups[0]
	case at >= 0:
		if n := t.owner[at]; n > 0 {
			return t.groups[n-1]
		}
		return nil
	case len(t.groups) == 0:
		return nil
	}
	return t.groups[rand.IntN(len(t.groups))]
}

// patch gives a view in which a slot belongs to the node n.
func (t *topology) patch(at int, n *node) *topology {
	if g := t.group(at); g != nil && g.primary == n {
		return t
	}
	next := *t
	number := uint16(0)
	for i, g := range t.groups {
		if g.primary == n {
			number = uint16(i) + 1
			break
		}
	}
	if number == 0 {
		// A replica that was promoted, or a node not heard of: alone until the map
		// says who its replicas are.
		next.groups = append(t.groups[:len(t.groups):len(t.groups)], &group{primary: n})
		number = uint16(len(next.groups))
	}
	next.owner[at] = number
	if t.nodes[n.addr] == nil {
		next.nodes = make(map[string]*node, len(t.nodes)+1)
		for addr, known := range t.nodes {
			next.nodes[addr] = known
		}
		next.nodes[n.addr] = n
	}
	return &next
}

// primaries gives the nodes that serve slots, each once.
func (t *topology) primaries() []*node {
	if t.standalone {
		return []*node{t.groups[0].primary}
	}
	serves := make([]bool, len(t.groups))
	for _, n := range t.owner {
		if n > 0 {
			serves[n-1] = true
		}
	}
	var list []*node
	for i, g := range t.groups {
		if serves[i] {
			list = append(list, g.primary)
		}
	}
	return list
}

// shuffled gives all nodes in random order.
func (t *topology) shuffled() []*node {
	list := make([]*node, 0, len(t.nodes))
	for _, n := range t.nodes {
		list = append(list, n)
	}
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// build makes a topology of what a server said; nodeFor gives the node of an address.
func build(l *announce.Map, nodeFor func(addr, serverName string) *node) *topology {
	t := &topology{nodes: map[string]*node{}, standalone: l.Standalone}
	for _, lg := range l.Groups {
		g, failed := &group{}, false
		for i := range lg.Members {
			m := &lg.Members[i]
			n := nodeFor(m.Addr, m.ServerName)
			t.nodes[n.addr] = n
			if m.Zone != "" {
				n.zone.Store(&m.Zone)
			}
			switch {
			case m.Primary && (g.primary == nil || failed && !m.Offline):
				// A dead primary is listed beside the one that took its place.
				g.primary, failed = n, m.Offline
			case !m.Primary && !m.Offline:
				g.replicas = append(g.replicas, n)
			}
		}
		if g.primary == nil {
			continue
		}
		t.groups = append(t.groups, g)
		for _, r := range lg.Slots {
			for at := r.First; at <= r.Last; at++ {
				t.owner[at] = uint16(len(t.groups))
			}
		}
	}
	return t
}
