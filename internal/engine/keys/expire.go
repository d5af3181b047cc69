package keys

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
)

// The answers of the TTL family where there is no time to tell.
const (
	ttlNoKey    = -2
	ttlNoExpiry = -1
)

func ttl(c *engine.Ctx, args engine.Args) {
	answerExpiry(c, args[1], func(at int64) int64 { return nearestSecond(at - c.Now) })
}

func pTTL(c *engine.Ctx, args engine.Args) {
	answerExpiry(c, args[1], func(at int64) int64 { return at - c.Now })
}

func expireTime(c *engine.Ctx, args engine.Args) {
	answerExpiry(c, args[1], nearestSecond)
}

func pExpireTime(c *engine.Ctx, args engine.Args) {
	answerExpiry(c, args[1], func(at int64) int64 { return at })
}

// nearestSecond rounds without overflowing.
func nearestSecond(millis int64) int64 { return millis/1000 + (millis%1000+500)/1000 }

func answerExpiry(c *engine.Ctx, key []byte, answer func(at int64) int64) {
	e, ok := c.Inspect(key)
	switch {
	case !ok:
		c.W.Int(ttlNoKey)
	case e.ExpireAt == 0:
		c.W.Int(ttlNoExpiry)
	default:
		c.W.Int(answer(e.ExpireAt))
	}
}

func persist(c *engine.Ctx, args engine.Args) {
	key := args[1]
	e, ok := c.Find(key)
	if !ok || e.ExpireAt == 0 {
		c.W.Int(0)
		return
	}
	c.SetExpiry(key, 0)
	c.EmitExpiry(key, 0)
	c.Notify(shard.NotifyGeneric, "persist", key)
	c.W.Int(1)
}

func expire(c *engine.Ctx, args engine.Args)    { setExpiry(c, args, engine.Seconds) }
func pExpire(c *engine.Ctx, args engine.Args)   { setExpiry(c, args, engine.Millis) }
func expireAt(c *engine.Ctx, args engine.Args)  { setExpiry(c, args, engine.SecondsAt) }
func pExpireAt(c *engine.Ctx, args engine.Args) { setExpiry(c, args, engine.MillisAt) }

// setExpiry deletes the key at once when the time is already over.
func setExpiry(c *engine.Ctx, args engine.Args, u engine.Unit) {
	key := args[1]
	cond, ok := parseCondition(c, args[3:])
	if !ok {
		return
	}
	at, ok := c.ExpireAtSigned(args[2], u)
	if !ok {
		return
	}
	e, found := c.Find(key)
	if !found || !cond.allows(e.ExpireAt, at) {
		c.W.Int(0)
		return
	}
	if at <= c.Now {
		c.Delete(key)
		c.EmitDel(key)
		c.Notify(shard.NotifyGeneric, "del", key)
	} else {
		c.SetExpiry(key, at)
		c.EmitExpiry(key, at)
		c.Notify(shard.NotifyGeneric, "expire", key)
	}
	c.W.Int(1)
}

// condition is what NX, XX, GT and LT ask of the present expiry time.
type condition struct{ nx, xx, gt, lt bool }

func parseCondition(c *engine.Ctx, args engine.Args) (cond condition, ok bool) {
	for _, arg := range args {
		switch {
		case command.IsToken(arg, "NX"):
			cond.nx = true
		case command.IsToken(arg, "XX"):
			cond.xx = true
		case command.IsToken(arg, "GT"):
			cond.gt = true
		case command.IsToken(arg, "LT"):
			cond.lt = true
		default:
			c.Error(reply.UnsupportedOption(arg))
			return cond, false
		}
	}
	switch {
	case cond.nx && (cond.xx || cond.gt || cond.lt):
		c.Error(reply.ExpireNXConflict)
		return cond, false
	case cond.gt && cond.lt:
		c.Error(reply.ExpireGTConflict)
		return cond, false
	}
	return cond, true
}

// allows compares the present expiry time, 0 being never, with the new one.
func (cond condition) allows(present, next int64) bool {
	switch {
	case cond.nx && present != 0, cond.xx && present == 0:
		return false
	case cond.gt:
		return present != 0 && next > present
	case cond.lt:
		return present == 0 || next < present
	}
	return true
}
