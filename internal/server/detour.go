package server

import (
	"maps"

	"github.com/bowline-kv/bowline/slot"
)

// Detour is how a slot answers that is on its way to or from this node.
type Detour struct {
	// Error is what commands on its keys get: "ASK 866 127.0.0.1:7002" at the node that
	// gives the slot away, "MOVED 866 127.0.0.1:7001" at the one that takes it.
	Error string
	// Asking says that a command runs here after ASKING all the same, whoever the map
	// says the owner is.
	Asking bool
}

// Detours are the slots that are on their way.
type Detours struct {
	Slots map[slot.ID]Detour
	// Mover is the id of the client that carries their keys: its commands run. 0: none.
	Mover uint64
}

// lets says that a command runs: one of the mover, or after ASKING.
func (d *Detour) lets(mover, asking bool) bool { return mover || asking && d.Asking }

// SetDetours replaces the detours by a copy of d. They outlive [Server.SetMap], which must
// have been called. The two are not to be called at the same time.
func (srv *Server) SetDetours(d Detours) {
	v := *srv.cluster.Load()
	before := v.detours.Slots
	v.detours = Detours{Slots: maps.Clone(d.Slots), Mover: d.Mover}
	srv.cluster.Store(&v)
	for _, changed := range []map[slot.ID]Detour{before, v.detours.Slots} {
		for id := range changed {
			srv.assignSlot(&v, id)
		}
	}
	srv.turnAllAway()
}
