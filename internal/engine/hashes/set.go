package hashes

import (
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
)

// Words of effects.
var (
	nameHSet    = []byte("HSET")
	nameHSetEx  = []byte("HSETEX")
	nameKeepTTL = []byte("KEEPTTL")
	nameFields  = []byte("FIELDS")
	nameOne     = []byte("1")
)

func hset(c *engine.Ctx, args engine.Args) {
	if added, ok := setPairs(c, args); ok {
		c.W.Int(int64(added))
	}
}

func hmset(c *engine.Ctx, args engine.Args) {
	if _, ok := setPairs(c, args); ok {
		c.W.OK()
	}
}

// setPairs sets key field value [field value ...]; when ok is false the error was
// written.
func setPairs(c *engine.Ctx, args engine.Args) (added int, ok bool) {
	if len(args)%2 != 0 {
		c.Error(reply.WrongArgs(c.Name))
		return 0, false
	}
	var ed edit
	if !ed.open(c, args[1]) {
		return 0, false
	}
	ed.change()
	for i := 2; i < len(args); i += 2 {
		if ed.set(args[i], args[i+1], false) {
			added++
		}
	}
	ed.save()
	c.Emit(args...)
	c.Notify(shard.NotifyHash, "hset", args[1])
	return added, true
}

func hsetnx(c *engine.Ctx, args engine.Args) {
	var ed edit
	if !ed.open(c, args[1]) {
		return
	}
	if _, _, exists := ed.Get(args[2]); exists {
		c.W.Int(0)
		return
	}
	ed.change()
	ed.set(args[2], args[3], false)
	ed.save()
	c.Emit(nameHSet, args[1], args[2], args[3])
	c.Notify(shard.NotifyHash, "hset", args[1])
	c.W.Int(1)
}

func hdel(c *engine.Ctx, args engine.Args) {
	var ed edit
	if !ed.open(c, args[1]) {
		return
	}
	n := int64(0)
	if ed.found {
		ed.change()
		for _, field := range args[2:] {
			if ed.Delete(field) {
				n++
			}
		}
	}
	if n > 0 {
		c.Emit(args...)
		c.Notify(shard.NotifyHash, "hdel", args[1])
		ed.save()
	}
	c.W.Int(n)
}

// emitField emits that a field has a value; timed says that it keeps its time.
func emitField(c *engine.Ctx, key, field, v []byte, timed bool) {
	if timed {
		c.Emit(nameHSetEx, key, nameKeepTTL, nameFields, nameOne, field, v)
	} else {
		c.Emit(nameHSet, key, field, v)
	}
}
