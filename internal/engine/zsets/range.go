package zsets

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/value"
	"github.com/bowline-kv/bowline/resp"
)

var nameZRangeStore = []byte("ZRANGESTORE")

// rangeQuery is what ZRANGE and its older forms are asked for.
type rangeQuery struct {
	span
	// choosesOrder and choosesEnd: BYSCORE, BYLEX and REV are options, and not yet
	// given.
	choosesOrder, choosesEnd bool
	stores                   bool
	scores                   bool // WITHSCORES
	offset, count            int64
}

func zrange(c *engine.Ctx, args engine.Args) {
	q := rangeQuery{choosesOrder: true, choosesEnd: true}
	q.run(c, args)
}

func zrevRange(c *engine.Ctx, args engine.Args) { runRange(c, args, span{back: true}) }

func zrangeByScore(c *engine.Ctx, args engine.Args) { runRange(c, args, span{by: byScore}) }

func zrevRangeByScore(c *engine.Ctx, args engine.Args) {
	runRange(c, args, span{by: byScore, back: true})
}

func zrangeByLex(c *engine.Ctx, args engine.Args) { runRange(c, args, span{by: byLex}) }

func zrevRangeByLex(c *engine.Ctx, args engine.Args) { runRange(c, args, span{by: byLex, back: true}) }

func runRange(c *engine.Ctx, args engine.Args, s span) {
	q := rangeQuery{span: s}
	q.run(c, args)
}

// run executes a command that replies with the range.
func (q *rangeQuery) run(c *engine.Ctx, args engine.Args) {
	if !q.parse(c, args[2:]) {
		return
	}
	z, _, ok := read(c, args[1])
	if !ok {
		return
	}
	from, n := q.find(&z)
	w := writer(c, q.scores)
	w.start(n)
	z.Walk(from, n, q.back, w.write)
}

func zrangeStore(c *engine.Ctx, args engine.Args) {
	q := rangeQuery{choosesOrder: true, choosesEnd: true, stores: true}
	if !q.parse(c, args[3:]) {
		return
	}
	dst, src := args[1], args[2]
	z, found, ok := read(c, src)
	if !ok {
		return
	}
	from, n := q.find(&z)
	if n == 0 {
		c.StoreNothing(dst)
		return
	}
	if c.Find(dst); found { // looking for dst may have changed the table
		e, _ := c.Again(src)
		z = viewOf(c, src, &e)
	}
	result := edit{c: c, key: dst}
	result.change()
	if !result.Fits(result.limit, n, 0, 0) {
		result.Grow(c.NewSorted(dst))
	}
	var room [value.TextMax]byte
	z.Walk(from, n, false, func(member pack.Element, score float64) bool {
		result.put(value.Text(member, room[:]), score)
		return true
	})
	result.save()
	c.Notify(shard.NotifyZSet, "zrangestore", dst)
	var first, last [20]byte
	c.Emit(nameZRangeStore, dst, src, resp.AppendInt(first[:0], int64(from)), resp.AppendInt(last[:0], int64(from+n-1)))
	c.W.Int(int64(n))
}

// parse reads the two ends of the range and what follows them; false when the
// error was written.
func (q *rangeQuery) parse(c *engine.Ctx, args engine.Args) bool {
	q.count = -1
	for i := 2; i < len(args); i++ {
		switch arg := args[i]; {
		case !q.stores && command.IsToken(arg, "WITHSCORES"):
			q.scores = true
		case i+2 < len(args) && command.IsToken(arg, "LIMIT"):
			var ok bool
			if q.offset, ok = c.Int(args[i+1]); !ok {
				return false
			}
			if q.count, ok = c.Int(args[i+2]); !ok {
				return false
			}
			i += 2
		case q.choosesEnd && command.IsToken(arg, "REV"):
			q.back, q.choosesEnd = true, false
		case q.choosesOrder && command.IsToken(arg, "BYLEX"):
			q.by, q.choosesOrder = byLex, false
		case q.choosesOrder && command.IsToken(arg, "BYSCORE"):
			q.by, q.choosesOrder = byScore, false
		default:
			c.Error(reply.Syntax)
			return false
		}
	}
	switch {
	case q.by == byRank && q.count != -1:
		c.Error(reply.RangeLimit)
		return false
	case q.by == byLex && q.scores:
		c.Error(reply.RangeLexScores)
		return false
	}
	low, high := args[0], args[1]
	if q.back && q.by != byRank {
		low, high = high, low
	}
	return q.parseEnds(c, low, high)
}

// find gives the part of a sorted set that is asked for, as [span.in].
func (q *rangeQuery) find(z *value.SortedSet) (from, n int) {
	from, n = q.in(z)
	if q.by == byRank {
		return from, n
	}
	if q.offset < 0 || q.offset > int64(n) {
		return from, 0
	}
	skip := int(q.offset)
	kept := n - skip
	if q.count >= 0 {
		kept = int(min(q.count, int64(kept)))
	}
	if q.back {
		return from + n - skip - kept, kept
	}
	return from + skip, kept
}

// pairWriter writes members, and their scores if that is asked for: in pairs, or
// each pair as an array of its own.
type pairWriter struct {
	c      *engine.Ctx
	scores bool
	nested bool
}

// writer nests pairs in RESP3 only, as most commands do.
func writer(c *engine.Ctx, scores bool) pairWriter {
	return pairWriter{c: c, scores: scores, nested: scores && c.W.Proto >= 3}
}

// start announces n members.
func (w *pairWriter) start(n int) {
	if w.scores && !w.nested {
		n *= 2
	}
	w.c.W.Array(n)
}

// write is to be called for each member; it always wants more.
func (w *pairWriter) write(member pack.Element, score float64) bool {
	if w.nested {
		w.c.W.Array(2)
	}
	w.c.Element(member)
	if w.scores {
		w.c.W.Double(score)
	}
	return true
}
