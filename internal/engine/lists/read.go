package lists

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/value"
	"github.com/bowline-kv/bowline/resp"
)

func llen(c *engine.Ctx, args engine.Args) {
	if l, _, ok := read(c, args[1]); ok {
		c.W.Int(int64(l.Len()))
	}
}

func lindex(c *engine.Ctx, args engine.Args) {
	l, found, ok := read(c, args[1])
	switch {
	case !ok:
		return
	case !found:
		c.W.Null()
		return
	}
	n, ok := c.Int(args[2])
	if !ok {
		return
	}
	if i, ok := index(n, l.Len()); ok {
		c.Element(l.Get(i))
	} else {
		c.W.Null()
	}
}

// index is the number of an element, counted from the end if it is negative;
// false when there is none.
func index(n int64, length int) (int, bool) {
	if n < 0 {
		n += int64(length)
	}
	return int(n), 0 <= n && n < int64(length)
}

func lrange(c *engine.Ctx, args engine.Args) {
	start, ok := c.Int(args[2])
	if !ok {
		return
	}
	end, ok := c.Int(args[3])
	if !ok {
		return
	}
	l, _, ok := read(c, args[1])
	if !ok {
		return
	}
	from, n := engine.Span(start, end, l.Len())
	c.W.Array(n)
	if n > 0 {
		l.Each(from, func(e pack.Element) bool {
			c.Element(e)
			n--
			return n > 0
		})
	}
}

// posOptions are those of LPOS.
type posOptions struct {
	rank, count, maxLen int64
	many                bool // COUNT was given
}

func lpos(c *engine.Ctx, args engine.Args) {
	o, ok := parsePos(c, args[3:])
	if !ok {
		return
	}
	l, found, ok := read(c, args[1])
	switch {
	case !ok:
	case !found && o.many:
		c.W.Array(0)
	case !found:
		c.W.Null()
	default:
		o.search(c, &l, args[2])
	}
}

func parsePos(c *engine.Ctx, args engine.Args) (o posOptions, ok bool) {
	o.rank = 1
	for i := 0; i < len(args); i += 2 {
		if i+1 == len(args) {
			c.Error(reply.Syntax)
			return o, false
		}
		n, valid := resp.ParseInt(args[i+1])
		switch {
		case command.IsToken(args[i], "RANK"):
			if o.rank = n; valid && n == -n && n != 0 || !valid {
				c.Error(rankError(valid))
				return o, false
			}
			if n == 0 {
				c.Error(reply.PosRankZero)
				return o, false
			}
		case command.IsToken(args[i], "COUNT"):
			if o.count, o.many = n, true; !valid || n < 0 {
				c.Error(reply.PosCount)
				return o, false
			}
		case command.IsToken(args[i], "MAXLEN"):
			if o.maxLen = n; !valid || n < 0 {
				c.Error(reply.PosMaxLen)
				return o, false
			}
		default:
			c.Error(reply.Syntax)
			return o, false
		}
	}
	return o, true
}

// rankError is for what is no number, and for the one whose opposite is none.
func rankError(valid bool) string {
	if valid {
		return reply.PosRankRange
	}
	return reply.NotInteger
}

// search replies with the positions of an element.
func (o *posOptions) search(c *engine.Ctx, l *value.List, v []byte) {
	start := len(c.W.B)
	rank, at, step := o.rank, 0, 1
	walk := l.Each
	if rank < 0 {
		rank, at, step = -rank, l.Len()-1, -1
		walk = l.EachBack
	}
	found := 0
	seen := int64(0)
	walk(at, func(e pack.Element) bool {
		seen++
		if e.Equal(v) {
			if rank--; rank <= 0 {
				c.W.Int(int64(at))
				found++
			}
		}
		at += step
		enough := found > 0 && (!o.many || o.count != 0 && int64(found) >= o.count)
		return !enough && (o.maxLen == 0 || seen < o.maxLen)
	})
	switch {
	case o.many:
		c.W.InsertArray(start, found)
	case found == 0:
		c.W.Null()
	}
}
