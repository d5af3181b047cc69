package strings

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/store"
)

// lcsOptions are what LCS takes after its keys.
type lcsOptions struct {
	length, index, withLength bool
	lengthMin                 int64 // of a match that is listed
}

func lcs(c *engine.Ctx, args engine.Args) {
	a, foundA := c.Lookup(args[1])
	b, foundB := c.Lookup(args[2])
	if foundA && a.Type != store.String || foundB && b.Type != store.String {
		c.Error(reply.LCSNotStrings)
		return
	}
	if foundA { // looking for b may have deleted it, and moved a
		a, _ = c.Again(args[1])
	}
	o, ok := parseLCS(c, args[3:])
	if !ok {
		return
	}
	size, ok := tableBytes(a.Value, b.Value)
	if !ok || size > uint64(c.StringMax()) {
		c.Error(reply.LCSMemory)
		return
	}
	s := newSubsequence(a.Value, b.Value, o.index || !o.length)
	switch {
	case o.index:
		writeMatches(c, s, o)
	case o.length:
		c.W.Int(int64(s.length))
	default:
		c.W.Bulk(s.text())
	}
}

func parseLCS(c *engine.Ctx, args engine.Args) (o lcsOptions, ok bool) {
	for i := 0; i < len(args); i++ {
		switch {
		case command.IsToken(args[i], "LEN"):
			o.length = true
		case command.IsToken(args[i], "IDX"):
			o.index = true
		case command.IsToken(args[i], "WITHMATCHLEN"):
			o.withLength = true
		case command.IsToken(args[i], "MINMATCHLEN") && i+1 < len(args):
			i++
			if o.lengthMin, ok = c.Int(args[i]); !ok {
				return o, false
			}
		default:
			c.Error(reply.Syntax)
			return o, false
		}
	}
	if o.length && o.index {
		c.Error(reply.LCSLengthAndIndex)
		return o, false
	}
	return o, true
}

func writeMatches(c *engine.Ctx, s *subsequence, o lcsOptions) {
	c.W.Map(2)
	c.W.BulkString("matches")
	at, n := len(c.W.B), 0
	s.matches(func(m match) {
		if int64(m.n) < o.lengthMin {
			return
		}
		n++
		if o.withLength {
			c.W.Array(3)
		} else {
			c.W.Array(2)
		}
		writeSpan(c, m.a, m.n)
		writeSpan(c, m.b, m.n)
		if o.withLength {
			c.W.Int(int64(m.n))
		}
	})
	c.W.InsertArray(at, n)
	c.W.BulkString("len")
	c.W.Int(int64(s.length))
}

// writeSpan writes the first and the last index.
func writeSpan(c *engine.Ctx, start, n int) {
	c.W.Array(2)
	c.W.Int(int64(start))
	c.W.Int(int64(start + n - 1))
}
