package shard

import "github.com/bowline-kv/bowline/slot"

// Gate is a set of reasons why a shard does not take commands. Zero: open.
type Gate uint32

// The reasons, read under a stripe's lock by every command.
const (
	// GateReplica: this node is not the writer of its group.
	GateReplica Gate = 1 << iota
	// GateUnsynced: a replica that never received its primary's data.
	GateUnsynced
	// GatePaused: an operator holds writes back for a while, and no key expires or
	// is evicted meanwhile.
	GatePaused
	// GateDisk: the disk has no room for the log. Reads go on; no key expires or is
	// evicted meanwhile, as that would need room too.
	GateDisk
	// GateLoading: the data is being replaced by what is in files. No key expires or
	// is evicted meanwhile.
	GateLoading
)

// gateKeeps are the reasons for which keys stay whose time is over.
const gateKeeps = GateReplica | GatePaused | GateDisk | GateLoading

// SlotState says what this node does with the keys of one slot.
type SlotState uint8

// The states of a slot.
const (
	// SlotServed: this shard answers for the slot.
	SlotServed SlotState = iota
	// SlotElsewhere: another node, or no one, answers for the slot.
	SlotElsewhere
)

// SetGate opens or closes the gate for the given reasons. When a closing call
// has returned, no write is in progress that began while the gate was open:
// the shard's last sequence is final. It must not be called from inside a Tx.
func (sh *Shard) SetGate(reasons Gate, closed bool) {
	for {
		old := sh.gate.Load()
		next := old &^ uint32(reasons)
		if closed {
			next = old | uint32(reasons)
		}
		if sh.gate.CompareAndSwap(old, next) {
			break
		}
	}
	if closed {
		sh.passStripes()
	}
}

// Gate gives the reasons for which the shard takes no commands at this moment.
func (sh *Shard) Gate() Gate { return Gate(sh.gate.Load()) }

// passStripes takes and releases every stripe's lock once, after which each
// command that held one before has ended.
func (sh *Shard) passStripes() {
	for i := range sh.stripes {
		sh.stripes[i].mu.Lock()
		//lint:ignore SA2001 waiting for the holder is the purpose
		sh.stripes[i].mu.Unlock()
	}
}

// SetSlot changes the state of one slot under its stripe's lock.
func (sh *Shard) SetSlot(s slot.ID, state SlotState) {
	st := &sh.stripes[stripeOf(s)]
	st.mu.Lock()
	st.slots[int(s)/Stripes] = state
	st.mu.Unlock()
}
