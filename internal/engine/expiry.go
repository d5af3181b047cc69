package engine

import (
	"math"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/resp"
)

// Unit is how an expiry time is written.
type Unit uint8

// The units, as the options EX, PX, EXAT and PXAT name them.
const (
	Seconds   Unit = iota // from now
	Millis                // from now
	SecondsAt             // unix time
	MillisAt              // unix time
)

// UnitOption gives the unit that an option of SET or GETEX names.
func UnitOption(arg []byte) (Unit, bool) {
	switch {
	case command.IsToken(arg, "EX"):
		return Seconds, true
	case command.IsToken(arg, "PX"):
		return Millis, true
	case command.IsToken(arg, "EXAT"):
		return SecondsAt, true
	case command.IsToken(arg, "PXAT"):
		return MillisAt, true
	}
	return 0, false
}

// Absolute converts an amount to unix milliseconds, at now in the same unit; false when it overflows.
func (u Unit) Absolute(n, now int64) (int64, bool) {
	if u == Seconds || u == SecondsAt {
		if n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
			return 0, false
		}
		n *= 1000
	}
	if u == Seconds || u == Millis {
		if n > math.MaxInt64-now {
			return 0, false
		}
		n += now
	}
	return n, true
}

// ExpireAt parses an expiry argument of SET, GETEX and their like, which must
// be positive, and converts it to unix milliseconds. When ok is false the error
// was already written.
func (c *Ctx) ExpireAt(arg []byte, u Unit) (at int64, ok bool) {
	n, ok := c.Int(arg)
	if !ok {
		return 0, false
	}
	if n > 0 {
		if at, ok = u.Absolute(n, c.Now); ok {
			return at, true
		}
	}
	c.Error(reply.InvalidExpire(c.Name))
	return 0, false
}

// ExpireAtSigned is ExpireAt for EXPIRE and its family, where times in the past
// are allowed.
func (c *Ctx) ExpireAtSigned(arg []byte, u Unit) (at int64, ok bool) {
	n, ok := resp.ParseInt(arg)
	if !ok {
		c.Error(reply.NotInteger)
		return 0, false
	}
	if at, ok = u.Absolute(n, c.Now); !ok {
		c.Error(reply.InvalidExpire(c.Name))
	}
	return at, ok
}
