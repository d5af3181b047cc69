package strings

import (
	"bytes"

	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
)

func set(c *engine.Ctx, args engine.Args) {
	key, value := args[1], args[2]
	o, ok := parseOptions(c, args[3:], setOptions)
	if !ok {
		return
	}
	var at int64
	if o.expiry != nil {
		if at, ok = c.ExpireAt(o.expiry, o.unit); !ok {
			return
		}
	}
	var old store.Entry
	var found bool
	if o.get {
		if old, found = c.Lookup(key); found && old.Type != store.String {
			c.Error(reply.WrongType)
			return
		}
	} else {
		old, found = c.Find(key)
	}
	if o.ifEqual != nil && found && old.Type != store.String {
		c.Error(reply.WrongType)
		return
	}
	if o.get { // before the old value is overwritten
		if found {
			c.Value(key, old)
		} else {
			c.W.Null()
		}
	}
	if o.nx && found || o.xx && !found || o.ifEqual != nil && !(found && bytes.Equal(old.Value, o.ifEqual)) {
		if !o.get {
			c.W.Null()
		}
		return
	}
	if o.keepTTL {
		at = old.ExpireAt
	}
	if found && old.Type == store.String && old.ExpireAt == at {
		c.SetFound(key, &old, value)
		told(c, key, value, at)
	} else {
		put(c, key, value, at)
	}
	if o.expiry != nil {
		c.Notify(shard.NotifyGeneric, "expire", key)
	}
	if !o.get {
		c.W.OK()
	}
}

// put makes a key a string, and emits and reports it.
func put(c *engine.Ctx, key, value []byte, at int64) {
	c.SetString(key, value, at)
	told(c, key, value, at)
}

// told emits and reports that a key was made a string.
func told(c *engine.Ctx, key, value []byte, at int64) {
	c.EmitSet(key, value, at)
	c.Notify(shard.NotifyString, "set", key)
}

func setNX(c *engine.Ctx, args engine.Args) {
	if _, found := c.Find(args[1]); found {
		c.W.Int(0)
		return
	}
	put(c, args[1], args[2], 0)
	c.W.Int(1)
}

func setEx(c *engine.Ctx, args engine.Args) { setWithExpiry(c, args, engine.Seconds) }

func pSetEx(c *engine.Ctx, args engine.Args) { setWithExpiry(c, args, engine.Millis) }

func setWithExpiry(c *engine.Ctx, args engine.Args, u engine.Unit) {
	at, ok := c.ExpireAt(args[2], u)
	if !ok {
		return
	}
	c.Find(args[1]) // a key whose time is over ends before the new one begins
	put(c, args[1], args[3], at)
	c.Notify(shard.NotifyGeneric, "expire", args[1])
	c.W.OK()
}

func getSet(c *engine.Ctx, args engine.Args) {
	e, found := c.Lookup(args[1])
	switch {
	case !found:
		c.W.Null()
	case e.Type != store.String:
		c.Error(reply.WrongType)
		return
	default:
		c.Value(args[1], e)
	}
	put(c, args[1], args[2], 0)
}

func mSet(c *engine.Ctx, args engine.Args) {
	if len(args)%2 == 0 {
		c.Error(reply.WrongArgs(c.Name))
		return
	}
	putPairs(c, args[1:])
	c.W.OK()
}

func mSetNX(c *engine.Ctx, args engine.Args) {
	if len(args)%2 == 0 {
		c.Error(reply.WrongArgs(c.Name))
		return
	}
	for i := 1; i < len(args); i += 2 {
		if _, found := c.Find(args[i]); found {
			c.W.Int(0)
			return
		}
	}
	putPairs(c, args[1:])
	c.W.Int(1)
}

func putPairs(c *engine.Ctx, pairs [][]byte) {
	for i := 0; i < len(pairs); i += 2 {
		c.Find(pairs[i]) // as in setWithExpiry
		put(c, pairs[i], pairs[i+1], 0)
	}
}

func appendTo(c *engine.Ctx, args engine.Args) {
	key, suffix := args[1], args[2]
	e, found, ok := c.StringForWrite(key)
	if !ok {
		return
	}
	if limit := c.StringMax(); int64(len(e.Value))+int64(len(suffix)) > limit {
		c.Error(reply.StringTooLong)
		return
	}
	n := len(suffix)
	if found {
		n = c.Append(key, suffix)
	} else {
		c.SetString(key, suffix, 0)
	}
	c.Emit(args...)
	c.Notify(shard.NotifyString, "append", key)
	c.W.Int(int64(n))
}
