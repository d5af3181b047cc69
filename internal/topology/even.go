package topology

import (
	"errors"
	"fmt"

	"github.com/bowline-kv/bowline/slot"
)

// Even makes the map of a new cluster: one group for each node that is no
// replica, with equal parts of the slots and of those equal parts for each of
// shardsPerNode shards. Replicas join the groups in turn. Groups are called
// g1, g2, ... and have the epochs 1, 2, ...; the version is 1.
func Even(nodes []Member, shardsPerNode int) (*Map, error) {
	var groups []Group
	for _, m := range nodes {
		if !m.Replica {
			groups = append(groups, Group{Members: []Member{m}})
		}
	}
	switch n := len(groups); {
	case n == 0:
		return nil, errors.New("a cluster needs a primary")
	case shardsPerNode < 1 || n > slot.Count/shardsPerNode:
		return nil, fmt.Errorf("%d slots do not suffice for %d primaries with %d shards each", slot.Count, n, shardsPerNode)
	}
	replicas := 0
	for _, m := range nodes {
		if m.Replica {
			g := &groups[replicas%len(groups)]
			g.Members = append(g.Members, m)
			replicas++
		}
	}
	for i := range groups {
		groups[i].Name = fmt.Sprintf("g%d", i+1)
		groups[i].Epoch = uint64(i + 1)
		part := share(slot.Range{First: 0, Last: slot.Count - 1}, i, len(groups))
		for shard := range shardsPerNode {
			groups[i].Slots = append(groups[i].Slots, slot.Assignment{Range: share(part, shard, shardsPerNode), Shard: shard})
		}
	}
	return New(1, 0, groups)
}

// share returns the i-th of n parts of r, whose lengths differ by at most one.
func share(r slot.Range, i, n int) slot.Range {
	border := func(i int) slot.ID { return r.First + slot.ID((i*r.Len()+n/2)/n) }
	return slot.Range{First: border(i), Last: border(i+1) - 1}
}
