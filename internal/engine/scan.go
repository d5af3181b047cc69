package engine

import (
	"math"
	"strconv"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/glob"
	"github.com/bowline-kv/bowline/internal/reply"
)

// MemberScan is what HSCAN, SSCAN and ZSCAN are asked for.
type MemberScan struct {
	// Cursor is where the walk continues; 0: it begins.
	Cursor uint64
	// Count is how many members to look at, at least 1.
	Count int
	// Bare: members come without what belongs to them.
	Bare    bool
	pattern []byte // nil: every member
}

// memberCountDefault is how many members a call looks at.
const memberCountDefault = 10

// ParseCursor parses the cursor of a walk. When ok is false the error was written.
func (c *Ctx) ParseCursor(arg []byte) (cursor uint64, ok bool) {
	cursor, err := strconv.ParseUint(string(arg), 10, 64)
	if err != nil {
		c.Error(reply.InvalidCursor)
	}
	return cursor, err == nil
}

// ParseOptions parses what follows the cursor. bare is the word for members without
// what belongs to them; "": there is none. When ok is false the error was
// written.
func (o *MemberScan) ParseOptions(c *Ctx, args Args, bare string) (ok bool) {
	o.Count = memberCountDefault
	for i := 0; i < len(args); i++ {
		last := i+1 == len(args)
		switch {
		case !last && command.IsToken(args[i], "COUNT"):
			i++
			n, ok := c.Int(args[i])
			if !ok {
				return false
			}
			if n < 1 {
				c.Error(reply.Syntax)
				return false
			}
			o.Count = int(min(n, math.MaxInt32))
		case !last && command.IsToken(args[i], "MATCH"):
			i++
			o.pattern = args[i]
		case bare != "" && command.IsToken(args[i], bare):
			o.Bare = true
		case command.IsToken(args[i], "NOVALUES"):
			c.Error(reply.NoValues)
			return false
		default:
			c.Error(reply.Syntax)
			return false
		}
	}
	return true
}

// Matches says whether a member is asked for.
func (o *MemberScan) Matches(member pack.Element) bool {
	if o.pattern == nil {
		return true
	}
	var room [20]byte
	return glob.Match(o.pattern, member.AppendTo(room[:0]))
}

// ScanReply makes a reply of n elements, which were written to c.W from length at
// on, that of a walk that continues at next.
func (c *Ctx) ScanReply(at, n int, next uint64) {
	elements := append(c.Scratch(), c.W.B[at:]...)
	c.KeepScratch(elements)
	c.W.B = c.W.B[:at]
	c.W.Array(2)
	var digits [20]byte
	c.W.Bulk(strconv.AppendUint(digits[:0], next, 10))
	c.W.Array(n)
	c.W.Raw(elements)
}
