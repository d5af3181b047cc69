package strings

import (
	"math"

	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

func incr(c *engine.Ctx, args engine.Args) { add(c, args, 1) }

func decr(c *engine.Ctx, args engine.Args) { add(c, args, -1) }

func incrBy(c *engine.Ctx, args engine.Args) {
	if n, ok := c.Int(args[2]); ok {
		add(c, args, n)
	}
}

func decrBy(c *engine.Ctx, args engine.Args) {
	n, ok := c.Int(args[2])
	if !ok {
		return
	}
	if n == math.MinInt64 {
		c.Error(reply.DecrOverflow)
		return
	}
	add(c, args, -n)
}

// add changes a counter. The effect is the command itself, which does the same
// wherever it is applied.
func add(c *engine.Ctx, args engine.Args, delta int64) {
	key := args[1]
	e, found, ok := c.StringForWrite(key)
	if !ok {
		return
	}
	var n int64
	if found {
		if n, ok = resp.ParseInt(e.Value); !ok {
			c.Error(reply.NotInteger)
			return
		}
	}
	if delta > 0 && n > math.MaxInt64-delta || delta < 0 && n < math.MinInt64-delta {
		c.Error(reply.Overflow)
		return
	}
	n += delta
	digits := resp.AppendInt(c.Scratch(), n)
	c.KeepScratch(digits)
	if found {
		c.SetFound(key, &e, digits)
	} else {
		c.SetString(key, digits, 0)
	}
	c.Emit(args...)
	c.Notify(shard.NotifyString, "incrby", key)
	c.W.Int(n)
}
