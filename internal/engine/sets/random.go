package sets

import (
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

func srandmember(c *engine.Ctx, args engine.Args) {
	switch len(args) {
	case 2:
		s, found, ok := read(c, args[1])
		switch {
		case !ok:
		case !found:
			c.W.Null()
		default:
			c.Element(s.Random(c.Random()))
		}
	case 3:
		randomMembers(c, args)
	default:
		c.Error(reply.Syntax)
	}
}

// randomMembers is SRANDMEMBER key count.
func randomMembers(c *engine.Ctx, args engine.Args) {
	n, ok := engine.RandomCount(c, args[2])
	if !ok {
		return
	}
	s, found, ok := read(c, args[1])
	switch {
	case !ok:
	case n == 0 || !found:
		c.W.Array(0)
	case n < -engine.RandomMax:
		c.Error(reply.OutOfRange)
	case n < 0:
		c.W.Array(int(-n))
		for range -n {
			c.Element(s.Random(c.Random()))
		}
	default:
		some := int(min(n, int64(s.Len())))
		c.W.Array(some)
		s.Sample(some, c.Random, c.Element)
	}
}

var nameSRem = []byte("SREM")

func spop(c *engine.Ctx, args engine.Args) {
	switch len(args) {
	case 2:
		popOne(c, args[1])
	case 3:
		popMany(c, args)
	default:
		c.Error(reply.Syntax)
	}
}

func popOne(c *engine.Ctx, key []byte) {
	var ed edit
	if !ed.open(c, key) {
		return
	}
	if !ed.found {
		c.W.Null()
		return
	}
	ed.change()
	v := ed.Random(c.Random()).AppendTo(c.Scratch2())
	c.KeepScratch2(v)
	c.W.Bulk(v)
	ed.Remove(v)
	c.Emit(nameSRem, key, v)
	c.Notify(shard.NotifySet, "spop", key)
	ed.save()
}

// popMany is SPOP key count.
func popMany(c *engine.Ctx, args engine.Args) {
	key := args[1]
	n, ok := resp.ParseInt(args[2])
	if !ok || n < 0 {
		c.Error(reply.NotPositive)
		return
	}
	var ed edit
	if !ed.open(c, key) {
		return
	}
	size := ed.Len()
	switch {
	case n == 0 || size == 0:
		c.W.Set(0)
		return
	case n >= int64(size):
		popAll(c, &ed)
	default:
		popSome(c, &ed, int(n))
	}
}

func popAll(c *engine.Ctx, ed *edit) {
	c.W.Set(ed.Len())
	ed.Each(func(e pack.Element) bool {
		c.Element(e)
		return true
	})
	c.Notify(shard.NotifySet, "spop", ed.key)
	c.Empty(ed.key)
	c.EmitDel(ed.key)
}

// popSome removes n members, fewer than there are.
func popSome(c *engine.Ctx, ed *edit, n int) {
	c.W.Set(n)
	ed.change()
	chosen := make([][]byte, 0, min(n, removedAtOnce))
	text := c.Scratch2()
	for range n {
		text = text[:0]
		text = ed.Random(c.Random()).AppendTo(text)
		c.W.Bulk(text)
		ed.Remove(text)
		chosen = append(chosen, append([]byte(nil), text...))
		if len(chosen) == removedAtOnce {
			emitRemoved(c, ed.key, chosen)
			chosen = chosen[:0]
		}
	}
	c.KeepScratch2(text)
	emitRemoved(c, ed.key, chosen)
	c.Notify(shard.NotifySet, "spop", ed.key)
	ed.save()
}

// removedAtOnce is how many members one effect removes.
const removedAtOnce = 1024

func emitRemoved(c *engine.Ctx, key []byte, members [][]byte) {
	if len(members) > 0 {
		c.Emit(append([][]byte{nameSRem, key}, members...)...)
	}
}
