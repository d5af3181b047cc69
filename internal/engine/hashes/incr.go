package hashes

import (
	"math/big"

	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

func hincrBy(c *engine.Ctx, args engine.Args) {
	delta, ok := c.Int(args[3])
	if !ok {
		return
	}
	var ed edit
	if !ed.open(c, args[1]) {
		return
	}
	v, at, exists := ed.Get(args[2])
	n, isInt := v.Int()
	if exists && !isInt {
		if n, isInt = resp.ParseInt(v.Bytes()); !isInt {
			c.Error(reply.HashNotInteger)
			return
		}
	}
	sum := n + delta
	if (sum > n) != (delta > 0) && delta != 0 {
		c.Error(reply.Overflow)
		return
	}
	digits := resp.AppendInt(c.Scratch2(), sum)
	c.KeepScratch2(digits)
	ed.result("hincrby", args[2], digits, at != 0)
	c.W.Int(sum)
}

func hincrByFloat(c *engine.Ctx, args engine.Args) {
	delta, ok := engine.ParseExtended(args[3])
	if !ok {
		c.Error(reply.NotFloat)
		return
	}
	if delta.IsInf() {
		c.Error(reply.FloatNaN)
		return
	}
	var ed edit
	if !ed.open(c, args[1]) {
		return
	}
	v, at, exists := ed.Get(args[2])
	sum := new(big.Float)
	if exists {
		if sum, ok = engine.ParseExtended(v.AppendTo(nil)); !ok {
			c.Error(reply.HashNotFloat)
			return
		}
	}
	if sum, ok = engine.AddExtended(sum, delta); !ok {
		c.Error(reply.NaNOrInfinity)
		return
	}
	digits := engine.AppendExtended(c.Scratch2(), sum)
	c.KeepScratch2(digits)
	ed.result("hincrbyfloat", args[2], digits, at != 0)
	c.W.Bulk(digits)
}

// result gives a field what was computed, which is also what is emitted: a
// hidden field counted as missing, but is there where the effect is applied.
func (ed *edit) result(event string, field, v []byte, timed bool) {
	c := ed.c
	ed.change()
	ed.set(field, v, true)
	ed.save()
	emitField(c, ed.key, field, v, timed)
	c.Notify(shard.NotifyHash, event, ed.key)
}
