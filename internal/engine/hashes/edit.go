package hashes

import (
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
)

// edit is a hash that a command changes.
type edit struct {
	value.Hash
	c     *engine.Ctx
	key   []byte
	limit value.HashLimit
	entry store.Entry // as it was found
	found bool
	// inPlace: it is changed where it is, as far as there is room.
	inPlace bool
}

// read finds a hash for reading. When ok is false the error was written; a
// missing hash is empty.
func read(c *engine.Ctx, key []byte) (h value.Hash, found, ok bool) {
	e, found, ok := c.Read(key, store.Hash)
	if found && ok {
		h = viewOf(c, key, &e)
	}
	return h, found, ok
}

func viewOf(c *engine.Ctx, key []byte, e *store.Entry) value.Hash {
	if !e.Large() {
		return value.HashOf(e, nil, c.Now, 0)
	}
	wakeAt := int64(0)
	if e.Timed {
		wakeAt = c.WakeAt(key, e)
	}
	return value.HashOf(e, c.Body(key, e), c.Now, wakeAt)
}

// open finds a hash for a change; see read. A packed one is copied when
// [edit.change] is called.
func (ed *edit) open(c *engine.Ctx, key []byte) (ok bool) {
	ed.entry, ed.found, ok = c.Write(key, store.Hash)
	ed.c, ed.key = c, key
	switch {
	case !ok:
	case ed.found:
		ed.Hash = viewOf(c, key, &ed.entry)
	default:
		ed.Hash = value.NewHash(c.Now)
	}
	return ok
}

// change is to be called before the first change.
func (ed *edit) change() { ed.prepare(false) }

// changeTimes is change for one that gives fields times.
func (ed *edit) changeTimes() { ed.prepare(true) }

// inPlaceMin is the size in bytes from which on a packed value is not copied to be
// changed.
const inPlaceMin = 4 << 10

func (ed *edit) prepare(timed bool) {
	ed.limit = engine.HashLimit(ed.c.Config)
	if !timed && ed.found && !ed.entry.Timed && !ed.entry.Large() && len(ed.entry.Value) >= inPlaceMin {
		if room := ed.c.Room(ed.key, &ed.entry); room != nil {
			ed.OwnRoom(room)
			ed.inPlace = true
			return
		}
	}
	ed.Own(ed.c.Scratch(), timed)
}

// grow makes the hash large, if it is not.
func (ed *edit) grow() {
	if !ed.Large() {
		ed.Grow(ed.c.NewBody(ed.key))
	}
}

// set gives a field a value, and makes the hash large if it does not fit. The
// field's time stays if keep. added says that the field is new.
func (ed *edit) set(field, v []byte, keep bool) (added bool) {
	added, fits := ed.Set(field, v, keep, ed.limit)
	if !fits {
		ed.grow()
		added, _ = ed.Set(field, v, keep, ed.limit)
	}
	return added
}

// save gives the key what the hash has become.
func (ed *edit) save() {
	c := ed.c
	packed, body, wakeAt := ed.Content()
	if packed != nil && !ed.inPlace {
		c.KeepScratch(packed)
	}
	was := &ed.entry
	switch {
	case ed.Drained():
		c.Empty(ed.key)
	case was.Large() && was.Timed && wakeAt != 0:
		c.ChangedFields(ed.key, body, wakeAt)
	case was.Large() && !was.Timed && wakeAt == 0:
		c.Changed(ed.key, body)
	case ed.found && body == nil && wakeAt == 0 && c.Replace(ed.key, was, packed):
	default:
		c.Put(ed.key, &store.Content{Type: store.Hash, Value: packed, Body: body, ExpireAt: was.ExpireAt, WakeAt: wakeAt})
	}
}
