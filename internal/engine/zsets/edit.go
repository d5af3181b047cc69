package zsets

import (
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
)

// edit is a sorted set that a command changes.
type edit struct {
	value.SortedSet
	c     *engine.Ctx
	key   []byte
	limit value.SortedSetLimit
	entry store.Entry // as it was found
	found bool
}

// read finds a sorted set for reading. When ok is false the error was written; a
// missing one is empty.
func read(c *engine.Ctx, key []byte) (z value.SortedSet, found, ok bool) {
	e, found, ok := c.Read(key, store.ZSet)
	if found && ok {
		z = viewOf(c, key, &e)
	}
	return z, found, ok
}

func viewOf(c *engine.Ctx, key []byte, e *store.Entry) value.SortedSet {
	if e.Large() {
		return value.SortedSetOf(e, c.Body(key, e))
	}
	return value.SortedSetOf(e, nil)
}

// open finds a sorted set for a change; see read. A packed one is copied when
// [edit.change] is called.
func open(c *engine.Ctx, key []byte) (ed edit, ok bool) {
	e, found, ok := c.Write(key, store.ZSet)
	if !ok {
		return ed, false
	}
	ed = edit{c: c, key: key, found: found}
	if found {
		ed.SortedSet, ed.entry = viewOf(c, key, &e), e
	}
	return ed, true
}

// change is to be called before the first change.
func (ed *edit) change() {
	ed.limit = engine.SortedSetLimit(ed.c.Config)
	ed.Own(ed.c.Scratch())
}

// put gives a member a score, and makes the sorted set large if it does not fit.
func (ed *edit) put(member []byte, score float64) (old float64, existed bool) {
	old, existed, fits := ed.Put(member, score, ed.limit)
	if !fits {
		ed.Grow(ed.c.NewSorted(ed.key))
		old, existed, _ = ed.Put(member, score, ed.limit)
	}
	return old, existed
}

// save gives the key what the sorted set has become.
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
		c.Put(ed.key, &store.Content{Type: store.ZSet, Value: packed, Body: body, ExpireAt: was.ExpireAt})
	}
}

// removeRange takes out the n members from a rank on and saves the sorted set.
// All members go with the key, at once.
func (ed *edit) removeRange(from, n int) {
	if n == ed.Len() {
		ed.c.Empty(ed.key)
		return
	}
	ed.change()
	ed.RemoveRange(from, n)
	ed.save()
}
