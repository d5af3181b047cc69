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
	millis, ok := c.Timeout(args[len(args)-1])
	if !ok {
		return
	}
	keys := args[1 : len(args)-1]
	ed, ok := firstSortedSet(c, keys)
	switch {
	case !ok:
	case ed.found:
		c.W.Array(3)
		c.W.Bulk(ed.key)
		ed.take(1, highest, pairWriter{c: c, scores: true})
	default:
		c.Block(engine.Wait{Keys: keys, Type: store.ZSet, Millis: millis})
	}
}

// firstSortedSet finds the first of the keys that is a sorted set; ed.found is
// false when none is. When ok is false the error was written. To a command that
// waited, keys of other types are as if they were missing.
func firstSortedSet(c *engine.Ctx, keys [][]byte) (ed edit, ok bool) {
	for _, key := range keys {
		if c.Serving {
			if e, found := c.Find(key); !found || e.Type != store.ZSet {
				continue
			}
		}
		if ed, ok = open(c, key); !ok || ed.found {
			return ed, ok
		}
	}
	return edit{}, true
}

func zmpop(c *engine.Ctx, args engine.Args) {
	if p, ok := c.MPop(args, 1, "MIN", "MAX"); ok {
		popFirst(c, &p, engine.Wait{}, false)
	}
}

func bzmpop(c *engine.Ctx, args engine.Args) {
	p, ok := c.MPop(args, 2, "MIN", "MAX")
	if !ok {
		return
	}
	if millis, ok := c.Timeout(args[1]); ok {
		popFirst(c, &p, engine.Wait{Keys: p.Keys, Type: store.ZSet, Millis: millis}, true)
	}
}

// popFirst takes members of the first key that is a sorted set.
func popFirst(c *engine.Ctx, p *engine.MPop, wait engine.Wait, waits bool) {
	ed, ok := firstSortedSet(c, p.Keys)
	switch {
	case !ok:
	case ed.found:
		n := int(min(p.Count, int64(ed.Len())))
		c.W.Array(2)
		c.W.Bulk(ed.key)
		c.W.Array(n)
		ed.take(n, p.Second, pairWriter{c: c, scores: true, nested: true})
	case waits:
		c.Block(wait)
	default:
		c.W.NullArray()
	}
}
