package lists

import (
	"bytes"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
)

// Words of the effect of all commands that move an element.
var (
	nameLMove = []byte("LMOVE")
	nameLeft  = []byte("LEFT")
	nameRight = []byte("RIGHT")
)

func sideName(front bool) []byte {
	if front {
		return nameLeft
	}
	return nameRight
}

func lmove(c *engine.Ctx, args engine.Args) {
	from, to, ok := sides(c, args)
	if ok && !moveElement(c, args[1], args[2], from, to) {
		c.W.Null()
	}
}

func rpoplpush(c *engine.Ctx, args engine.Args) {
	if !moveElement(c, args[1], args[2], false, true) {
		c.W.Null()
	}
}

func blmove(c *engine.Ctx, args engine.Args) {
	if from, to, ok := sides(c, args); ok {
		blockingMove(c, args, args[5], from, to)
	}
}

func brpoplpush(c *engine.Ctx, args engine.Args) { blockingMove(c, args, args[3], false, true) }

func blockingMove(c *engine.Ctx, args engine.Args, timeout []byte, from, to bool) {
	millis, ok := c.Timeout(timeout)
	if !ok {
		return
	}
	if c.Serving {
		if e, found := c.Find(args[1]); found && e.Type != store.List {
			c.Block(engine.Wait{}) // it became something else: wait on
			return
		}
	}
	if !moveElement(c, args[1], args[2], from, to) {
		c.Block(engine.Wait{Keys: args[1:2], Type: store.List, Millis: millis, Scalar: true})
	}
}

// side reads LEFT or RIGHT.
func side(arg []byte) (front, ok bool) {
	front = command.IsToken(arg, "LEFT")
	return front, front || command.IsToken(arg, "RIGHT")
}

// sides reads both ends of LMOVE; when ok is false the error was written.
func sides(c *engine.Ctx, args engine.Args) (from, to, ok bool) {
	from, ok = side(args[3])
	if ok {
		to, ok = side(args[4])
	}
	if !ok {
		c.Error(reply.Syntax)
	}
	return from, to, ok
}

// moveElement moves one element and replies with it, or with an error; false,
// without a reply, when there is none to move.
func moveElement(c *engine.Ctx, src, dst []byte, from, to bool) bool {
	source, ok := open(c, src)
	if !ok {
		return true
	}
	if !source.found {
		return false
	}
	if bytes.Equal(src, dst) {
		source.rotate(from, to)
	} else if !source.moveTo(dst, from, to) {
		return true
	}
	c.Emit(nameLMove, src, dst, sideName(from), sideName(to))
	return true
}

// rotate moves an element from one end to the other, or to the same.
func (ed *edit) rotate(from, to bool) {
	c := ed.c
	v := ed.End(from)
	c.Element(v)
	held := v.AppendTo(c.Scratch2())
	c.KeepScratch2(held)
	ed.change()
	ed.Drop(from)
	ed.Push(held, to)
	ed.store()
	c.Notify(shard.NotifyList, pushEvent(to), ed.key)
	c.Notify(shard.NotifyList, popEvent(from), ed.key)
}

// moveTo moves an element to another list; false when that is none, which was
// replied.
func (ed *edit) moveTo(dst []byte, from, to bool) bool {
	c := ed.c
	target, ok := open(c, dst)
	if !ok {
		return false
	}
	ed.again() // looking for the target may have changed the table
	v := ed.End(from)
	c.Element(v)
	held := v.AppendTo(c.Scratch2())
	c.KeepScratch2(held)
	target.change()
	target.push([][]byte{held}, to)
	target.store()
	c.Notify(shard.NotifyList, pushEvent(to), dst)
	ed.again() // as storing the target did, too
	ed.change()
	ed.Drop(from)
	c.Notify(shard.NotifyList, popEvent(from), ed.key)
	ed.saveShrunk()
	return true
}
