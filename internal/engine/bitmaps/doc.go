// Package bitmaps has the handlers of the commands that see a string as a row of
// bits. [Handlers] maps each command's lower-case name to its handler.
//
// Bit 0 is the highest bit of the first byte, as on the wire of Redis: in the
// order of the bits a string reads like a big-endian number. Behind its end a
// string goes on in zeros, and writing there makes it longer.
package bitmaps

import (
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/resp"
)

// Handlers are the commands on bits.
var Handlers = map[string]engine.Handler{
	"bitcount":    bitCount,
	"bitfield":    bitField,
	"bitfield_ro": bitFieldRO,
	"bitop":       bitOp,
	"bitpos":      bitPos,
	"getbit":      getBit,
	"setbit":      setBit,
}

// bitOffset parses the number of a bit. Where width is not 0 a leading '#' means
// the number of an integer of that many bits. When ok is false the error was
// already written.
func bitOffset(c *engine.Ctx, arg []byte, width int64) (offset int64, ok bool) {
	factor := int64(1)
	if width != 0 && len(arg) > 0 && arg[0] == '#' {
		arg, factor = arg[1:], width
	}
	n, ok := resp.ParseInt(arg)
	limit := c.StringMax()
	// Compared before the product, which may overflow.
	if !ok || n < 0 || n > maxBit(limit)/factor {
		c.Error(reply.BitOffset)
		return 0, false
	}
	return n * factor, true
}

// maxBit is the last bit of a string of the longest length allowed, in bytes.
func maxBit(limit int64) int64 {
	if limit >= 1<<60 {
		return 1<<63 - 1
	}
	return limit*8 - 1
}
