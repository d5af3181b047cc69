package zsets

import (
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
)

func zpopmin(c *engine.Ctx, args engine.Args) { pop(c, args, false) }
func zpopmax(c *engine.Ctx, args engine.Args) { pop(c, args, true) }

func pop(c *engine.Ctx, args engine.Args, highest bool) {
	if len(args) > 3 {
		c.Error(reply.Syntax)
		return
	}
	count := int64(1)
	if len(args) == 3 {
		var ok bool
		if count, ok = resp.ParseInt(args[2]); !ok || count < 0 {
			c.Error(reply.NotPositive)
			return
		}
	}
	ed, ok := open(c, args[1])
	switch {
	case !ok:
	case !ed.found || count == 0:
		c.W.Array(0)
	case len(args) == 2:
		c.W.Array(2)
		ed.take(1, highest, pairWriter{c: c, scores: true})
	default:
		n := int(min(count, int64(ed.Len())))
		w := writer(c, true)
		w.start(n)
		ed.take(n, highest, w)
	}
}

// take removes n members, 1..Len, from one end, writes them, and saves the sorted
// set.
func (ed *edit) take(n int, highest bool, w pairWriter) {
	from, event := 0, "zpopmin"
	if highest {
		from, event = ed.Len()-n, "zpopmax"
	}
	ed.Walk(from, n, highest, w.write)
	ed.c.Notify(shard.NotifyZSet, event, ed.key)
	ed.removeRange(from, n)
	emitRemoval(ed.c, ed.key, from, n)
}

func bzpopmin(c *engine.Ctx, args engine.Args) { blockingPop(c, args, false) }
func bzpopmax(c *engine.Ctx, args engine.Args) { blockingPop(c, args, true) }

func blockingPop(c *engine.Ctx, args engine.Args, highest bool) {
	c.BlockingPop(args, store.ZSet, func(key []byte) {
		if ed, ok := open(c, key); ok {
			c.W.Array(3)
			c.W.Bulk(key)
			ed.take(1, highest, pairWriter{c: c, scores: true})
		}
	})
}

func zmpop(c *engine.Ctx, args engine.Args)  { popFirst(c, args, false) }
func bzmpop(c *engine.Ctx, args engine.Args) { popFirst(c, args, true) }

// popFirst takes members of the first key that is a sorted set.
func popFirst(c *engine.Ctx, args engine.Args, waits bool) {
	c.PopFirst(args, waits, "MIN", "MAX", store.ZSet, func(key []byte, p *engine.MPop) {
		if ed, ok := open(c, key); ok {
			n := int(min(p.Count, int64(ed.Len())))
			c.W.Array(2)
			c.W.Bulk(key)
			c.W.Array(n)
			ed.take(n, p.Second, pairWriter{c: c, scores: true, nested: true})
		}
	})
}
