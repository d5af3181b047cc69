package sets

import (
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/engine"
)

func scard(c *engine.Ctx, args engine.Args) {
	if s, _, ok := read(c, args[1]); ok {
		c.W.Int(int64(s.Len()))
	}
}

func sismember(c *engine.Ctx, args engine.Args) {
	if s, _, ok := read(c, args[1]); ok {
		c.W.Int(flag(s.Has(args[2])))
	}
}

func smismember(c *engine.Ctx, args engine.Args) {
	s, _, ok := read(c, args[1])
	if !ok {
		return
	}
	c.W.Array(len(args) - 2)
	for _, v := range args[2:] {
		c.W.Int(flag(s.Has(v)))
	}
}

func flag(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

func smembers(c *engine.Ctx, args engine.Args) {
	s, _, ok := read(c, args[1])
	if !ok {
		return
	}
	c.W.Set(s.Len())
	s.Each(func(e pack.Element) bool {
		c.Element(e)
		return true
	})
}

func sscan(c *engine.Ctx, args engine.Args) {
	cursor, ok := c.ParseCursor(args[2])
	if !ok {
		return
	}
	s, found, ok := read(c, args[1])
	switch {
	case !ok:
		return
	case !found:
		c.ScanReply(len(c.W.B), 0, 0)
		return
	}
	o := engine.MemberScan{Cursor: cursor}
	if !o.ParseOptions(c, args[3:], "") {
		return
	}
	at, n := len(c.W.B), 0
	next := s.Scan(o.Cursor, o.Count, func(e pack.Element) {
		if o.Matches(e) {
			c.Element(e)
			n++
		}
	})
	c.ScanReply(at, n, next)
}
