package lists

import (
	"math"

	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
)

// Names of effects.
var (
	nameLPop = []byte("LPOP")
	nameRPop = []byte("RPOP")
)

func popName(front bool) []byte {
	if front {
		return nameLPop
	}
	return nameRPop
}

func lpop(c *engine.Ctx, args engine.Args) { pop(c, args, true) }
func rpop(c *engine.Ctx, args engine.Args) { pop(c, args, false) }

func pop(c *engine.Ctx, args engine.Args, front bool) {
	if len(args) > 3 {
		c.Error(reply.WrongArgs(c.Name))
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
	case !ed.found && len(args) == 3:
		c.W.NullArray()
	case !ed.found:
		c.W.Null()
	case len(args) == 2:
		ed.take(1, front)
		c.Emit(args...)
	case count == 0:
		c.W.Array(0)
	default:
		n := min(int(min(count, math.MaxInt32)), ed.Len())
		c.W.Array(n)
		ed.take(n, front)
		c.Emit(args...)
	}
}

// take removes n elements, 1..Len, from one end, writes them as so many replies,
// and saves the list.
func (ed *edit) take(n int, front bool) {
	ed.change()
	for range n {
		ed.c.Element(ed.End(front))
		ed.Drop(front)
	}
	ed.c.Notify(shard.NotifyList, popEvent(front), ed.key)
	ed.saveShrunk()
}

// takeEmit is take for a command whose effect is another: LPOP or RPOP.
func (ed *edit) takeEmit(n int, front bool) {
	ed.take(n, front)
	if n == 1 {
		ed.c.Emit(popName(front), ed.key)
	} else {
		var digits [20]byte
		ed.c.Emit(popName(front), ed.key, resp.AppendInt(digits[:0], int64(n)))
	}
}

func blpop(c *engine.Ctx, args engine.Args) { blockingPop(c, args, true) }
func brpop(c *engine.Ctx, args engine.Args) { blockingPop(c, args, false) }

func blockingPop(c *engine.Ctx, args engine.Args, front bool) {
	c.BlockingPop(args, store.List, func(key []byte) {
		if ed, ok := open(c, key); ok {
			c.W.Array(2)
			c.W.Bulk(key)
			ed.takeEmit(1, front)
		}
	})
}

func lmpop(c *engine.Ctx, args engine.Args)  { popFirst(c, args, false) }
func blmpop(c *engine.Ctx, args engine.Args) { popFirst(c, args, true) }

// popFirst takes elements of the first key that is a list.
func popFirst(c *engine.Ctx, args engine.Args, waits bool) {
	c.PopFirst(args, waits, "LEFT", "RIGHT", store.List, func(key []byte, p *engine.MPop) {
		if ed, ok := open(c, key); ok {
			n := int(min(p.Count, int64(ed.Len())))
			c.W.Array(2)
			c.W.Bulk(key)
			c.W.Array(n)
			ed.takeEmit(n, !p.Second)
		}
	})
}
