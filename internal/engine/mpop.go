package engine

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/resp"
)

// MPop is what LMPOP, ZMPOP and their like are asked for.
type MPop struct {
	// Keys are those to look at, in order.
	Keys [][]byte
	// Second: the second of the two words was given that name the ends.
	Second bool
	// Count is how many elements may be taken, at least 1.
	Count int64
}

// MPop reads numkeys key [key ...] first|second [COUNT count] from argument number
// at on; when ok is false the error was written.
func (c *Ctx) MPop(args Args, at int, first, second string) (p MPop, ok bool) {
	n, ok := resp.ParseInt(args[at])
	if !ok || n < 1 {
		c.Error(reply.NumKeysPositive)
		return p, false
	}
	if n >= int64(len(args)-at-1) {
		c.Error(reply.Syntax)
		return p, false
	}
	where := at + 1 + int(n)
	p = MPop{Keys: args[at+1 : where], Second: command.IsToken(args[where], second), Count: -1}
	if !p.Second && !command.IsToken(args[where], first) {
		c.Error(reply.Syntax)
		return p, false
	}
	for i := where + 1; i < len(args); i += 2 {
		if p.Count >= 0 || !command.IsToken(args[i], "COUNT") || i+1 == len(args) {
			c.Error(reply.Syntax)
			return p, false
		}
		if p.Count, ok = resp.ParseInt(args[i+1]); !ok || p.Count < 1 {
			c.Error(reply.CountPositive)
			return p, false
		}
	}
	p.Count = max(1, p.Count)
	return p, true
}
