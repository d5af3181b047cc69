package client

import (
	"context"
	"sync"

	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// splits reports whether a command over several slots is sent in parts.
func (q *call) splits() bool {
	if q.spec.request != requestMultiShard {
		return false
	}
	switch q.spec.name {
	case "MGET", "MSET", "DEL", "EXISTS", "UNLINK", "TOUCH":
		return q.spec.name != "MSET" || q.args().len()%2 == 1
	}
	return false
}

// part is the share of a split command in one slot.
type part struct {
	call *call
	keys []int // of MGET: where its values belong in the whole reply
}

// split makes one command a slot, in the order of their first keys. The keys keep
// their order in each, so of a key that MSET names twice the last value wins.
func (q *call) split() []part {
	args, step := q.args(), 1
	if q.spec.name == "MSET" {
		step = 2
	}
	s := splitters.Get().(*splitter)
	s.sort(args, step)
	parts, room := make([]part, len(s.slots)), make([]int, len(s.at))
	for n := range parts {
		p := &parts[n]
		p.call = newCall()
		p.call.spec, p.call.slot = q.spec, int(s.slots[n])
		p.call.begin(1 + s.counts[n]*step)
		p.call.bytes(args.at(0))
		if q.spec.name == "MGET" {
			p.keys, room = room[:0:s.counts[n]], room[s.counts[n]:]
		}
	}
	for i, n := range s.at {
		p := &parts[n]
		for j := range step {
			p.call.bytes(args.at(1 + i*step + j))
		}
		if p.keys != nil {
			p.keys = append(p.keys, i)
		}
	}
	s.reset()
	splitters.Put(s)
	return parts
}

// splitter sorts keys by slot.
type splitter struct {
	where  [slot.Count]int32 // one more than the slot's place in slots; 0: it has none
	slots  []slot.ID         // in the order of their first keys
	counts []int             // keys in each
	at     []int             // for each key, its slot's place
}

var splitters = sync.Pool{New: func() any { return new(splitter) }}

func (s *splitter) sort(args arguments, step int) {
	for i := 1; i < args.len(); i += step {
		id := slot.Of(args.at(i))
		if s.where[id] == 0 {
			s.slots, s.counts = append(s.slots, id), append(s.counts, 0)
			s.where[id] = int32(len(s.slots))
		}
		n := int(s.where[id]) - 1
		s.counts[n]++
		s.at = append(s.at, n)
	}
}

// reset takes as long as there are keys, not slots.
func (s *splitter) reset() {
	for _, id := range s.slots {
		s.where[id] = 0
	}
	s.slots, s.counts, s.at = s.slots[:0], s.counts[:0], s.at[:0]
}

// merge makes one reply of those of all parts. The first error is that of the whole.
func merge(q *call, parts []part, replies []Reply) Reply {
	for i := range replies {
		if replies[i].err != nil {
			return Reply{err: replies[i].err}
		}
	}
	switch q.spec.name {
	case "MSET":
		return replies[0]
	case "MGET":
		return mergeValues(q, parts, replies)
	}
	sum := int64(0)
	for i := range replies {
		sum += replies[i].v.Int
	}
	return Reply{v: resp.Value{Kind: resp.KindInt, Int: sum}}
}

func mergeValues(q *call, parts []part, replies []Reply) Reply {
	out := resp.Value{Kind: resp.KindArray, Elems: make([]resp.Value, q.args().len()-1)}
	for i := range replies {
		r := &replies[i]
		if len(r.v.Elems) != len(parts[i].keys) {
			return Reply{err: explain(q, "", r.mismatch("a value for each key"))}
		}
		for j, at := range parts[i].keys {
			out.Elems[at] = r.v.Elems[j]
		}
	}
	return Reply{v: out}
}

var batches = sync.Pool{New: func() any { return new(batch) }}

func (c *Client) doSplit(ctx context.Context, q *call) Reply {
	b := batches.Get().(*batch)
	b.begin(c, 1)
	b.add(q)
	r := b.run(ctx)[0]
	b.end()
	batches.Put(b)
	return r
}
