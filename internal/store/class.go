package store

import "github.com/bowline-kv/bowline/internal/page"

// Slots come in size classes of multiples of 8 bytes. A slab is one page, or
// four for the larger classes so that little is left over at its end; a class
// exists for each number of slots that a slab can hold, and is as large as
// that number allows. So a class never wastes room that a finer one would save.
const (
	slotMin     = 16
	slotMax     = page.Size
	slabPages   = 4    // of a class above smallSlotMax
	smallMax    = 1024 // the largest slot of a slab of one page
	classesMax  = 64
	slotsPerMax = page.Size / slotMin // fits the 8 bits of a reference
)

// class is an index into classes.
type class uint8

// classInfo describes a size class.
type classInfo struct {
	size  uint16 // bytes of a slot
	slots uint16 // slots of a slab, at most slotsPerMax
	pages uint16 // pages of a slab
}

var (
	classes    [classesMax]classInfo
	classCount = buildClasses()
	// classBySize has the class of a size, in steps of 8 bytes.
	classBySize [slotMax/8 + 1]class
)

func buildClasses() int {
	n := 0
	for size := slotMin; size <= slotMax; size += 8 {
		pages := 1
		if size > smallMax {
			pages = slabPages
		}
		slots := pages * page.Size / size
		classBySize[size/8] = class(n)
		if size == slotMax || size == smallMax || pages*page.Size/(size+8) != slots {
			classes[n] = classInfo{uint16(size), uint16(slots), uint16(pages)}
			n++
		}
	}
	return n
}

// classOf is the class for a record of n bytes, 1..slotMax.
func classOf(n int) class {
	if n < slotMin {
		n = slotMin
	}
	return classBySize[(n+7)/8]
}
