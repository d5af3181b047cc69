package zsets

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
)

func zcard(c *engine.Ctx, args engine.Args) {
	if z, _, ok := read(c, args[1]); ok {
		c.W.Int(int64(z.Len()))
	}
}

func zscore(c *engine.Ctx, args engine.Args) {
	z, _, ok := read(c, args[1])
	if !ok {
		return
	}
	if score, ok := z.Score(args[2]); ok {
		c.W.Double(score)
	} else {
		c.W.Null()
	}
}

func zmscore(c *engine.Ctx, args engine.Args) {
	z, _, ok := read(c, args[1])
	if !ok {
		return
	}
	c.W.Array(len(args) - 2)
	for _, member := range args[2:] {
		if score, ok := z.Score(member); ok {
			c.W.Double(score)
		} else {
			c.W.Null()
		}
	}
}

func zrank(c *engine.Ctx, args engine.Args)    { rank(c, args, false) }
func zrevRank(c *engine.Ctx, args engine.Args) { rank(c, args, true) }

func rank(c *engine.Ctx, args engine.Args, back bool) {
	withScore := len(args) > 3
	switch {
	case len(args) > 4:
		c.Error(reply.WrongArgs(c.Name))
		return
	case withScore && !command.IsToken(args[3], "WITHSCORE"):
		c.Error(reply.Syntax)
		return
	}
	z, _, ok := read(c, args[1])
	if !ok {
		return
	}
	n, score, ok := z.Rank(args[2])
	if back {
		n = z.Len() - 1 - n
	}
	switch {
	case ok && withScore:
		c.W.Array(2)
		c.W.Int(int64(n))
		c.W.Double(score)
	case ok:
		c.W.Int(int64(n))
	case withScore:
		c.W.NullArray()
	default:
		c.W.Null()
	}
}

func zcount(c *engine.Ctx, args engine.Args)    { countRange(c, args, span{by: byScore}) }
func zlexCount(c *engine.Ctx, args engine.Args) { countRange(c, args, span{by: byLex}) }

func countRange(c *engine.Ctx, args engine.Args, s span) {
	if !s.parseEnds(c, args[2], args[3]) {
		return
	}
	if z, _, ok := read(c, args[1]); ok {
		_, n := s.in(&z)
		c.W.Int(int64(n))
	}
}

func zscan(c *engine.Ctx, args engine.Args) {
	cursor, ok := c.ParseCursor(args[2])
	if !ok {
		return
	}
	z, found, ok := read(c, args[1])
	switch {
	case !ok:
		return
	case !found:
		c.ScanReply(len(c.W.B), 0, 0)
		return
	}
	o := engine.MemberScan{Cursor: cursor}
	if !o.ParseOptions(c, args[3:], "NOSCORES") {
		return
	}
	at, n := len(c.W.B), 0
	next := z.Scan(o.Cursor, o.Count, func(member pack.Element, score float64) {
		if !o.Matches(member) {
			return
		}
		c.Element(member)
		n++
		if !o.Bare {
			var text [32]byte
			c.W.Bulk(z.AppendScore(text[:0], score))
			n++
		}
	})
	c.ScanReply(at, n, next)
}
