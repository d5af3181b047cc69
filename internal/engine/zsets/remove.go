package zsets

import (
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

var nameZRemRangeByRank = []byte("ZREMRANGEBYRANK")

func zrem(c *engine.Ctx, args engine.Args) {
	ed, ok := open(c, args[1])
	switch {
	case !ok:
		return
	case !ed.found:
		c.W.Int(0)
		return
	}
	ed.change()
	n := 0
	for _, member := range args[2:] {
		if ed.Len() > 0 && ed.Remove(member) {
			n++
		}
	}
	if n > 0 {
		c.Notify(shard.NotifyZSet, "zrem", args[1])
		ed.save()
		c.Emit(args...)
	} else if packed, _ := ed.Content(); packed != nil {
		c.KeepScratch(packed)
	}
	c.W.Int(int64(n))
}

func zremRangeByRank(c *engine.Ctx, args engine.Args) {
	removeRange(c, args, span{by: byRank}, "zremrangebyrank")
}

func zremRangeByScore(c *engine.Ctx, args engine.Args) {
	removeRange(c, args, span{by: byScore}, "zremrangebyscore")
}

func zremRangeByLex(c *engine.Ctx, args engine.Args) {
	removeRange(c, args, span{by: byLex}, "zremrangebylex")
}

func removeRange(c *engine.Ctx, args engine.Args, s span, event string) {
	if !s.parseEnds(c, args[2], args[3]) {
		return
	}
	ed, ok := open(c, args[1])
	if !ok {
		return
	}
	from, n := s.in(&ed.SortedSet)
	if n > 0 {
		c.Notify(shard.NotifyZSet, event, args[1])
		ed.removeRange(from, n)
		emitRemoval(c, args[1], from, n)
	}
	c.W.Int(int64(n))
}

// emitRemoval is the effect of all that removes by order.
func emitRemoval(c *engine.Ctx, key []byte, from, n int) {
	var first, last [20]byte
	c.Emit(nameZRemRangeByRank, key, resp.AppendInt(first[:0], int64(from)), resp.AppendInt(last[:0], int64(from+n-1)))
}
