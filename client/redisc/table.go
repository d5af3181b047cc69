package redisc

import (
	"slices"

	"github.com/bowline-kv/bowline/client/internal/announce"
)

// table says which nodes serve the slots. It never changes once it can be seen: a new one
// takes its place.
type table struct {
	owner  [HashSlots]int32 // the slot's group by number + 1; 0: nobody serves it
	groups [][]string       // addresses, the primary first

	// primaries have slots, replicas are the other nodes of their groups.
	primaries, replicas []string
}

func newTable(m *announce.Map) *table {
	t := &table{}
	for _, g := range m.Groups {
		var addrs []string
		for _, member := range g.Members {
			if !slices.Contains(addrs, member.Addr) {
				addrs = append(addrs, member.Addr)
			}
		}
		if len(addrs) == 0 {
			continue
		}
		t.groups = append(t.groups, addrs)
		for _, r := range g.Slots {
			for at := r.First; at <= r.Last; at++ {
				t.owner[at] = int32(len(t.groups))
			}
		}
	}
	t.count()
	return t
}

// serving gives the nodes of a slot, the primary first; nil: none is known. The result
// is shared.
func (t *table) serving(at int) []string {
	if at < 0 || t.owner[at] == 0 {
		return nil
	}
	return t.groups[t.owner[at]-1]
}

// patch gives a table in which the slot's primary is at addr.
func (t *table) patch(at int, addr string) *table {
	next := &table{owner: t.owner, groups: t.groups}
	number := slices.IndexFunc(t.groups, func(g []string) bool { return g[0] == addr })
	if number < 0 {
		// A replica that was promoted, or a node not heard of: alone until the map says
		// who its replicas are.
		number = len(t.groups)
		next.groups = append(t.groups[:number:number], []string{addr})
	}
	next.owner[at] = int32(number) + 1
	next.count()
	return next
}

// count fills in primaries and replicas.
func (t *table) count() {
	serves := make([]bool, len(t.groups)+1)
	for _, number := range t.owner {
		serves[number] = true
	}
	seen := map[string]bool{}
	for i, g := range t.groups {
		if serves[i+1] && !seen[g[0]] {
			seen[g[0]] = true
			t.primaries = append(t.primaries, g[0])
		}
	}
	for i, g := range t.groups {
		for _, addr := range g[1:] {
			if serves[i+1] && !seen[addr] {
				seen[addr] = true
				t.replicas = append(t.replicas, addr)
			}
		}
	}
}

// slots gives the nodes of every slot, for [Cluster.LayoutRefresh]. The lists are copies.
func (t *table) slots() (all [HashSlots][]string) {
	groups := make([][]string, len(t.groups)+1)
	for i, g := range t.groups {
		groups[i+1] = slices.Clone(g)
	}
	for at, number := range t.owner {
		all[at] = groups[number]
	}
	return all
}
