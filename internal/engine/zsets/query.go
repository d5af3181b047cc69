package zsets

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
	"github.com/bowline-kv/bowline/resp"
)

// combination is what ZUNION and its like are asked for.
type combination struct {
	op       operation
	mayScore bool // WITHSCORES is an option
	mayLimit bool // LIMIT is, and what is about scores is not

	inputs    []input
	aggregate aggregate
	scores    bool
	limit     int64 // 0: none
}

// parse reads numkeys key [key ...] and options, and finds the keys; false when
// the error was written.
func (q *combination) parse(c *engine.Ctx, args engine.Args) bool {
	n, ok := c.Int(args[0])
	switch {
	case !ok:
		return false
	case n < 1:
		c.Error(reply.InputKeyNeeded(c.Name))
		return false
	case n > int64(len(args)-1):
		c.Error(reply.Syntax)
		return false
	}
	return q.find(c, args[1:1+n]) && q.parseOptions(c, args[1+n:])
}

// find makes the inputs, missing keys being empty; false when the error was
// written.
func (q *combination) find(c *engine.Ctx, keys [][]byte) bool {
	for _, key := range keys {
		if e, found := c.Lookup(key); found && e.Type != store.ZSet && e.Type != store.Set {
			c.Error(reply.WrongType)
			return false
		}
	}
	// Only now, as looking for a key may delete it, which ends other views.
	q.inputs = make([]input, len(keys))
	for i, key := range keys {
		in := &q.inputs[i]
		in.weight = 1
		e, found := c.Again(key)
		switch {
		case !found:
		case e.Type == store.ZSet:
			in.sorted = viewOf(c, key, &e)
		case e.Large():
			in.set, in.isSet = value.SetOf(&e, c.Body(key, &e)), true
		default:
			in.set, in.isSet = value.SetOf(&e, nil), true
		}
	}
	return true
}

func (q *combination) parseOptions(c *engine.Ctx, args engine.Args) bool {
	q.aggregate = sum
	scoring := q.op != difference && !q.mayLimit
	for len(args) > 0 {
		used := 0
		switch left := len(args) - 1; {
		case scoring && left >= len(q.inputs) && command.IsToken(args[0], "WEIGHTS"):
			used = 1 + len(q.inputs)
			if !q.parseWeights(c, args[1:used]) {
				return false
			}
		case scoring && left >= 1 && command.IsToken(args[0], "AGGREGATE") && q.parseAggregate(args[1]):
			used = 2
		case q.mayScore && command.IsToken(args[0], "WITHSCORES"):
			used, q.scores = 1, true
		case q.mayLimit && left >= 1 && command.IsToken(args[0], "LIMIT"):
			used = 2
			var ok bool
			if q.limit, ok = resp.ParseInt(args[1]); !ok || q.limit < 0 {
				c.Error(reply.LimitNegative)
				return false
			}
		default:
			c.Error(reply.Syntax)
			return false
		}
		args = args[used:]
	}
	return true
}

func (q *combination) parseWeights(c *engine.Ctx, args engine.Args) (ok bool) {
	for i, arg := range args {
		if q.inputs[i].weight, ok = engine.ParseFloat(arg); !ok {
			c.Error(reply.WeightNotFloat)
			return false
		}
	}
	return true
}

func (q *combination) parseAggregate(arg []byte) bool {
	switch {
	case command.IsToken(arg, "SUM"):
		q.aggregate = sum
	case command.IsToken(arg, "MIN"):
		q.aggregate = lower
	case command.IsToken(arg, "MAX"):
		q.aggregate = higher
	default:
		return false
	}
	return true
}
