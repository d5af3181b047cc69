package lists

import (
	"github.com/bowline-kv/bowline/internal/ds/chain"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
)

// edit is a list that a command changes.
type edit struct {
	value.List
	c     *engine.Ctx
	key   []byte
	entry store.Entry // as it was found
	found bool
}

// read finds a list for reading. When ok is false the error was written; a
// missing list is empty.
func read(c *engine.Ctx, key []byte) (l value.List, found, ok bool) {
	e, found, ok := c.Read(key, store.List)
	if found && ok {
		l = viewOf(c, key, &e)
	}
	return l, found, ok
}

func viewOf(c *engine.Ctx, key []byte, e *store.Entry) value.List {
	if e.Large() {
		return value.ListOf(e, c.Body(key, e))
	}
	return value.ListOf(e, nil)
}

// open finds a list for a change; see read. A packed one is copied when
// [edit.change] is called.
func open(c *engine.Ctx, key []byte) (ed edit, ok bool) {
	ed.entry, ed.found, ok = c.Write(key, store.List)
	ed.c, ed.key = c, key
	if ed.found && ok {
		ed.List = viewOf(c, key, &ed.entry)
	}
	return ed, ok
}

// again looks at the list anew: what was found of it is no longer valid.
func (ed *edit) again() {
	ed.entry, _ = ed.c.Again(ed.key)
	ed.List = viewOf(ed.c, ed.key, &ed.entry)
}

// change is to be called before the first change.
func (ed *edit) change() { ed.Own(ed.c.Scratch()) }

func (ed *edit) limit() chain.Limit { return engine.ListLimit(ed.c.Config) }

// push adds values, in order, at one end, and makes the list large if they are
// too many.
func (ed *edit) push(values [][]byte, front bool) {
	ed.grow(values)
	for _, v := range values {
		ed.Push(v, front)
	}
}

// grow makes room for values.
func (ed *edit) grow(values [][]byte) {
	size := 0
	for _, v := range values {
		size += len(v)
	}
	if limit := ed.limit(); !ed.Fits(limit, len(values), size) {
		ed.Grow(ed.c.NewList(ed.key, limit), limit, len(values), size)
	}
}

// save gives the key what the list has become.
func (ed *edit) save() {
	if ed.Len() == 0 {
		ed.keep()
		ed.c.Empty(ed.key)
		return
	}
	ed.store()
}

// saveShrunk is save after elements were removed.
func (ed *edit) saveShrunk() {
	if ed.entry.Large() && ed.Len() > 0 {
		ed.Shrink(ed.limit(), ed.c.Scratch())
	}
	ed.save()
}

func (ed *edit) store() {
	packed, body := ed.Content()
	switch {
	case body != nil && ed.entry.Large():
		ed.c.Changed(ed.key, body)
		return
	case body == nil && ed.found && !ed.entry.Large() && ed.c.Replace(ed.key, &ed.entry, packed):
	default:
		ed.c.Put(ed.key, &store.Content{Type: store.List, Value: packed, Body: body, ExpireAt: ed.entry.ExpireAt})
	}
	ed.keep()
}

// keep gives the buffer back in which a packed list was changed.
func (ed *edit) keep() {
	if packed, _ := ed.Content(); packed != nil {
		ed.c.KeepScratch(packed)
	}
}
