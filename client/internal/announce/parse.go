package announce

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

// Field gives the value of a map's key, nil when it is not there.
func Field(v *resp.Value, name string) (found *resp.Value) {
	pairs(v, func(key string, value *resp.Value) {
		if key == name {
			found = value
		}
	})
	return found
}

// Text gives a reply's string, "" for nil.
func Text(v *resp.Value) string {
	if v == nil {
		return ""
	}
	return string(v.Str)
}

// ParseShards reads the reply of CLUSTER SHARDS as given by the node asked; with useTLS the TLS
// ports count.
func ParseShards(v *resp.Value, asked string, useTLS bool) (*Map, error) {
	l := &Map{}
	for i := range v.Elems {
		g, err := parseShard(&v.Elems[i], asked, useTLS)
		if err != nil {
			return nil, fmt.Errorf("read CLUSTER SHARDS: %w", err)
		}
		l.Groups = append(l.Groups, g)
	}
	return l, nil
}

func parseShard(v *resp.Value, asked string, useTLS bool) (g Group, err error) {
	slots, nodes := Field(v, "slots"), Field(v, "nodes")
	if slots == nil || nodes == nil || len(slots.Elems)%2 != 0 {
		return g, fmt.Errorf("a shard without slots or nodes")
	}
	for i := 0; i < len(slots.Elems); i += 2 {
		r, err := parseRange(&slots.Elems[i], &slots.Elems[i+1])
		if err != nil {
			return g, err
		}
		g.Slots = append(g.Slots, r)
	}
	for i := range nodes.Elems {
		if m, ok := parseShardNode(&nodes.Elems[i], asked, useTLS); ok {
			g.Members = append(g.Members, m)
		}
	}
	return g, nil
}

// parseRange reads the two ends of a range, which some servers send as strings.
func parseRange(first, last *resp.Value) (r slot.Range, err error) {
	from, err := integer(first)
	if err != nil {
		return r, err
	}
	to, err := integer(last)
	if err != nil {
		return r, err
	}
	if from < 0 || from > to || to >= slot.Count {
		return r, fmt.Errorf("slots %d to %d are no range", from, to)
	}
	return slot.Range{First: slot.ID(from), Last: slot.ID(to)}, nil
}

// integer reads a number that some servers send as a string.
func integer(v *resp.Value) (int64, error) {
	if v.Kind == resp.KindInt {
		return v.Int, nil
	}
	return strconv.ParseInt(string(v.Str), 10, 64)
}

func parseShardNode(v *resp.Value, asked string, useTLS bool) (m Member, ok bool) {
	var host, port, tlsPort, hostname, health, role string
	pairs(v, func(key string, value *resp.Value) {
		switch key {
		case "endpoint":
			host = Text(value)
		case "port":
			port = Number(value)
		case "tls-port":
			tlsPort = Number(value)
		case "hostname":
			hostname = Text(value)
		case "health":
			health = Text(value)
		case "role":
			role = Text(value)
		case "availability-zone", "availability_zone":
			m.Zone = Text(value)
		}
	})
	if useTLS && tlsPort != "" && tlsPort != "0" {
		port = tlsPort
	}
	if port == "" {
		port = tlsPort
	}
	if port == "" {
		port = "0"
	}
	m.Addr = Join(host, port, asked)
	m.Primary = role == "master" || role == "primary"
	m.Offline = health != "" && health != "online"
	m.ServerName = serverName(host, hostname)
	return m, m.Addr != ""
}

// Number gives a number as text, whether it was sent as a number or as a string.
func Number(v *resp.Value) string {
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

// ParseSlots reads the reply of CLUSTER SLOTS: ranges, each with the primary first.
// Ranges of the same primary become one group. A node without an address is left out, and
// so is a range without a primary.
func ParseSlots(v *resp.Value, asked string) (*Map, error) {
	l, byPrimary := &Map{}, map[string]int{}
	for i := range v.Elems {
		row := v.Elems[i].Elems
		if len(row) < 3 {
			return nil, fmt.Errorf("read CLUSTER SLOTS: a range without nodes")
		}
		r, err := parseRange(&row[0], &row[1])
		if err != nil {
			return nil, fmt.Errorf("read CLUSTER SLOTS: %w", err)
		}
		var g Group
		for j := 2; j < len(row); j++ {
			if m, ok := parseSlotNode(row[j].Elems, asked); ok {
				m.Primary = j == 2
				g.Members = append(g.Members, m)
			}
		}
		if len(g.Members) == 0 || !g.Members[0].Primary {
			continue
		}
		at, known := byPrimary[g.Members[0].Addr]
		if !known {
			at = len(l.Groups)
			byPrimary[g.Members[0].Addr] = at
			l.Groups = append(l.Groups, g)
		}
		l.Groups[at].Slots = append(l.Groups[at].Slots, r)
	}
	return l, nil
}

func parseSlotNode(v []resp.Value, asked string) (m Member, ok bool) {
	if len(v) < 2 {
		return m, false
	}
	host, hostname := string(v[0].Str), ""
	if len(v) > 3 {
		hostname = Text(Field(&v[3], "hostname"))
	}
	m.Addr = Join(host, Number(&v[1]), asked)
	m.ServerName = serverName(host, hostname)
	return m, m.Addr != ""
}
