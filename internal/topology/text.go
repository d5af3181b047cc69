package topology

import (
	"fmt"
	"strconv"
)

// NodesText returns the text of CLUSTER NODES: a line for each member with id,
// address, flags, primary, times, epoch, link and slots.
func NodesText(m *Map, v *View) string {
	var dst []byte
	for g, member := range m.Members() {
		dst = appendNodeLine(dst, g, member, v)
	}
	return string(dst)
}

// NodeLine returns the line of one member without its line end, as CLUSTER
// REPLICAS lists it; ok is false when the map does not have the node.
func NodeLine(m *Map, id NodeID, v *View) (line string, ok bool) {
	member, g, ok := m.Member(id)
	if !ok {
		return "", false
	}
	dst := appendNodeLine(nil, g, member, v)
	return string(dst[:len(dst)-1]), true
}

func appendNodeLine(dst []byte, g *Group, m *Member, v *View) []byte {
	dst = append(append(dst, m.ID...), ' ')
	dst = append(append(dst, m.Host...), ':')
	dst = strconv.AppendInt(dst, int64(v.port(m)), 10)
	dst = strconv.AppendInt(append(dst, '@'), int64(m.busPort()), 10)
	if m.Hostname != "" {
		dst = append(append(dst, ','), m.Hostname...)
	}
	dst = append(dst, ' ')
	if m.ID == v.Self {
		dst = append(dst, "myself,"...)
	}
	if m.Replica {
		dst = append(dst, "slave"...)
	} else {
		dst = append(dst, "master"...)
	}
	if m.Health == Failed {
		dst = append(dst, ",fail"...)
	}
	if m.Replica {
		dst = append(append(dst, ' '), g.Primary().ID...)
	} else {
		dst = append(dst, " -"...)
	}
	seen, link := v.NowMillis, "connected"
	if m.ID == v.Self {
		seen = 0
	}
	if m.Health == Failed {
		seen, link = 0, "disconnected"
	}
	dst = strconv.AppendInt(append(dst, " 0 "...), seen, 10)
	dst = appendUint(append(dst, ' '), g.Epoch)
	dst = append(append(dst, ' '), link...)
	if !m.Replica {
		for _, r := range g.set.Ranges() {
			dst = append(append(dst, ' '), r.String()...)
		}
	}
	return append(dst, '\n')
}

// busPort returns the announced port, else the one at the usual distance from
// the plain port, which old tools take for granted; 0 where there is none.
func (m *Member) busPort() int {
	const distance = 10000
	switch {
	case m.BusPort != 0:
		return m.BusPort
	case m.Port != 0 && m.Port+distance <= 65535:
		return m.Port + distance
	}
	return 0
}

// Serving reports whether the cluster as a whole answers, cluster_state:ok:
// every slot has an owner that is not failed, or the view is content with less.
func (m *Map) Serving(v *View) bool {
	return v.Partial || m.Covered() && m.failedSlots() == 0
}

// failedSlots returns how many slots have an owner that is taken for dead.
func (m *Map) failedSlots() (n int) {
	for _, g := range m.Groups {
		if g.Primary().Health == Failed {
			n += g.set.Len()
		}
	}
	return n
}

// InfoText returns the text of CLUSTER INFO, its lines ended by CR LF.
func InfoText(m *Map, v *View) string {
	state, size, epoch := "ok", 0, uint64(0)
	if !m.Serving(v) {
		state = "fail"
	}
	for _, g := range m.Groups {
		if len(g.Slots) > 0 {
			size++
		}
	}
	if _, g, ok := m.Member(v.Self); ok {
		epoch = g.Epoch
	}
	failed := m.failedSlots()
	return fmt.Sprintf("cluster_state:%s\r\n"+
		"cluster_slots_assigned:%d\r\n"+
		"cluster_slots_ok:%d\r\n"+
		"cluster_slots_pfail:0\r\n"+
		"cluster_slots_fail:%d\r\n"+
		"cluster_known_nodes:%d\r\n"+
		"cluster_size:%d\r\n"+
		"cluster_current_epoch:%d\r\n"+
		"cluster_my_epoch:%d\r\n"+
		"cluster_stats_messages_sent:%d\r\n"+
		"cluster_stats_messages_received:%d\r\n"+
		"total_cluster_links_buffer_limit_exceeded:0\r\n",
		state, m.assigned, m.assigned-failed, failed, m.Len(), size, m.ConfigEpoch, epoch,
		v.MessagesSent, v.MessagesReceived)
}
