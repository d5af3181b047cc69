package zsets

import (
	"math"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
)

// zrandMember is ZRANDMEMBER key [count [WITHSCORES]].
func zrandMember(c *engine.Ctx, args engine.Args) {
	if len(args) > 2 {
		randomMembers(c, args)
		return
	}
	z, _, ok := read(c, args[1])
	switch {
	case !ok:
	case z.Len() == 0:
		c.W.Null()
	default:
		member, _ := z.Random(c.Random)
		c.Element(member)
	}
}

func randomMembers(c *engine.Ctx, args engine.Args) {
	n, ok := engine.RandomCount(c, args[2])
	if !ok {
		return
	}
	if len(args) > 4 || len(args) == 4 && !command.IsToken(args[3], "WITHSCORES") {
		c.Error(reply.Syntax)
		return
	}
	w := writer(c, len(args) == 4)
	if w.scores && (n < math.MinInt64/2 || n > math.MaxInt64/2) {
		c.Error(reply.OutOfRange)
		return
	}
	z, _, ok := read(c, args[1])
	size := z.Len()
	switch {
	case !ok:
	case n == 0 || size == 0:
		c.W.Array(0)
	case n < -engine.RandomMax:
		c.Error(reply.OutOfRange)
	case n < 0:
		w.start(int(-n))
		for ; n < 0; n++ {
			w.write(z.Random(c.Random))
		}
	case n >= int64(size):
		w.start(size)
		z.Walk(0, size, true, w.write)
	default:
		some := int(n)
		w.start(some)
		z.Sample(some, c.Random, func(member pack.Element, score float64) { w.write(member, score) })
	}
}
