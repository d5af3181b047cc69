package redisc

import (
	"slices"

	"github.com/bowline-kv/bowline/slot"
)

// HashSlots is the number of slots of a cluster.
const HashSlots = slot.Count

// Slot returns the slot of a key, 0 to HashSlots-1. Of a key with a hash tag, "{tag}",
// the tag alone counts.
func Slot(key string) int { return int(slot.OfString(key)) }

// SplitBySlot groups keys by their slots. The groups come in ascending order of slots,
// the keys of each in the order given, so that each group may be handled by one
// connection.
func SplitBySlot(keys ...string) [][]string {
	groups := map[int][]string{}
	var order []int
	for _, key := range keys {
		at := Slot(key)
		if groups[at] == nil {
			order = append(order, at)
		}
		groups[at] = append(groups[at], key)
	}
	slices.Sort(order)
	list := make([][]string, len(order))
	for i, at := range order {
		list[i] = groups[at]
	}
	return list
}
