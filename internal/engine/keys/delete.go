package keys

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
)

func del(c *engine.Ctx, args engine.Args) {
	deleted := int64(0)
	for _, key := range args[1:] {
		// Find first: a key whose time is over is not one that was deleted here.
		if _, ok := c.Find(key); ok {
			c.Delete(key)
			c.EmitDel(key)
			c.Notify(shard.NotifyGeneric, "del", key)
			deleted++
		}
	}
	c.W.Int(deleted)
}

func flushDB(c *engine.Ctx, args engine.Args) {
	if flushMode(c, args) {
		c.FlushDB()
		c.EmitName("FLUSHDB")
		c.W.OK()
	}
}

func flushAll(c *engine.Ctx, args engine.Args) {
	if flushMode(c, args) {
		c.FlushAll()
		c.EmitName("FLUSHALL")
		c.W.OK()
	}
}

// flushMode accepts SYNC and ASYNC. Both do the same: forgetting the tables
// takes no time, whatever was in them.
func flushMode(c *engine.Ctx, args engine.Args) bool {
	if len(args) == 1 || len(args) == 2 && (command.IsToken(args[1], "SYNC") || command.IsToken(args[1], "ASYNC")) {
		return true
	}
	c.Error(reply.Syntax)
	return false
}
