package bitmaps

import (
	"encoding/binary"
	"math/bits"

	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/store"
)

// notFound is the answer where a range has no such bit.
const notFound = -1

func bitPos(c *engine.Ctx, args engine.Args) {
	bit, ok := c.Int(args[2])
	if !ok {
		return
	}
	if bit != 0 && bit != 1 {
		c.Error(reply.BitArgument)
		return
	}
	s, ok := parsePosSpan(c, args[3:])
	if !ok {
		return
	}
	e, found := c.Lookup(args[1])
	switch {
	case !found && bit == 1:
		c.W.Int(notFound)
	case !found: // zeros without end, whatever the range
		c.W.Int(0)
	case e.Type != store.String:
		c.Error(reply.WrongType)
	default:
		// Where the range ends with the string, zeros follow.
		c.W.Int(position(e.Value, s, bit == 1, len(args) < 5))
	}
}

// parsePosSpan reads "[start [end [BYTE|BIT]]]".
func parsePosSpan(c *engine.Ctx, args engine.Args) (s span, ok bool) {
	s = everything
	if len(args) > 3 {
		c.Error(reply.Syntax)
		return s, false
	}
	if len(args) > 0 {
		if s.start, ok = c.Int(args[0]); !ok {
			return s, false
		}
	}
	if len(args) > 2 && !s.parseUnit(c, args[2]) {
		return s, false
	}
	if len(args) > 1 {
		if s.end, ok = c.Int(args[1]); !ok {
			return s, false
		}
	}
	return s, true
}

// position finds the first bit of a value in a part of b; open says that zeros
// follow behind the part.
func position(b []byte, s span, one, open bool) int64 {
	from, to := s.bits(len(b))
	if from == to {
		return notFound
	}
	if at := find(b, from, to, one); at < to {
		return at
	}
	if open && !one {
		return to
	}
	return notFound
}

// find gives the first bit of a value among from..to-1; to when there is none.
func find(b []byte, from, to int64, one bool) int64 {
	flip := ^uint64(0) // so that what is looked for is always a one
	if one {
		flip = 0
	}
	at := from
	for at < to && at%8 != 0 {
		if (uint64(b[at/8])^flip)>>(7-at%8)&1 != 0 {
			return at
		}
		at++
	}
	for ; at+64 <= to; at += 64 {
		if w := binary.BigEndian.Uint64(b[at/8:]) ^ flip; w != 0 {
			return at + int64(bits.LeadingZeros64(w))
		}
	}
	for ; at < to; at++ {
		if (uint64(b[at/8])^flip)>>(7-at%8)&1 != 0 {
			return at
		}
	}
	return to
}
