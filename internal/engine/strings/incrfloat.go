package strings

import (
	"math/big"

	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
)

func incrByFloat(c *engine.Ctx, args engine.Args) {
	key := args[1]
	e, found, ok := c.StringForWrite(key)
	if !ok {
		return
	}
	sum := new(big.Float)
	if found {
		if sum, ok = engine.ParseExtended(e.Value); !ok {
			c.Error(reply.NotFloat)
			return
		}
	}
	delta, ok := engine.ParseExtended(args[2])
	if !ok {
		c.Error(reply.NotFloat)
		return
	}
	if sum, ok = engine.AddExtended(sum, delta); !ok {
		c.Error(reply.NaNOrInfinity)
		return
	}
	digits := engine.AppendExtended(c.Scratch(), sum)
	c.KeepScratch(digits)
	c.SetString(key, digits, e.ExpireAt)
	// The sum travels, not the addition: another machine must not round again.
	c.EmitSet(key, digits, e.ExpireAt)
	c.Notify(shard.NotifyString, "incrbyfloat", key)
	c.W.Bulk(digits)
}
