package hashes

import (
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/value"
)

func hget(c *engine.Ctx, args engine.Args) {
	if h, _, ok := read(c, args[1]); ok {
		writeField(c, &h, args[2])
	}
}

func hmget(c *engine.Ctx, args engine.Args) {
	h, _, ok := read(c, args[1])
	if !ok {
		return
	}
	c.W.Array(len(args) - 2)
	for _, field := range args[2:] {
		writeField(c, &h, field)
	}
}

// writeField replies with the value of a field, or null; it says whether the field
// is there.
func writeField(c *engine.Ctx, h *value.Hash, field []byte) bool {
	v, _, ok := h.Get(field)
	if ok {
		c.Element(v)
	} else {
		c.W.Null()
	}
	return ok
}

func hexists(c *engine.Ctx, args engine.Args) {
	h, _, ok := read(c, args[1])
	if !ok {
		return
	}
	if _, _, exists := h.Get(args[2]); exists {
		c.W.Int(1)
	} else {
		c.W.Int(0)
	}
}

func hstrlen(c *engine.Ctx, args engine.Args) {
	h, _, ok := read(c, args[1])
	if !ok {
		return
	}
	v, _, _ := h.Get(args[2])
	c.W.Int(int64(v.Len()))
}

func hlen(c *engine.Ctx, args engine.Args) {
	if h, _, ok := read(c, args[1]); ok {
		c.W.Int(int64(h.Len()))
	}
}

func hgetall(c *engine.Ctx, args engine.Args) {
	h, _, ok := read(c, args[1])
	if !ok {
		return
	}
	c.W.Map(h.Len())
	h.Each(func(field, v pack.Element, _ int64) bool {
		c.Element(field)
		c.Element(v)
		return true
	})
}

func hkeys(c *engine.Ctx, args engine.Args) {
	h, _, ok := read(c, args[1])
	if !ok {
		return
	}
	c.W.Array(h.Len())
	h.Each(func(field, _ pack.Element, _ int64) bool {
		c.Element(field)
		return true
	})
}

func hvals(c *engine.Ctx, args engine.Args) {
	h, _, ok := read(c, args[1])
	if !ok {
		return
	}
	c.W.Array(h.Len())
	h.Each(func(_, v pack.Element, _ int64) bool {
		c.Element(v)
		return true
	})
}

func hscan(c *engine.Ctx, args engine.Args) {
	cursor, ok := c.ParseCursor(args[2])
	if !ok {
		return
	}
	h, found, ok := read(c, args[1])
	switch {
	case !ok:
		return
	case !found:
		c.ScanReply(len(c.W.B), 0, 0)
		return
	}
	o := engine.MemberScan{Cursor: cursor}
	if !o.ParseOptions(c, args[3:], "NOVALUES") {
		return
	}
	at, n := len(c.W.B), 0
	next := h.Scan(o.Cursor, o.Count, func(field, v pack.Element) {
		if !o.Matches(field) {
			return
		}
		c.Element(field)
		n++
		if !o.Bare {
			c.Element(v)
			n++
		}
	})
	c.ScanReply(at, n, next)
}
