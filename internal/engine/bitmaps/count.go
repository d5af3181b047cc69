package bitmaps

import (
	"encoding/binary"
	"math/bits"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/store"
)

// span is a part of a string as the commands take it: from start to end, both
// included; negative ones count from the end of the string.
type span struct {
	start, end int64
	inBits     bool
}

// bits gives the first bit and the one behind the last in a string of n bytes;
// the same twice when there is none.
func (s span) bits(n int) (from, to int64) {
	total, unit := int64(n), int64(8)
	if s.inBits {
		total, unit = 8*total, 1
	}
	start, end := s.start, s.end
	if start < 0 {
		start = max(0, start+total)
	}
	if end < 0 {
		end = max(0, end+total)
	}
	end = min(end, total-1)
	if start > end {
		return 0, 0
	}
	return start * unit, (end + 1) * unit
}

// everything is the span of a whole string.
var everything = span{0, -1, false}

func bitCount(c *engine.Ctx, args engine.Args) {
	s, ok := parseCountSpan(c, args[2:])
	if !ok {
		return
	}
	e, found := c.Lookup(args[1])
	switch {
	case found && e.Type != store.String:
		c.Error(reply.WrongType)
	case s.start < 0 && s.end < 0 && s.start > s.end:
		c.W.Int(0) // also where both would be the first one
	default:
		from, to := s.bits(len(e.Value))
		c.W.Int(countRange(e.Value, from, to))
	}
}

// parseCountSpan reads "start end [BYTE|BIT]"; Valkey lets the end away.
func parseCountSpan(c *engine.Ctx, args engine.Args) (s span, ok bool) {
	s = everything
	switch {
	case len(args) == 0:
		return s, true
	case len(args) == 1 && c.Config.String(config.Compatibility) == "valkey":
		s.start, ok = c.Int(args[0])
		return s, ok
	case len(args) != 2 && len(args) != 3:
		c.Error(reply.Syntax)
		return s, false
	}
	if s.start, ok = c.Int(args[0]); !ok {
		return s, false
	}
	if s.end, ok = c.Int(args[1]); !ok {
		return s, false
	}
	return s, len(args) == 2 || s.parseUnit(c, args[2])
}

// parseUnit reads BYTE or BIT; on false the error was written.
func (s *span) parseUnit(c *engine.Ctx, arg []byte) bool {
	switch {
	case command.IsToken(arg, "BIT"):
		s.inBits = true
	case !command.IsToken(arg, "BYTE"):
		c.Error(reply.Syntax)
		return false
	}
	return true
}

// countRange counts the ones among the bits from..to-1 of b.
func countRange(b []byte, from, to int64) int64 {
	if from >= to {
		return 0
	}
	first, last := from/8, (to-1)/8
	n := count(b[first : last+1])
	n -= int64(bits.OnesCount8(b[first] &^ (0xff >> (from % 8))))
	n -= int64(bits.OnesCount8(b[last] & (1<<(7-(to-1)%8) - 1)))
	return n
}

// count counts the ones of b, four words at a time so that the additions do not
// wait for each other.
func count(b []byte) int64 {
	var n0, n1, n2, n3 int
	for len(b) >= 32 {
		n0 += bits.OnesCount64(binary.LittleEndian.Uint64(b))
		n1 += bits.OnesCount64(binary.LittleEndian.Uint64(b[8:]))
		n2 += bits.OnesCount64(binary.LittleEndian.Uint64(b[16:]))
		n3 += bits.OnesCount64(binary.LittleEndian.Uint64(b[24:]))
		b = b[32:]
	}
	for ; len(b) >= 8; b = b[8:] {
		n0 += bits.OnesCount64(binary.LittleEndian.Uint64(b))
	}
	for _, x := range b {
		n1 += bits.OnesCount8(x)
	}
	return int64(n0 + n1 + n2 + n3)
}
