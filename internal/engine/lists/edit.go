package lists

import (
	"github.com/bowline-kv/bowline/internal/config"
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
	at    int64 // when the key expires
	found bool
	large bool // it was large when it was found
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
	e, found, ok := c.Write(key, store.List)
	if !ok {
		return ed, false
	}
	ed = edit{c: c, key: key, found: found}
	if found {
		ed.List, ed.at, ed.large = viewOf(c, key, &e), e.ExpireAt, e.Large()
	}
	return ed, true
}

// change is to be called before the first change.
func (ed *edit) change() { ed.Own(ed.c.Scratch()) }

func (ed *edit) limit() chain.Limit {
	return chain.LimitOf(int(ed.c.Config.Int(config.ListMaxListpackSize)))
}

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
		ed.Grow(ed.c.NewList(ed.key, limit))
	}
}

// save gives the key what the list has become.
func (ed *edit) save() {
	if ed.Len() == 0 {
		if packed, _ := ed.Content(); packed != nil {
			ed.c.KeepScratch(packed)
		}
		ed.c.Empty(ed.key)
		return
	}
	ed.store()
}

// saveShrunk is save after elements were removed.
func (ed *edit) saveShrunk() {
	if ed.large && ed.Len() > 0 {
		ed.Shrink(ed.limit(), ed.c.Scratch())
	}
	ed.save()
}

func (ed *edit) store() {
	packed, body := ed.Content()
	if ed.large && body != nil {
		ed.c.Changed(ed.key, body)
		return
	}
	ed.c.Put(ed.key, &store.Content{Type: store.List, Value: packed, Body: body, ExpireAt: ed.at})
	if packed != nil {
		ed.c.KeepScratch(packed)
	}
}
