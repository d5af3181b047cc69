package keys

import (
	"math"

	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
	"github.com/bowline-kv/bowline/resp"
)

func objectEncoding(c *engine.Ctx, args engine.Args) {
	if e, ok := object(c, args[2]); ok {
		c.W.BulkString(encoding(&e, bodyOf(c, args[2], &e)))
	}
}

// object finds a key for a subcommand of OBJECT; when there is none it writes a
// null.
func object(c *engine.Ctx, key []byte) (store.Entry, bool) {
	e, ok := c.Peek(key)
	if !ok {
		c.W.Null()
	}
	return e, ok
}

// bodyOf gives the body of a value that was found under a key; nil: it has none.
func bodyOf(c *engine.Ctx, key []byte, e *store.Entry) *store.Body {
	if !e.Large() {
		return nil
	}
	return c.Body(key, e)
}

// embeddedMax is the longest string, in bytes, that Redis keeps in one piece with
// its header.
const embeddedMax = 44

// encoding names a representation as Redis would have chosen it: clients and
// tests look at it. How a value is kept here is another matter.
func encoding(e *store.Entry, body *store.Body) string {
	switch e.Type {
	case store.String:
	case store.List:
		return value.EncodingList(body)
	case store.Set:
		return value.EncodingSet(e)
	case store.Hash:
		return value.EncodingHash(e)
	case store.ZSet:
		return value.EncodingSortedSet(e)
	default:
		return compactEncodings[e.Type]
	}
	if e.Raw || len(e.Value) > embeddedMax {
		return "raw"
	}
	if _, ok := resp.ParseInt(e.Value); ok {
		return "int"
	}
	return "embstr"
}

// compactEncodings are what Redis calls a value of few and short elements.
var compactEncodings = map[store.Type]string{
	store.Stream: "stream",
}

// Redis lets keys share the values 0 to 9999, and says so by this number.
const (
	sharedNumbers  = 10000
	sharedRefCount = math.MaxInt32
)

func objectRefCount(c *engine.Ctx, args engine.Args) {
	e, ok := object(c, args[2])
	if !ok {
		return
	}
	m := c.Space().Memory()
	if e.Type == store.String && !e.Raw && m.SharesNumbers() {
		if n, number := resp.ParseInt(e.Value); number && n >= 0 && n < sharedNumbers {
			c.W.Int(sharedRefCount)
			return
		}
	}
	c.W.Int(1)
}

func objectIdleTime(c *engine.Ctx, args engine.Args) {
	e, ok := object(c, args[2])
	if !ok {
		return
	}
	m := c.Space().Memory()
	if m.CountsUses() {
		c.Error(reply.IdleTimeUntracked)
		return
	}
	c.W.Int(m.IdleSeconds(e, c.Now))
}

func objectFreq(c *engine.Ctx, args engine.Args) {
	e, ok := object(c, args[2])
	if !ok {
		return
	}
	m := c.Space().Memory()
	if !m.CountsUses() {
		c.Error(reply.FrequencyUntracked)
		return
	}
	c.W.Int(m.Uses(e, c.Now))
}
