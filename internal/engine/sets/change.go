package sets

import (
	"bytes"

	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/shard"
)

func sadd(c *engine.Ctx, args engine.Args) {
	var ed edit
	if !ed.open(c, args[1]) {
		return
	}
	n := int64(0)
	ed.change()
	for _, v := range args[2:] {
		if ed.add(v) {
			n++
		}
	}
	if n > 0 {
		ed.save()
		c.Emit(args...)
		c.Notify(shard.NotifySet, "sadd", args[1])
	}
	c.W.Int(n)
}

func srem(c *engine.Ctx, args engine.Args) {
	var ed edit
	if !ed.open(c, args[1]) {
		return
	}
	n := int64(0)
	if ed.found {
		ed.change()
		for _, v := range args[2:] {
			if ed.Remove(v) {
				n++
			}
		}
	}
	if n > 0 {
		c.Emit(args...)
		c.Notify(shard.NotifySet, "srem", args[1])
		ed.save()
	}
	c.W.Int(n)
}

func smove(c *engine.Ctx, args engine.Args) {
	src, dst, v := args[1], args[2], args[3]
	var from edit
	if !from.open(c, src) {
		return
	}
	if !from.found {
		c.Find(dst) // if its time is over this is seen
		c.W.Int(0)
		return
	}
	var to edit
	if !to.open(c, dst) {
		return
	}
	from.again() // looking for the other may have changed the table
	switch {
	case !from.Has(v):
		c.W.Int(0)
		return
	case bytes.Equal(src, dst):
		c.W.Int(1)
		return
	}
	from.change()
	from.Remove(v)
	c.Notify(shard.NotifySet, "srem", src)
	from.save()
	to.again()
	to.change()
	if to.add(v) {
		to.save()
		c.Notify(shard.NotifySet, "sadd", dst)
	}
	c.Emit(args...)
	c.W.Int(1)
}
