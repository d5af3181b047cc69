package client

import (
	"fmt"
	"net"
	"strconv"

	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// pairs calls visit for each key and value of a map, or of an array that stands for
// one in RESP2.
func pairs(v *resp.Value, visit func(key string, value *resp.Value)) {
	for i := 0; i+1 < len(v.Elems); i += 2 {
		visit(string(v.Elems[i].Str), &v.Elems[i+1])
	}
}

// field gives the value of a map's key, nil when it is not there.
func field(v *resp.Value, name string) (found *resp.Value) {
	pairs(v, func(key string, value *resp.Value) {
		if key == name {
			found = value
		}
	})
	return found
}

func textOf(v *resp.Value) string {
	if v == nil {
		return ""
	}
	return string(v.Str)
}

// parseShards reads the reply of CLUSTER SHARDS as given by the node asked.
func parseShards(v *resp.Value, asked string, useTLS bool) (*layout, error) {
	l := &layout{}
	for i := range v.Elems {
		g, err := parseShard(&v.Elems[i], asked, useTLS)
		if err != nil {
			return nil, fmt.Errorf("read CLUSTER SHARDS: %w", err)
		}
		l.groups = append(l.groups, g)
	}
	return l, nil
}

func parseShard(v *resp.Value, asked string, useTLS bool) (g layoutGroup, err error) {
	slots, nodes := field(v, "slots"), field(v, "nodes")
	if slots == nil || nodes == nil || len(slots.Elems)%2 != 0 {
		return g, fmt.Errorf("a shard without slots or nodes")
	}
	for i := 0; i < len(slots.Elems); i += 2 {
		r, err := parseSlots(&slots.Elems[i], &slots.Elems[i+1])
		if err != nil {
			return g, err
		}
		g.slots = append(g.slots, r)
	}
	for i := range nodes.Elems {
		if m, ok := parseShardNode(&nodes.Elems[i], asked, useTLS); ok {
			g.members = append(g.members, m)
		}
	}
	return g, nil
}

// parseSlots reads the two ends of a range, which some servers send as strings.
func parseSlots(first, last *resp.Value) (r slot.Range, err error) {
	from, err := Reply{v: *first}.Int()
	if err != nil {
		return r, err
	}
	to, err := Reply{v: *last}.Int()
	if err != nil {
		return r, err
	}
	if from < 0 || from > to || to >= slot.Count {
		return r, fmt.Errorf("slots %d to %d are no range", from, to)
	}
	return slot.Range{First: slot.ID(from), Last: slot.ID(to)}, nil
}

func parseShardNode(v *resp.Value, asked string, useTLS bool) (m layoutMember, ok bool) {
	var host, port, tlsPort, hostname, health, role string
	pairs(v, func(key string, value *resp.Value) {
		switch key {
		case "endpoint":
			host = textOf(value)
		case "port":
			port = number(value)
		case "tls-port":
			tlsPort = number(value)
		case "hostname":
			hostname = textOf(value)
		case "health":
			health = textOf(value)
		case "role":
			role = textOf(value)
		case "availability-zone", "availability_zone":
			m.zone = textOf(value)
		}
	})
	if useTLS && tlsPort != "" && tlsPort != "0" {
		port = tlsPort
	}
	if port == "" {
		port = tlsPort
	}
	m.addr = joinAddr(host, orDefault(port, "0"), asked)
	m.primary = role == "master" || role == "primary"
	m.offline = health != "" && health != "online"
	m.serverName = serverName(host, hostname)
	return m, m.addr != ""
}

func number(v *resp.Value) string {
	if v.Kind == resp.KindInt {
		return strconv.FormatInt(v.Int, 10)
	}
	return string(v.Str)
}

// serverName prefers an announced name over an address.
func serverName(host, hostname string) string {
	if host != "" && net.ParseIP(host) == nil {
		return host
	}
	if hostname == "?" {
		return ""
	}
	return hostname
}

// parseSlotTable reads the reply of CLUSTER SLOTS: ranges, each with the primary first.
// Ranges of the same primary become one group.
func parseSlotTable(v *resp.Value, asked string) (*layout, error) {
	l, byPrimary := &layout{}, map[string]int{}
	for i := range v.Elems {
		row := v.Elems[i].Elems
		if len(row) < 3 {
			return nil, fmt.Errorf("read CLUSTER SLOTS: a range without nodes")
		}
		r, err := parseSlots(&row[0], &row[1])
		if err != nil {
			return nil, fmt.Errorf("read CLUSTER SLOTS: %w", err)
		}
		var g layoutGroup
		for j := 2; j < len(row); j++ {
			if m, ok := parseSlotNode(row[j].Elems, asked); ok {
				m.primary = j == 2
				g.members = append(g.members, m)
			}
		}
		if len(g.members) == 0 || !g.members[0].primary {
			continue
		}
		at, known := byPrimary[g.members[0].addr]
		if !known {
			at = len(l.groups)
			byPrimary[g.members[0].addr] = at
			l.groups = append(l.groups, g)
		}
		l.groups[at].slots = append(l.groups[at].slots, r)
	}
	return l, nil
}

func parseSlotNode(v []resp.Value, asked string) (m layoutMember, ok bool) {
	if len(v) < 2 {
		return m, false
	}
	host, hostname := string(v[0].Str), ""
	if len(v) > 3 {
		hostname = textOf(field(&v[3], "hostname"))
	}
	m.addr = joinAddr(host, number(&v[1]), asked)
	m.serverName = serverName(host, hostname)
	return m, m.addr != ""
}
