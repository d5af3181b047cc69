package lists

import (
	"math"

	"github.com/bowline-kv/bowline/internal/command"
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
	millis, ok := c.Timeout(args[len(args)-1])
	if !ok {
		return
	}
	keys := args[1 : len(args)-1]
	ed, ok := firstList(c, keys)
	switch {
	case !ok:
	case ed.found:
		c.W.Array(2)
		c.W.Bulk(ed.key)
		ed.takeEmit(1, front)
	default:
		c.Block(engine.Wait{Keys: keys, Type: store.List, Millis: millis})
	}
}

// firstList finds the first of the keys that is a list; ed.found is false when
// none is. When ok is false the error was written. To a command that waited,
// keys of other types are as if they were missing.
func firstList(c *engine.Ctx, keys [][]byte) (ed edit, ok bool) {
	for _, key := range keys {
		if c.Serving {
			if e, found := c.Find(key); !found || e.Type != store.List {
				continue
			}
		}
		if ed, ok = open(c, key); !ok || ed.found {
			return ed, ok
		}
	}
	return edit{}, true
}

// side reads LEFT or RIGHT.
func side(arg []byte) (front, ok bool) {
	front = command.IsToken(arg, "LEFT")
	return front, front || command.IsToken(arg, "RIGHT")
}

func lmpop(c *engine.Ctx, args engine.Args) {
	if p, ok := parseMPop(c, args, 1); ok {
		p.run(c, engine.Wait{}, false)
	}
}

func blmpop(c *engine.Ctx, args engine.Args) {
	p, ok := parseMPop(c, args, 2)
	if !ok {
		return
	}
	if millis, ok := c.Timeout(args[1]); ok {
		p.run(c, engine.Wait{Keys: p.keys, Type: store.List, Millis: millis}, true)
	}
}

// mpop is what LMPOP and BLMPOP are asked for.
type mpop struct {
	keys  [][]byte
	front bool
	count int64
}

// parseMPop reads numkeys key [key ...] LEFT|RIGHT [COUNT count] from argument
// number at on; when ok is false the error was written.
func parseMPop(c *engine.Ctx, args engine.Args, at int) (p mpop, ok bool) {
	n, ok := resp.ParseInt(args[at])
	if !ok || n < 1 {
		c.Error(reply.NumKeysPositive)
		return p, false
	}
	if n >= int64(len(args)-at-1) {
		c.Error(reply.Syntax)
		return p, false
	}
	where := at + 1 + int(n)
	p = mpop{keys: args[at+1 : where], count: -1}
	if p.front, ok = side(args[where]); !ok {
		c.Error(reply.Syntax)
		return p, false
	}
	for i := where + 1; i < len(args); i += 2 {
		if p.count >= 0 || !command.IsToken(args[i], "COUNT") || i+1 == len(args) {
			c.Error(reply.Syntax)
			return p, false
		}
		if p.count, ok = resp.ParseInt(args[i+1]); !ok || p.count < 1 {
			c.Error(reply.CountPositive)
			return p, false
		}
	}
	if p.count < 0 {
		p.count = 1
	}
	return p, true
}

func (p *mpop) run(c *engine.Ctx, wait engine.Wait, waits bool) {
	ed, ok := firstList(c, p.keys)
	switch {
	case !ok:
	case ed.found:
		n := int(min(p.count, int64(ed.Len())))
		c.W.Array(2)
		c.W.Bulk(ed.key)
		c.W.Array(n)
		ed.takeEmit(n, p.front)
	case waits:
		c.Block(wait)
	default:
		c.W.NullArray()
	}
}
