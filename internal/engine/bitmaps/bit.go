package bitmaps

import (
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
)

func getBit(c *engine.Ctx, args engine.Args) {
	offset, ok := bitOffset(c, args[2], 0)
	if !ok {
		return
	}
	e, found := c.Lookup(args[1])
	switch {
	case found && e.Type != store.String:
		c.Error(reply.WrongType)
	case offset/8 >= int64(len(e.Value)):
		c.W.Int(0)
	default:
		c.W.Int(int64(e.Value[offset/8] >> (7 - offset%8) & 1))
	}
}

func setBit(c *engine.Ctx, args engine.Args) {
	key := args[1]
	offset, ok := bitOffset(c, args[2], 0)
	if !ok {
		return
	}
	bit, ok := resp.ParseInt(args[3])
	if !ok || bit != 0 && bit != 1 {
		c.Error(reply.BitValue)
		return
	}
	e, _, ok := c.StringForWrite(key)
	if !ok {
		return
	}
	at, shift := int(offset/8), 7-offset%8
	longer := at >= len(e.Value)
	var old byte
	if !longer {
		old = e.Value[at]
	}
	was := int64(old >> shift & 1)
	if !longer && was == bit {
		c.MarkRaw(key)
		c.W.Int(was)
		return
	}
	changed := append(c.Scratch(), old&^(1<<shift)|byte(bit)<<shift)
	c.Patch(key, at, changed)
	c.KeepScratch(changed)
	c.Emit(args...)
	c.Notify(shard.NotifyString, "setbit", key)
	c.W.Int(was)
}
