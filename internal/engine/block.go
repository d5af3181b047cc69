package engine

import (
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
)

// Wait is what a command waits for.
type Wait struct {
	// Keys are those that may bring what it waits for. They are arguments of the
	// command.
	Keys [][]byte
	// Type is what one of them must become.
	Type store.Type
	// Millis is for how long; 0: for ever.
	Millis int64
	// Scalar: where waiting is not possible the reply is a null, and not a null array.
	Scalar bool
}

// Block makes the client wait: the command's handler found nothing and has
// changed and replied nothing. It is called again, with the same arguments and
// [Ctx.Serving], each time a key may bring what it waits for. Where waiting is
// not possible, as in a transaction, the reply of one that gave up is written.
func (c *Ctx) Block(w Wait) {
	if c.MayBlock || c.Serving {
		c.wait, c.blocked = w, true
		return
	}
	if w.Scalar {
		c.W.Null()
	} else {
		c.W.NullArray()
	}
}

// GiveUp writes the reply of a command that has waited long enough.
func (w *Wait) GiveUp(to *resp.Writer) { to.NullArray() }

// TakeBlocked says whether the handler that just ran called [Ctx.Block], and
// with what.
func (c *Ctx) TakeBlocked() (w Wait, blocked bool) {
	w, blocked = c.wait, c.blocked
	c.wait, c.blocked = Wait{}, false
	return w, blocked
}

// Timeout parses the timeout of a command that blocks, in seconds with a
// fraction, to milliseconds, rounded up. When ok is false the error was written.
func (c *Ctx) Timeout(arg []byte) (millis int64, ok bool) {
	seconds, ok := ParseFloat(arg)
	switch {
	case !ok:
		c.Error(reply.TimeoutNotFloat)
	case seconds*1000 > float64(1<<63-1)-float64(c.Now):
		c.Error(reply.TimeoutRange)
	case seconds < 0:
		c.Error(reply.TimeoutNegative)
	default:
		millis = int64(seconds * 1000)
		if float64(millis) < seconds*1000 {
			millis++
		}
		return millis, true
	}
	return 0, false
}
