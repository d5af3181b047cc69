package topology

import (
	"iter"

	"github.com/bowline-kv/bowline/slot"
)

// Map says who serves what. It is read-only: neither the fields nor what they
// point to may be changed once [New] or [Parse] has returned it, so it may be
// read from anywhere without a lock.
type Map struct {
	// Version grows with every change of the map; of two maps of a cluster the
	// one with the higher version is the newer.
	Version uint64
	// ConfigEpoch is at least as high as every group's Epoch.
	ConfigEpoch uint64
	// Groups are in the order they were given in.
	Groups []*Group

	owners   [slot.Count]owner
	members  map[NodeID]place
	assigned int
}

// owner is who serves a slot: Groups[group-1]; 0: nobody.
type owner struct{ group, shard uint16 }

// place is where a member stands: Groups[group].Members[index].
type place struct{ group, index int }

// Group is a primary and its replicas, which all hold the same shards.
type Group struct {
	// ID is 40 lower-case hexadecimal digits, as CLUSTER MYSHARDID prints it.
	ID string
	// Name is what a file calls the group. The ID is derived from it, or equal
	// to it when it has the form of an id.
	Name string
	// Epoch is the number of the primary's reign.
	Epoch uint64
	// Members has exactly one that is no replica, anywhere in the list.
	Members []Member
	// Slots is ascending and without overlap; adjacent runs differ in shard.
	Slots []slot.Assignment

	primary int // index into Members
	set     slot.Set
}

// Primary returns the member that writes. The result is part of the map.
func (g *Group) Primary() *Member { return &g.Members[g.primary] }

// Replicas yields the other members, in their order.
func (g *Group) Replicas() iter.Seq[*Member] {
	return func(yield func(*Member) bool) {
		for i := range g.Members {
			if g.Members[i].Replica && !yield(&g.Members[i]) {
				return
			}
		}
	}
}

// SlotSet returns the group's slots, whatever their shards.
func (g *Group) SlotSet() slot.Set { return g.set }

// Shards returns how many shards a member needs for the group's slots: one
// more than the highest number in use, 0 without slots.
func (g *Group) Shards() int {
	n := 0
	for _, a := range g.Slots {
		n = max(n, a.Shard+1)
	}
	return n
}

// Owner returns the group that serves a slot and the number of the shard, 0 to
// slot.MaxShard, in it; ok is false when nobody does, or id is no slot. It
// takes constant time and does not allocate.
func (m *Map) Owner(id slot.ID) (g *Group, shard int, ok bool) {
	if int(id) >= len(m.owners) {
		return nil, 0, false
	}
	o := m.owners[id]
	if o.group == 0 {
		return nil, 0, false
	}
	return m.Groups[o.group-1], int(o.shard), true
}

// Member returns a node and its group.
func (m *Map) Member(id NodeID) (*Member, *Group, bool) {
	p, ok := m.members[id]
	if !ok {
		return nil, nil, false
	}
	g := m.Groups[p.group]
	return &g.Members[p.index], g, true
}

// Group returns the group with the given ID or Name.
func (m *Map) Group(name string) (*Group, bool) {
	for _, g := range m.Groups {
		if g.ID == name || g.Name == name {
			return g, true
		}
	}
	return nil, false
}

// Members yields every node with its group, by group, in the order given.
func (m *Map) Members() iter.Seq2[*Group, *Member] {
	return func(yield func(*Group, *Member) bool) {
		for _, g := range m.Groups {
			for i := range g.Members {
				if !yield(g, &g.Members[i]) {
					return
				}
			}
		}
	}
}

// Len returns the number of nodes.
func (m *Map) Len() int { return len(m.members) }

// Assigned returns the number of slots that have an owner, 0 to slot.Count.
func (m *Map) Assigned() int { return m.assigned }

// Covered reports whether every slot has an owner.
func (m *Map) Covered() bool { return m.assigned == slot.Count }
