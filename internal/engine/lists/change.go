package lists

import (
	"math"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
)

func lset(c *engine.Ctx, args engine.Args) {
	ed, ok := open(c, args[1])
	switch {
	case !ok:
		return
	case !ed.found:
		c.Error(reply.NoSuchKey)
		return
	}
	n, ok := c.Int(args[2])
	if !ok {
		return
	}
	i, ok := index(n, ed.Len())
	if !ok {
		c.Error(reply.IndexOutOfRange)
		return
	}
	ed.change()
	ed.grow(args[3:4])
	ed.Set(i, args[3])
	ed.saveShrunk()
	c.Emit(args...)
	c.Notify(shard.NotifyList, "lset", args[1])
	c.W.OK()
}

func linsert(c *engine.Ctx, args engine.Args) {
	before := command.IsToken(args[2], "BEFORE")
	if !before && !command.IsToken(args[2], "AFTER") {
		c.Error(reply.Syntax)
		return
	}
	ed, ok := open(c, args[1])
	switch {
	case !ok:
		return
	case !ed.found:
		c.W.Int(0)
		return
	}
	i := ed.find(args[3])
	if i < 0 {
		c.W.Int(-1)
		return
	}
	ed.change()
	ed.grow(args[4:5])
	ed.Insert(i, before, args[4])
	n := ed.Len()
	ed.store()
	c.Emit(args...)
	c.Notify(shard.NotifyList, "linsert", args[1])
	c.W.Int(int64(n))
}

// find is the number of the first element with a value, -1 when there is none.
func (ed *edit) find(v []byte) int {
	i, found := 0, -1
	ed.Each(0, func(e pack.Element) bool {
		if e.Equal(v) {
			found = i
		}
		i++
		return found < 0
	})
	return found
}

func lrem(c *engine.Ctx, args engine.Args) {
	count, ok := c.Int(args[2])
	if !ok {
		return
	}
	if count == math.MinInt64 {
		c.Error(reply.PosRankRange)
		return
	}
	ed, ok := open(c, args[1])
	switch {
	case !ok:
		return
	case !ed.found:
		c.W.Int(0)
		return
	}
	most := ed.Len()
	if count != 0 {
		most = int(min(max(count, -count), int64(most)))
	}
	ed.change()
	n := ed.Remove(args[3], most, count < 0)
	if n > 0 {
		c.Notify(shard.NotifyList, "lrem", args[1])
		ed.saveShrunk()
		c.Emit(args...)
	}
	c.W.Int(int64(n))
}

func ltrim(c *engine.Ctx, args engine.Args) {
	start, ok := c.Int(args[2])
	if !ok {
		return
	}
	end, ok := c.Int(args[3])
	if !ok {
		return
	}
	ed, ok := open(c, args[1])
	switch {
	case !ok:
		return
	case !ed.found:
		c.W.OK()
		return
	}
	c.Notify(shard.NotifyList, "ltrim", args[1])
	if from, n := engine.Span(start, end, ed.Len()); n < ed.Len() {
		ed.change()
		ed.Keep(from, n)
		ed.saveShrunk()
		c.Emit(args...)
	}
	c.W.OK()
}
