package sets

import (
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
)

// edit is a set that a command changes.
type edit struct {
	value.Set
	c     *engine.Ctx
	key   []byte
	limit value.SetLimit
	entry store.Entry // as it was found
	found bool
}

// read finds a set for reading. When ok is false the error was written; a missing
// set is empty.
func read(c *engine.Ctx, key []byte) (s value.Set, found, ok bool) {
	e, found, ok := c.Read(key, store.Set)
	if found && ok {
		s = viewOf(c, key, &e)
	}
	return s, found, ok
}

func viewOf(c *engine.Ctx, key []byte, e *store.Entry) value.Set {
	if e.Large() {
		return value.SetOf(e, c.Body(key, e))
	}
	return value.SetOf(e, nil)
}

// open finds a set for a change; see read. A packed one is copied when
// [edit.change] is called.
func (ed *edit) open(c *engine.Ctx, key []byte) (ok bool) {
	ed.entry, ed.found, ok = c.Write(key, store.Set)
	ed.c, ed.key = c, key
	if ok && ed.found {
		ed.Set = viewOf(c, key, &ed.entry)
	}
	return ok
}

// again refreshes the view after something else was changed.
func (ed *edit) again() {
	if e, found := ed.c.Again(ed.key); found {
		ed.Set, ed.entry = viewOf(ed.c, ed.key, &e), e
	}
}

// change is to be called before the first change.
func (ed *edit) change() {
	ed.limit = engine.SetLimit(ed.c.Config)
	ed.Own(ed.c.Scratch())
}

// add puts a member in, and makes the set large if it does not fit.
func (ed *edit) add(v []byte) (added bool) {
	added, fits := ed.Add(v, ed.limit)
	if !fits {
		ed.Grow(ed.c.NewBody(ed.key))
		added, _ = ed.Add(v, ed.limit)
	}
	return added
}

// save gives the key what the set has become.
func (ed *edit) save() {
	c := ed.c
	packed, body := ed.Content()
	if packed != nil {
		c.KeepScratch(packed)
	}
	was := &ed.entry
	switch {
	case ed.Len() == 0:
		c.Empty(ed.key)
	case was.Large() && body != nil:
		c.Changed(ed.key, body)
	case ed.found && body == nil && c.Replace(ed.key, was, packed):
	default:
		c.Put(ed.key, &store.Content{Type: store.Set, Value: packed, Body: body, ExpireAt: was.ExpireAt})
	}
}
