package bitmaps

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
)

// action is what a step of BITFIELD does.
type action uint8

const (
	actGet action = iota
	actSet
	actIncrBy
)

// step is one subcommand of BITFIELD.
type step struct {
	typ      integer
	offset   int64 // of the first bit
	operand  int64 // of SET and INCRBY
	do       action
	overflow overflow
}

// steps reads the subcommands of a BITFIELD one by one. They are read twice, once
// to check them and once to run them, so that they need no memory.
type steps struct {
	c        *engine.Ctx
	rest     engine.Args
	overflow overflow
}

// next gives the next subcommand; more is false at the end, and ok when there is
// an error, which was written.
func (r *steps) next() (s step, more, ok bool) {
	for len(r.rest) > 0 {
		left := len(r.rest) - 1
		switch name := r.rest[0]; {
		case command.IsToken(name, "OVERFLOW") && left >= 1:
			if !r.parseOverflow(r.rest[1]) {
				return s, false, false
			}
			r.rest = r.rest[2:]
			continue
		case command.IsToken(name, "GET") && left >= 2:
			s.do = actGet
		case command.IsToken(name, "SET") && left >= 3:
			s.do = actSet
		case command.IsToken(name, "INCRBY") && left >= 3:
			s.do = actIncrBy
		default:
			r.c.Error(reply.Syntax)
			return s, false, false
		}
		return r.operands(s)
	}
	return s, false, true
}

func (r *steps) parseOverflow(arg []byte) bool {
	switch {
	case command.IsToken(arg, "WRAP"):
		r.overflow = wrap
	case command.IsToken(arg, "SAT"):
		r.overflow = saturate
	case command.IsToken(arg, "FAIL"):
		r.overflow = fail
	default:
		r.c.Error(reply.BitfieldOverflow)
		return false
	}
	return true
}

// operands reads what follows the name of a subcommand.
func (r *steps) operands(s step) (_ step, more, ok bool) {
	if s.typ, ok = parseInteger(r.rest[1]); !ok {
		r.c.Error(reply.BitfieldType)
		return s, false, false
	}
	if s.offset, ok = bitOffset(r.c, r.rest[2], s.typ.width); !ok {
		return s, false, false
	}
	if s.do == actGet {
		r.rest = r.rest[3:]
		return s, true, true
	}
	if s.operand, ok = r.c.Int(r.rest[3]); !ok {
		return s, false, false
	}
	s.overflow = r.overflow
	r.rest = r.rest[4:]
	return s, true, true
}

func parseInteger(arg []byte) (t integer, ok bool) {
	if len(arg) == 0 || arg[0] != 'i' && arg[0] != 'u' {
		return t, false
	}
	t.signed = arg[0] == 'i'
	t.width, ok = resp.ParseInt(arg[1:])
	return t, ok && t.width >= 1 && (t.width <= 63 || t.signed && t.width == 64)
}

// check reads all subcommands; bytes is the length that a string needs for those
// that write, and 0 when none does. When ok is false the error was written.
func check(c *engine.Ctx, args engine.Args) (count int, bytes int64, ok bool) {
	r := steps{c: c, rest: args}
	for {
		s, more, ok := r.next()
		if !ok {
			return 0, 0, false
		}
		if !more {
			return count, bytes, true
		}
		count++
		if s.do != actGet {
			bytes = max(bytes, (s.offset+s.typ.width-1)/8+1)
		}
	}
}

func bitField(c *engine.Ctx, args engine.Args) {
	count, bytes, ok := check(c, args[2:])
	if !ok {
		return
	}
	if bytes == 0 {
		readFields(c, args, count)
		return
	}
	key := args[1]
	if _, _, ok := c.StringForWrite(key); !ok {
		return
	}
	// The string grows even if then no number fits.
	longer := c.Extend(key, int(bytes))
	changed := false
	c.W.Array(count)
	r := steps{c: c, rest: args[2:]}
	for s, more, _ := r.next(); more; s, more, _ = r.next() {
		if stored, differs := s.run(c, key); stored && (longer || differs) {
			changed = true
		}
	}
	if longer || changed {
		c.Emit(args...)
	}
	if changed {
		c.Notify(shard.NotifyString, "setbit", key)
	}
}

func bitFieldRO(c *engine.Ctx, args engine.Args) {
	count, bytes, ok := check(c, args[2:])
	switch {
	case !ok:
	case bytes > 0:
		c.Error(reply.BitfieldReadOnly)
	default:
		readFields(c, args, count)
	}
}

// readFields runs a BITFIELD that does not write.
func readFields(c *engine.Ctx, args engine.Args, count int) {
	e, found := c.Lookup(args[1])
	if found && e.Type != store.String {
		c.Error(reply.WrongType)
		return
	}
	c.W.Array(count)
	r := steps{c: c, rest: args[2:]}
	for s, more, _ := r.next(); more; s, more, _ = r.next() {
		w := windowAt(e.Value, s.offset)
		c.W.Int(s.typ.read(&w, s.offset%8))
	}
}

// windowAt copies the bytes that an integer at an offset may touch; behind the
// end there are zeros.
func windowAt(b []byte, offset int64) (w [windowBytes]byte) {
	if at := offset / 8; at < int64(len(b)) {
		copy(w[:], b[at:])
	}
	return w
}

// run executes a step on a string that is long enough for it, and writes its
// reply. It returns whether it has stored a number, and whether that differs from
// the one before.
func (s *step) run(c *engine.Ctx, key []byte) (stored, differs bool) {
	e, _ := c.Again(key)
	w := windowAt(e.Value, s.offset)
	old := s.typ.read(&w, s.offset%8)
	var n int64
	var fits bool
	switch s.do {
	case actGet:
		c.W.Int(old)
		return false, false
	case actSet:
		n, fits = s.typ.fit(s.operand, s.overflow)
	case actIncrBy:
		n, fits = s.typ.add(old, s.operand, s.overflow)
	}
	switch {
	case !fits && s.overflow == fail:
		c.W.Null()
		return false, false
	case s.do == actSet:
		c.W.Int(old)
	default:
		c.W.Int(n)
	}
	if n == old {
		return true, false
	}
	s.typ.write(&w, s.offset%8, n)
	touched := (s.offset%8 + s.typ.width + 7) / 8
	part := append(c.Scratch(), w[:touched]...)
	c.Patch(key, int(s.offset/8), part)
	c.KeepScratch(part)
	return true, true
}
