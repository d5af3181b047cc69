package value

import (
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/slot"
)

// ScanMembers visits members of a large collection from a cursor on, at least want
// of them unless it ends, and gives the cursor to continue with; 0 is both the start
// and the end. A member that is there during a whole walk is visited at least
// once, whatever comes and goes meanwhile. The views are valid during the
// visit, which must not change the collection.
//
//	bits 33..40  the place of a slot, see [store.Table.ScanTable]
//	bits  0..32  store.Cursor inside the slot
func ScanMembers(t *store.Table, cursor uint64, want int, visit func(k store.Key, e store.Entry)) (next uint64) {
	const places = store.SlotsPerTable
	from := slot.ID(cursor >> store.CursorBits % places * store.Stripes)
	at, inner, done := t.ScanTable(from, store.Cursor(cursor&(1<<store.CursorBits-1)), want, visit)
	if done {
		return 0
	}
	return uint64(at)/store.Stripes<<store.CursorBits | uint64(inner)
}
