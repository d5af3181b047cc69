package topology

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/bowline-kv/bowline/slot"
)

// GroupsMax is the most groups that a map may have: more could not all have a
// slot.
const GroupsMax = slot.Count

// New makes a map out of its parts and copies what it keeps of them. A group
// needs an ID or a Name; the other is derived. A configEpoch of 0 means the
// highest epoch of the groups. The error says what is not consistent.
func New(version, configEpoch uint64, groups []Group) (*Map, error) {
	b := newBuilder()
	for i := range groups {
		if err := b.group(groups[i]); err != nil {
			return nil, err
		}
		for _, m := range groups[i].Members {
			if err := b.member(m); err != nil {
				return nil, fmt.Errorf("group %s: %w", groups[i].label(), err)
			}
		}
		if err := b.endGroup(); err != nil {
			return nil, err
		}
	}
	return b.finish(version, configEpoch)
}

// label is what messages call a group.
func (g *Group) label() string { return clip(cmp.Or(g.Name, g.ID)) }

// builder takes a map's parts one at a time and refuses the first that does
// not fit, so that its user can say where that one stands.
type builder struct {
	m         *Map
	ids       map[string]string // names and ids of groups, to the group's label
	addresses map[address]NodeID
}

type address struct {
	host string
	port int
}

func newBuilder() *builder {
	return &builder{
		m:         &Map{members: map[NodeID]place{}},
		ids:       map[string]string{},
		addresses: map[address]NodeID{},
	}
}

// group starts a group; g.Members is not looked at.
func (b *builder) group(g Group) error {
	if len(b.m.Groups) == GroupsMax {
		return fmt.Errorf("more than %d groups", GroupsMax)
	}
	g.Members = nil
	if err := g.identify(); err != nil {
		return err
	}
	for _, key := range slices.Compact([]string{g.Name, g.ID}) {
		if _, taken := b.ids[key]; taken {
			return fmt.Errorf("group %s is there already", clip(key))
		}
	}
	b.ids[g.Name], b.ids[g.ID] = g.label(), g.label()
	list, err := canonical(g.Slots)
	if err != nil {
		return fmt.Errorf("group %s: %w", g.label(), err)
	}
	g.Slots, g.primary = list, -1
	b.m.Groups = append(b.m.Groups, &g)
	return b.claim(&g)
}

// identify fills in ID and Name, each from the other.
func (g *Group) identify() error {
	if g.Name == "" {
		g.Name = g.ID
	}
	if g.Name == "" || len(g.Name) > nameLenMax || !only(g.Name, nameAlphabet) {
		return fmt.Errorf("bad name %q of a group", clip(g.Name))
	}
	id := g.Name
	if !isHexID(id) {
		id = deriveID("group", g.Name)
	}
	switch g.ID {
	case "", id:
		g.ID = id
		return nil
	}
	// The text form has no place for a pair that is not derived.
	return fmt.Errorf("group id %q does not belong to the name %s", clip(g.ID), g.Name)
}

// canonical sorts assignments and joins adjacent ones of the same shard.
func canonical(list []slot.Assignment) ([]slot.Assignment, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b slot.Assignment) int { return cmp.Compare(a.First, b.First) })
	var out []slot.Assignment
	for _, a := range list {
		if !a.Valid() || a.Shard < 0 || a.Shard > slot.MaxShard {
			return nil, fmt.Errorf("bad slots %v", a)
		}
		if n := len(out) - 1; n >= 0 {
			switch last := &out[n]; {
			case a.First <= last.Last:
				return nil, fmt.Errorf("slot %d is assigned twice", a.First)
			case a.First == last.Last+1 && a.Shard == last.Shard:
				last.Last = a.Last
				continue
			}
		}
		out = append(out, a)
	}
	return out, nil
}

// claim makes the last group the owner of its slots.
func (b *builder) claim(g *Group) error {
	index := uint16(len(b.m.Groups))
	for _, a := range g.Slots {
		for id := a.First; id <= a.Last; id++ {
			if other := b.m.owners[id].group; other != 0 {
				return fmt.Errorf("slot %d is in group %s and in group %s", id, b.m.Groups[other-1].label(), g.label())
			}
			b.m.owners[id] = owner{group: index, shard: uint16(a.Shard)}
		}
		b.m.assigned += a.Len()
		g.set.AddRange(a.Range)
	}
	return nil
}

// member adds a node to the group started last.
func (b *builder) member(m Member) error {
	if len(b.m.Groups) == 0 {
		return errors.New("member before the first group")
	}
	if err := m.check(); err != nil {
		return err
	}
	g := b.m.Groups[len(b.m.Groups)-1]
	if at, taken := b.m.members[m.ID]; taken {
		return fmt.Errorf("node %s is in group %s already", m.ID, b.m.Groups[at.group].label())
	}
	for _, port := range []int{m.Port, m.TLSPort} {
		if port == 0 {
			continue
		}
		a := address{m.Host, port}
		if other, taken := b.addresses[a]; taken {
			return fmt.Errorf("nodes %s and %s have the same address %s port %d", other, m.ID, m.Host, port)
		}
		b.addresses[a] = m.ID
	}
	if !m.Replica {
		if g.primary >= 0 {
			return fmt.Errorf("group %s has two primaries, %s and %s", g.label(), g.Primary().ID, m.ID)
		}
		g.primary = len(g.Members)
	}
	b.m.members[m.ID] = place{len(b.m.Groups) - 1, len(g.Members)}
	g.Members = append(g.Members, m)
	return nil
}

// endGroup checks the group started last as a whole.
func (b *builder) endGroup() error {
	if g := b.m.Groups[len(b.m.Groups)-1]; g.primary < 0 {
		return fmt.Errorf("group %s has no primary", g.label())
	}
	return nil
}

// finish gives the map out; the builder must not be used again.
func (b *builder) finish(version, configEpoch uint64) (*Map, error) {
	highest := b.m.highestEpoch()
	if configEpoch == 0 {
		configEpoch = highest
	}
	if configEpoch < highest {
		return nil, fmt.Errorf("epoch %d is below a group's epoch %d", configEpoch, highest)
	}
	b.m.Version, b.m.ConfigEpoch = version, configEpoch
	return b.m, nil
}

func (m *Map) highestEpoch() (highest uint64) {
	for _, g := range m.Groups {
		highest = max(highest, g.Epoch)
	}
	return highest
}
