package sets

import (
	"cmp"
	"math"
	"slices"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/engine"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/internal/value"
	"github.com/bowline-kv/bowline/resp"
)

// combination makes one set of several: each member of it is visited once, until
// visit says no. The sets may be reordered.
type combination func(sets []value.Set, visit func(e pack.Element) (more bool))

func sinter(c *engine.Ctx, args engine.Args) { combine(c, args[1:], intersection) }
func sunion(c *engine.Ctx, args engine.Args) { combine(c, args[1:], union) }
func sdiff(c *engine.Ctx, args engine.Args)  { combine(c, args[1:], difference) }

func sinterStore(c *engine.Ctx, args engine.Args) { storeAt(c, args, intersection, "sinterstore") }
func sunionStore(c *engine.Ctx, args engine.Args) { storeAt(c, args, union, "sunionstore") }
func sdiffStore(c *engine.Ctx, args engine.Args)  { storeAt(c, args, difference, "sdiffstore") }

// combine replies with a combination.
func combine(c *engine.Ctx, keys [][]byte, of combination) {
	sets, ok := readAll(c, keys)
	if !ok {
		return
	}
	at, n := len(c.W.B), 0
	of(sets, func(e pack.Element) bool {
		c.Element(e)
		n++
		return true
	})
	c.W.InsertSet(at, n)
}

// readAll finds sets, a missing one being empty. When ok is false the error was
// written.
func readAll(c *engine.Ctx, keys [][]byte) (sets []value.Set, ok bool) {
	for _, key := range keys {
		if e, found := c.Lookup(key); found && e.Type != store.Set {
			c.Error(reply.WrongType)
			return nil, false
		}
	}
	// Only now, as looking for a key may delete it, which ends other views.
	sets = make([]value.Set, len(keys))
	for i, key := range keys {
		if e, found := c.Again(key); found {
			sets[i] = viewOf(c, key, &e)
		}
	}
	return sets, true
}

// storeAt stores a combination at a key, and replies with its size.
func storeAt(c *engine.Ctx, args engine.Args, of combination, event string) {
	dst := args[1]
	sets, ok := readAll(c, args[2:])
	if !ok {
		return
	}
	result := edit{c: c, key: dst}
	result.change()
	var room [value.TextMax]byte
	of(sets, func(e pack.Element) bool {
		result.add(value.Text(e, room[:]))
		return true
	})
	n := result.Len()
	if n == 0 {
		c.StoreNothing(dst)
		return
	}
	c.Find(dst) // if its time is over it is gone, and not overwritten
	result.save()
	c.Notify(shard.NotifySet, event, dst)
	c.Emit(args...)
	c.W.Int(int64(n))
}

// intersection visits what is in all sets: it walks the smallest.
func intersection(sets []value.Set, visit func(e pack.Element) (more bool)) {
	slices.SortStableFunc(sets, func(a, b value.Set) int { return cmp.Compare(a.Len(), b.Len()) })
	sets[0].Each(func(e pack.Element) bool {
		for i := range sets[1:] {
			if !sets[1+i].HasElement(e) {
				return true
			}
		}
		return visit(e)
	})
}

// lookupsMax is up to how many sets a member is looked up in, one after the
// other, before it is worth to gather their members.
const lookupsMax = 4

// union visits what is in any set.
func union(sets []value.Set, visit func(e pack.Element) (more bool)) {
	sets = slices.DeleteFunc(sets, func(s value.Set) bool { return s.Len() == 0 })
	if len(sets) > lookupsMax {
		gathered := members{}
		for i := range sets {
			sets[i].Each(func(e pack.Element) bool { return !gathered.add(e) || visit(e) })
		}
		return
	}
	for i := range sets {
		sets[i].Each(func(e pack.Element) bool { return inAny(sets[:i], e) || visit(e) })
	}
}

// difference visits what is in the first set and in no other.
func difference(sets []value.Set, visit func(e pack.Element) (more bool)) {
	first := sets[0]
	others := slices.DeleteFunc(sets[1:], func(s value.Set) bool { return s.Len() == 0 })
	total := 0
	for i := range others {
		total += others[i].Len()
	}
	if first.Len()*(len(others)-1) > lookupsMax*total {
		gathered := members{}
		for i := range others {
			others[i].Each(func(e pack.Element) bool {
				gathered.add(e)
				return true
			})
		}
		first.Each(func(e pack.Element) bool { return gathered.has(e) || visit(e) })
		return
	}
	// The largest are likely to have it.
	slices.SortStableFunc(others, func(a, b value.Set) int { return cmp.Compare(b.Len(), a.Len()) })
	first.Each(func(e pack.Element) bool { return inAny(others, e) || visit(e) })
}

func inAny(sets []value.Set, e pack.Element) bool {
	for i := range sets {
		if sets[i].HasElement(e) {
			return true
		}
	}
	return false
}

// members are those of several sets.
type members map[string]struct{}

func (m members) has(e pack.Element) bool {
	var room [value.TextMax]byte
	_, ok := m[string(value.Text(e, room[:]))]
	return ok
}

// add puts a member in; false when it is there.
func (m members) add(e pack.Element) bool {
	if m.has(e) {
		return false
	}
	m[string(e.AppendTo(nil))] = struct{}{}
	return true
}

// sinterCard is SINTERCARD numkeys key [key ...] [LIMIT limit].
func sinterCard(c *engine.Ctx, args engine.Args) {
	n, ok := resp.ParseInt(args[1])
	switch {
	case !ok || n < 1 || n > math.MaxInt32:
		c.Error(reply.NumKeysPositive)
		return
	case n > int64(len(args)-2):
		c.Error(reply.NumKeysTooMany)
		return
	}
	limit := int64(0)
	options := args[2+n:]
	for i := 0; i < len(options); i += 2 {
		if i+1 == len(options) || !command.IsToken(options[i], "LIMIT") {
			c.Error(reply.Syntax)
			return
		}
		if limit, ok = resp.ParseInt(options[i+1]); !ok || limit < 0 {
			c.Error(reply.LimitNegative)
			return
		}
	}
	sets, ok := readAll(c, args[2:2+n])
	if !ok {
		return
	}
	count := int64(0)
	intersection(sets, func(pack.Element) bool {
		count++
		return count != limit
	})
	c.W.Int(count)
}
