package zsets

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/value"
)

// order says what a range goes by.
type order uint8

const (
	byRank order = iota
	byScore
	byLex
)

// span is a range of a sorted set.
type span struct {
	by          order
	back        bool // from the end
	start, stop int64
	scores      value.ScoreRange
	low, high   value.LexEnd
}

// parseEnds reads the two ends, the lower one first unless they are ranks. When
// it gives false the error was written.
func (s *span) parseEnds(c *engine.Ctx, low, high []byte) (ok bool) {
	switch s.by {
	case byScore:
		s.scores.Min, s.scores.MinOpen, ok = scoreEnd(low)
		if ok {
			s.scores.Max, s.scores.MaxOpen, ok = scoreEnd(high)
		}
		if !ok {
			c.Error(reply.ScoreRange)
		}
	case byLex:
		s.low, ok = lexEnd(low)
		if ok {
			s.high, ok = lexEnd(high)
		}
		if !ok {
			c.Error(reply.LexRange)
		}
	default:
		if s.start, ok = c.Int(low); ok {
			s.stop, ok = c.Int(high)
		}
	}
	return ok
}

// in gives the part of a sorted set that is in the range: the rank of its first
// member, and the number of its members.
func (s *span) in(z *value.SortedSet) (from, n int) {
	switch {
	case z.Len() == 0:
		return 0, 0
	case s.by == byScore:
		return z.ByScore(&s.scores)
	case s.by == byLex:
		return z.ByLex(&s.low, &s.high, s.back)
	}
	from, n = engine.Span(s.start, s.stop, z.Len())
	if s.back {
		from = z.Len() - from - n
	}
	return from, n
}

// lexEnd reads an end of a range of members: [member, (member, - or +.
func lexEnd(arg []byte) (l value.LexEnd, ok bool) {
	switch {
	case len(arg) == 0:
	case arg[0] == '[':
		return value.LexEnd{Member: arg[1:]}, true
	case arg[0] == '(':
		return value.LexEnd{Member: arg[1:], Open: true}, true
	case len(arg) == 1 && arg[0] == '-':
		return value.LexEnd{Edge: -1}, true
	case len(arg) == 1 && arg[0] == '+':
		return value.LexEnd{Edge: 1}, true
	}
	return l, false
}

// scoreEnd reads an end of a range of scores: a score, or ( and a score.
func scoreEnd(arg []byte) (score float64, open, ok bool) {
	if len(arg) > 0 && arg[0] == '(' {
		arg, open = arg[1:], true
	}
	score, ok = looseFloat(arg)
	return score, open, ok
}

// looseFloat reads a number as C's strtod does for those who do not ask whether
// it was in range, or there at all: nothing is 0, spaces may stand before it, and
// a zero byte ends it.
func looseFloat(arg []byte) (f float64, ok bool) {
	if f, ok = engine.ParseFloat(arg); ok {
		return f, true
	}
	if arg, _, _ = bytes.Cut(arg, []byte{0}); len(arg) == 0 {
		return 0, true
	}
	arg = bytes.TrimLeft(arg, " \t\n\v\f\r")
	if f, ok = engine.ParseFloat(arg); ok {
		return f, true
	}
	return outOfRange(arg)
}

// outOfRange reads a number that a double can't hold: it becomes infinite, or as
// good as zero.
func outOfRange(arg []byte) (f float64, ok bool) {
	s := string(arg)
	if strings.ContainsAny(s, "xX") && !strings.ContainsAny(s, "pP") {
		s += "p0" // which Go wants to see, and C does not
	}
	f, err := strconv.ParseFloat(s, 64)
	known := err == nil || errors.Is(err, strconv.ErrRange)
	return f, known && !math.IsNaN(f) && !strings.Contains(s, "_")
}
