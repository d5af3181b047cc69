package engine

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
)

// FirstOf finds the first of the keys that holds a value of a type; nil when none does.
// When ok is false the error was written: a key before it holds another type. To a
// command that waited, keys of other types are as if they were missing.
func (c *Ctx) FirstOf(t store.Type, keys [][]byte) (key []byte, ok bool) {
	for _, key := range keys {
		if c.Serving {
			if e, found := c.Find(key); !found || e.Type != t {
				continue
			}
		}
		if _, found, ok := c.Write(key, t); !ok || found {
			return key, ok
		}
	}
	return nil, true
}

// BlockingPop runs key [key ...] timeout: take answers with what it takes from the key
// that it is given, which holds a value of the type.
func (c *Ctx) BlockingPop(args Args, t store.Type, take func(key []byte)) {
	millis, ok := c.Timeout(args[len(args)-1])
	if !ok {
		return
	}
	keys := args[1 : len(args)-1]
	switch key, ok := c.FirstOf(t, keys); {
	case !ok:
	case key != nil:
		take(key)
	default:
		c.Block(Wait{Keys: keys, Type: t, Millis: millis})
	}
}

// PopFirst runs [timeout] numkeys key [key ...] first|second [COUNT count], with the
// timeout when the command may wait: take answers as for [Ctx.BlockingPop].
func (c *Ctx) PopFirst(args Args, waits bool, first, second string, t store.Type, take func(key []byte, p *MPop)) {
	at := 1
	if waits {
		at = 2
	}
	p, ok := c.MPop(args, at, first, second)
	if !ok {
		return
	}
	wait := Wait{Keys: p.Keys, Type: t}
	if waits {
		if wait.Millis, ok = c.Timeout(args[1]); !ok {
			return
		}
	}
	switch key, ok := c.FirstOf(t, p.Keys); {
	case !ok:
	case key != nil:
		take(key, &p)
	case waits:
		c.Block(wait)
	default:
		c.W.NullArray()
	}
}

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
