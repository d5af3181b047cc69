package node

import (
	"github.com/bowline-kv/bowline/internal/server"
	"github.com/bowline-kv/bowline/internal/topology"
)

// SetMap replaces the cluster map of a node in a cluster. The members must be those
// that it started with: messages between nodes go to these. Keys are not moved.
func (n *Node) SetMap(m *topology.Map) error { return n.server.SetMap(m) }

// SetDetours says how slots answer that are on their way, see [server.Server.SetDetours].
func (n *Node) SetDetours(d server.Detours) { n.server.SetDetours(d) }
