package lists

import (
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/shard"
)

func lpush(c *engine.Ctx, args engine.Args)  { push(c, args, true, false) }
func rpush(c *engine.Ctx, args engine.Args)  { push(c, args, false, false) }
func lpushx(c *engine.Ctx, args engine.Args) { push(c, args, true, true) }
func rpushx(c *engine.Ctx, args engine.Args) { push(c, args, false, true) }

func push(c *engine.Ctx, args engine.Args, front, onlyExisting bool) {
	ed, ok := open(c, args[1])
	switch {
	case !ok:
		return
	case onlyExisting && !ed.found:
		c.W.Int(0)
		return
	}
	ed.change()
	ed.push(args[2:], front)
	n := ed.Len()
	ed.store()
	c.Emit(args...)
	c.Notify(shard.NotifyList, pushEvent(front), args[1])
	c.W.Int(int64(n))
}

func pushEvent(front bool) string {
	if front {
		return "lpush"
	}
	return "rpush"
}

func popEvent(front bool) string {
	if front {
		return "lpop"
	}
	return "rpop"
}
