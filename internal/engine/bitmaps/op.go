package bitmaps

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
)

// operation is what BITOP does. X is the first source, Y any of the others.
type operation uint8

const (
	opAnd operation = iota
	opOr
	opXor
	opNot
	opDiff  // in X and in no Y
	opDiff1 // in a Y and not in X
	opAndOr // in X and in a Y
	opOne   // in exactly one source
)

// operations are the names; those after NOT came with Redis 8.2.
var operations = [...]string{"AND", "OR", "XOR", "NOT", "DIFF", "DIFF1", "ANDOR", "ONE"}

func parseOperation(c *engine.Ctx, arg []byte, sources int) (op operation, ok bool) {
	at := -1
	for i, name := range operations {
		if command.IsToken(arg, name) {
			at = i
		}
	}
	op = operation(at)
	switch {
	case at < 0:
		c.Error(reply.Syntax)
		return 0, false
	case op == opNot && sources != 1:
		c.Error(reply.BitopNot)
		return 0, false
	case (op == opDiff || op == opDiff1 || op == opAndOr) && sources < 2:
		c.Error(reply.BitopSources(operations[op]))
		return 0, false
	}
	return op, true
}

func bitOp(c *engine.Ctx, args engine.Args) {
	target, keys := args[2], args[3:]
	op, ok := parseOperation(c, args[1], len(keys))
	if !ok {
		return
	}
	longest := 0
	for _, key := range keys {
		e, found := c.Lookup(key)
		if found && e.Type != store.String {
			c.Error(reply.WrongType)
			return
		}
		longest = max(longest, len(e.Value))
	}
	if longest == 0 {
		c.StoreNothing(target)
		return
	}
	c.Find(target) // if its time is over it is gone, and not overwritten
	out := compute(c, op, keys, longest)
	c.SetString(target, out, 0)
	c.MarkRaw(target)
	c.KeepScratch(out)
	c.Emit(args...)
	c.Notify(shard.NotifyString, "set", target)
	c.W.Int(int64(longest))
}

// compute combines the values of keys into a buffer of the given length, that of
// the longest. Nothing expires meanwhile: all were looked up.
func compute(c *engine.Ctx, op operation, keys [][]byte, length int) []byte {
	value := func(i int) []byte {
		e, _ := c.Again(keys[i])
		return e.Value
	}
	// out holds X, then the outcome; the second buffer what needs one.
	out, second := buffers(c, op, length)
	copy(out, value(0))
	switch op {
	case opNot:
		invert(out)
	case opAnd:
		for i := 1; i < len(keys); i++ {
			and(out, value(i))
		}
	case opOr:
		for i := 1; i < len(keys); i++ {
			or(out, value(i))
		}
	case opXor:
		for i := 1; i < len(keys); i++ {
			xor(out, value(i))
		}
	case opOne: // second: in more than one
		for i := 1; i < len(keys); i++ {
			v := value(i)
			orAnd(second, out, v)
			or(out, v)
		}
		andNot(out, second)
	default: // second: in a Y
		for i := 1; i < len(keys); i++ {
			or(second, value(i))
		}
		switch op {
		case opDiff:
			andNot(out, second)
		case opDiff1:
			andNot(second, out)
			copy(out, second)
		case opAndOr:
			and(out, second)
		}
	}
	return out
}

// buffers gives one or two buffers of zeros.
func buffers(c *engine.Ctx, op operation, length int) (first, second []byte) {
	total := length
	if op >= opDiff {
		total *= 2
	}
	b := c.Scratch()
	if cap(b) < total {
		b = make([]byte, total)
	} else {
		b = b[:total]
		clear(b)
	}
	return b[:length], b[length:]
}
