package vfs

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// sectorSize is what a disk writes whole, even when the power goes.
const sectorSize = 512

// Crash makes a copy of the disk as a power loss at this moment might leave it;
// the seed chooses. Each page that was written since the last sync of its file is,
// independently, kept, lost (as it was when synced), zeroed, kept up to some sector, or
// as it was before the latest change. The size of a file that changed is the synced one, the new one, or one
// between. Of the changes to a directory since it was synced, some last ones are
// undone. The disk itself stays as it is.
func (m *MemFS) Crash(seed uint64) *MemFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := &MemFS{capacity: m.capacity}
	after.root = crashed(m.root, rand.New(rand.NewPCG(seed, 0)), &after.used)
	return after
}

// crashed is what becomes of a node; bytes counts what files hold.
func crashed(n *node, dice *rand.Rand, bytes *int64) *node {
	if n.entries == nil {
		c := &node{}
		c.data = n.afterCrash(dice)
		c.safe = slices.Clone(c.data)
		*bytes += int64(len(c.data))
		return c
	}
	entries := maps.Clone(n.synced)
	for _, c := range n.changes[:between(dice, 0, len(n.changes))] {
		c.apply(entries)
	}
	c := newDir()
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		c.entries[name] = crashed(entries[name], dice, bytes)
	}
	c.synced = maps.Clone(c.entries)
	return c
}

// between gives either end often, else something between them.
func between(dice *rand.Rand, a, b int) int {
	switch low, high := min(a, b), max(a, b); dice.IntN(3) {
	case 0:
		return a
	case 1:
		return b
	default:
		return low + dice.IntN(high-low+1)
	}
}

func (f *file) afterCrash(dice *rand.Rand) []byte {
	out := make([]byte, between(dice, len(f.safe), len(f.data)))
	for at := 0; at < len(out); at += PageSize {
		page := out[at:min(at+PageSize, len(out))]
		before, dirty := f.dirty[int64(at/PageSize)]
		if !dirty {
			copyFrom(page, f.data, at)
			continue
		}
		switch dice.IntN(5) {
		case 0:
			copyFrom(page, f.data, at)
		case 1:
			copyFrom(page, f.safe, at)
		case 2: // zeros
		case 3:
			copyFrom(page, f.safe, at)
			copyFrom(page[:min(sectorSize*dice.IntN(PageSize/sectorSize), len(page))], f.data, at)
		case 4:
			if before == nil {
				before = f.safe[min(at, len(f.safe)):]
			}
			copyFrom(page, before, 0)
		}
	}
	return out
}

// copyFrom fills dst from an offset of src, with zeros behind its end.
func copyFrom(dst, src []byte, at int) {
	clear(dst)
	copy(dst, src[min(at, len(src)):])
}
