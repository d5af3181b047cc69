package strings

import (
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
)

// getRange is SUBSTR too.
func getRange(c *engine.Ctx, args engine.Args) {
	start, ok := c.Int(args[2])
	if !ok {
		return
	}
	end, ok := c.Int(args[3])
	if !ok {
		return
	}
	e, found := c.Lookup(args[1])
	if found && e.Type != store.String {
		c.Error(reply.WrongType)
		return
	}
	// A missing string is an empty one.
	value := part(e.Value, start, end)
	if len(value) >= store.PinnedMin {
		if p, ok := c.Pin(args[1], e); ok {
			c.W.BulkRef(part(p.Bytes, start, end), p.Release)
			return
		}
	}
	c.W.Bulk(value)
}

// part cuts what lies from start to end, both included; negative ones count from
// the end of the value.
func part(value []byte, start, end int64) []byte {
	if start < 0 && end < 0 && start > end {
		return nil
	}
	n := int64(len(value))
	if start < 0 {
		start = max(0, start+n)
	}
	if end < 0 {
		end = max(0, end+n) // so that the first byte is in any range that begins there
	}
	end = min(end, n-1)
	if start > end {
		return nil
	}
	return value[start : end+1]
}

func setRange(c *engine.Ctx, args engine.Args) {
	key, value := args[1], args[3]
	offset, ok := c.Int(args[2])
	if !ok {
		return
	}
	if offset < 0 {
		c.Error(reply.OffsetOutOfRange)
		return
	}
	e, _, ok := c.StringForWrite(key)
	if !ok {
		return
	}
	length := int64(len(e.Value))
	if len(value) == 0 {
		c.W.Int(length)
		return
	}
	// Subtracted, as the sum may overflow.
	if limit := c.StringMax(); offset > limit-int64(len(value)) {
		c.Error(reply.StringTooLong)
		return
	}
	c.Patch(key, int(offset), value)
	c.Emit(args...)
	c.Notify(shard.NotifyString, "setrange", key)
	c.W.Int(max(length, offset+int64(len(value))))
}
