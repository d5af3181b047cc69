package announce

import "github.com/bowline-kv/bowline/slot"

// Map is what a server says of the cluster.
type Map struct {
	Groups []Group
	// Standalone: there is one server, which has all keys.
	Standalone bool
}

// Group is a primary and its replicas, and the slots that they serve.
type Group struct {
	Slots   []slot.Range
	Members []Member
}

// Member is a node as it was announced.
type Member struct {
	Addr       string // as it can be dialed, never ""
	ServerName string // the announced host name, if any
	Zone       string
	Primary    bool
	Offline    bool // it does not serve
}

// Serves reports whether any slot has a node.
func (m *Map) Serves() bool {
	for i := range m.Groups {
		if len(m.Groups[i].Slots) > 0 && len(m.Groups[i].Members) > 0 {
			return true
		}
	}
	return false
}
