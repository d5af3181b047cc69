package topology

import (
	"cmp"
	"slices"

	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// AppendSlots writes the reply to CLUSTER SLOTS: for each run of slots with one
// owner its first and last slot, then the primary and those replicas that have
// data to serve.
func AppendSlots(w *resp.Writer, m *Map, v *View) {
	type run struct {
		slot.Range
		g *Group
	}
	var runs []run
	for _, g := range m.Groups {
		// By set, not by assignment: shards are no business of a client.
		for _, r := range g.set.Ranges() {
			runs = append(runs, run{r, g})
		}
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.First, b.First) })
	w.Array(len(runs))
	for _, r := range runs {
		nodes := []*Member{r.g.Primary()}
		for m := range r.g.Replicas() {
			if m.Health == Online {
				nodes = append(nodes, m)
			}
		}
		w.Array(2 + len(nodes))
		w.Int(int64(r.First))
		w.Int(int64(r.Last))
		for _, m := range nodes {
			appendNode(w, m, v)
		}
	}
}

// appendNode writes host, port, id and the addresses that are not the
// preferred one.
func appendNode(w *resp.Writer, m *Member, v *View) {
	w.Array(4)
	if host, known := v.host(m); known {
		w.BulkString(host)
	} else {
		w.Null()
	}
	w.Int(int64(v.port(m)))
	w.BulkString(string(m.ID))
	var rest []string
	if v.Endpoint != ByIP {
		rest = append(rest, "ip", m.Host)
	}
	if v.Endpoint != ByHostname && m.Hostname != "" {
		rest = append(rest, "hostname", m.Hostname)
	}
	w.Map(len(rest) / 2)
	for _, s := range rest {
		w.BulkString(s)
	}
}

// AppendShards writes the reply to CLUSTER SHARDS: for each group its runs of
// slots and all its members, the primary first.
func AppendShards(w *resp.Writer, m *Map, v *View) {
	w.Array(len(m.Groups))
	for _, g := range m.Groups {
		w.Map(2)
		w.BulkString("slots")
		ranges := g.set.Ranges()
		w.Array(2 * len(ranges))
		for _, r := range ranges {
			w.Int(int64(r.First))
			w.Int(int64(r.Last))
		}
		w.BulkString("nodes")
		w.Array(len(g.Members))
		appendShardNode(w, g.Primary(), v)
		for m := range g.Replicas() {
			appendShardNode(w, m, v)
		}
	}
}

// wireHealth are the words of CLUSTER SHARDS.
var wireHealth = [...]string{Online: "online", Loading: "loading", Failed: "fail"}

func appendShardNode(w *resp.Writer, m *Member, v *View) {
	fields := 6
	for _, there := range []bool{m.Port != 0, m.TLSPort != 0, m.Hostname != ""} {
		if there {
			fields++
		}
	}
	w.Map(fields)
	w.BulkString("id")
	w.BulkString(string(m.ID))
	if m.Port != 0 {
		w.BulkString("port")
		w.Int(int64(m.Port))
	}
	if m.TLSPort != 0 {
		w.BulkString("tls-port")
		w.Int(int64(m.TLSPort))
	}
	w.BulkString("ip")
	w.BulkString(m.Host)
	w.BulkString("endpoint")
	// Here, unlike in CLUSTER SLOTS, a host that is not told is an empty text.
	host, _ := v.host(m)
	w.BulkString(host)
	if m.Hostname != "" {
		w.BulkString("hostname")
		w.BulkString(m.Hostname)
	}
	w.BulkString("role")
	if m.Replica {
		w.BulkString("replica")
	} else {
		w.BulkString("master")
	}
	w.BulkString("replication-offset")
	w.Int(v.offset(m.ID))
	w.BulkString("health")
	w.BulkString(wireHealth[m.Health])
}
