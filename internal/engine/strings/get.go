package strings

import (
	"bytes"

	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
)

func get(c *engine.Ctx, args engine.Args) {
	if e, ok := c.StringForRead(args[1]); ok {
		c.Value(args[1], e)
	}
}

func strLen(c *engine.Ctx, args engine.Args) {
	e, found := c.Lookup(args[1])
	switch {
	case !found:
		c.W.Int(0)
	case e.Type != store.String:
		c.Error(reply.WrongType)
	default:
		c.W.Int(int64(len(e.Value)))
	}
}

// mGet answers a null for a value of another type, like for a missing key.
func mGet(c *engine.Ctx, args engine.Args) {
	c.W.Array(len(args) - 1)
	for _, key := range args[1:] {
		if e, ok := c.Lookup(key); ok && e.Type == store.String {
			c.Value(key, e)
		} else {
			c.W.Null()
		}
	}
}

func getDel(c *engine.Ctx, args engine.Args) {
	key := args[1]
	e, ok := c.StringForRead(key)
	if !ok {
		return
	}
	c.Value(key, e)
	c.Delete(key)
	c.EmitDel(key)
	c.Notify(shard.NotifyGeneric, "del", key)
}

// delIfEqual is DELIFEQ of Valkey.
func delIfEqual(c *engine.Ctx, args engine.Args) {
	key := args[1]
	e, found, ok := c.StringForWrite(key)
	switch {
	case !ok:
	case !found || !bytes.Equal(e.Value, args[2]):
		c.W.Int(0)
	default:
		c.Delete(key)
		c.EmitDel(key)
		c.Notify(shard.NotifyGeneric, "del", key)
		c.W.Int(1)
	}
}

// getEx parses all of its options before it looks for the key, but judges the
// expiry time only when the key is there: that is the order of Redis's errors.
func getEx(c *engine.Ctx, args engine.Args) {
	key := args[1]
	o, ok := parseOptions(c, args[2:], getExOptions)
	if !ok {
		return
	}
	e, ok := c.StringForRead(key)
	if !ok {
		return
	}
	var at int64
	if o.expiry != nil {
		if at, ok = c.ExpireAt(o.expiry, o.unit); !ok {
			return
		}
	}
	c.Value(key, e)
	switch {
	case o.expiry != nil && at <= c.Now:
		c.Delete(key)
		c.EmitDel(key)
		c.Notify(shard.NotifyGeneric, "del", key)
	case o.expiry != nil:
		c.SetExpiry(key, at)
		c.EmitExpiry(key, at)
		c.Notify(shard.NotifyGeneric, "expire", key)
	case o.persist && e.ExpireAt != 0:
		c.SetExpiry(key, 0)
		c.EmitExpiry(key, 0)
		c.Notify(shard.NotifyGeneric, "persist", key)
	}
}
