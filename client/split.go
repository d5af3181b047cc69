package client

import (
	"context"

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
	var parts []part
	counts, where := []int(nil), map[slot.ID]int{}
	at := make([]int, 0, args.len()/step)
	for i := 1; i < args.len(); i += step {
		id := slot.Of(args.at(i))
		n, known := where[id]
		if !known {
			n = len(parts)
			where[id] = n
			parts = append(parts, part{call: newCall()})
			parts[n].call.spec, parts[n].call.slot = q.spec, int(id)
			counts = append(counts, 0)
		}
		counts[n]++
		at = append(at, n)
	}
	for n := range parts {
		parts[n].call.begin(1 + counts[n]*step)
		parts[n].call.bytes(args.at(0))
	}
	for i, n := range at {
		p := &parts[n]
		for j := range step {
			p.call.bytes(args.at(1 + i*step + j))
		}
		if q.spec.name == "MGET" {
			p.keys = append(p.keys, i)
		}
	}
	return parts
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

func (c *Client) doSplit(ctx context.Context, q *call) Reply {
	var b batch
	b.begin(c, 1)
	b.add(q)
	return b.run(ctx)[0]
}
