package keys

import (
	"math"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/glob"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/store"
)

// exists counts a key as often as it is named.
func exists(c *engine.Ctx, args engine.Args) { countKeys(c, args[1:], c.Inspect) }

// touch is exists, but what eviction goes by counts it as a use.
func touch(c *engine.Ctx, args engine.Args) { countKeys(c, args[1:], c.Lookup) }

func countKeys(c *engine.Ctx, keys [][]byte, find func([]byte) (store.Entry, bool)) {
	n := int64(0)
	for _, key := range keys {
		if _, ok := find(key); ok {
			n++
		}
	}
	c.W.Int(n)
}

func typeOf(c *engine.Ctx, args engine.Args) {
	e, ok := c.Inspect(args[1])
	if !ok {
		e.Type = store.None
	}
	c.W.Simple(e.Type.String())
}

func dbSize(c *engine.Ctx, args engine.Args) { c.W.Int(int64(c.Len())) }

func matching(c *engine.Ctx, args engine.Args) {
	pattern := args[1]
	at, n := len(c.W.B), 0
	c.Each(func(key []byte, _ store.Entry) {
		if glob.Match(pattern, key) {
			c.W.Bulk(key)
			n++
		}
	})
	c.W.InsertArray(at, n)
}

// scanCountDefault is how many keys a call of SCAN looks at.
const scanCountDefault = 10

// scanOptions are SCAN's arguments.
type scanOptions struct {
	cursor  uint64
	count   int
	pattern []byte // nil: every key
	typed   bool
	typ     store.Type
}

func scan(c *engine.Ctx, args engine.Args) {
	o, ok := parseScan(c, args)
	if !ok {
		return
	}
	// The keys are written first, as the cursor is known last.
	at, n := len(c.W.B), 0
	next := c.Scan(o.cursor, o.count, func(key []byte, e store.Entry) {
		if o.pattern != nil && !glob.Match(o.pattern, key) || o.typed && e.Type != o.typ {
			return
		}
		c.W.Bulk(key)
		n++
	})
	c.ScanReply(at, n, next)
}

func parseScan(c *engine.Ctx, args engine.Args) (o scanOptions, ok bool) {
	o.count = scanCountDefault
	if o.cursor, ok = c.ParseCursor(args[1]); !ok {
		return o, false
	}
	for i := 2; i < len(args); i += 2 {
		switch {
		case i+1 == len(args):
			c.Error(reply.Syntax)
			return o, false
		case command.IsToken(args[i], "COUNT"):
			n, ok := c.Int(args[i+1])
			if !ok {
				return o, false
			}
			if n < 1 {
				c.Error(reply.Syntax)
				return o, false
			}
			o.count = int(min(n, math.MaxInt32))
		case command.IsToken(args[i], "MATCH"):
			o.pattern = args[i+1]
		case command.IsToken(args[i], "TYPE"):
			// A type that does not exist matches nothing.
			o.typ, _ = store.ParseType(args[i+1])
			o.typed = true
		default:
			c.Error(reply.Syntax)
			return o, false
		}
	}
	return o, true
}
