package client

import (
	"bytes"
	"context"
	"slices"
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

// split is a command in parts, one a slot, in the order of their first keys. All of it
// lies in a few pieces of memory, which serve the next command too.
//
//	keys    a0 b0 a1 c0 b1       with the letters of their slots
//	at      0  1  0  2  1        the part of each
//	parts   0: a       1: b       2: c
//	order   0 2        1 4        3
//	wire    |MGET a0 a1|MGET b0 b1|MGET c0|
type split struct {
	parts []part
	at    []int32
	order []int32
	wire  []byte
	index []uint16 // where a slot has its part, see find
}

// part is the share of a split command in one slot.
type part struct {
	call call    // its wire is a piece of the split's; it has no spans
	n    int     // its keys
	keys []int32 // where they stand in the command, rising
}

var splits = sync.Pool{New: func() any { return new(split) }}

// newSplit gives the parts of a command. They are valid until release. The keys keep
// their order in each, so of a key that MSET names twice the last value wins.
func newSplit(q *call) *split {
	s := splits.Get().(*split)
	args, step := q.args(), 1
	if q.spec.name == "MSET" {
		step = 2
	}
	s.sort(args, step)
	s.encode(q, step)
	return s
}

// splitKeysKeepMax is for how many keys a split keeps room, and splitWireKeepMax for how
// many bytes.
const (
	splitKeysKeepMax = 4096
	splitWireKeepMax = 256 << 10
)

func (s *split) release() {
	if cap(s.at) > splitKeysKeepMax || cap(s.wire) > splitWireKeepMax {
		return
	}
	splits.Put(s)
}

// sort finds the part of each key.
func (s *split) sort(args arguments, step int) {
	n := (args.len() - 1) / step
	s.parts, s.at = s.parts[:0], slices.Grow(s.at[:0], n)
	size := 16
	for size < 2*min(n, slot.Count) {
		size *= 2
	}
	s.index = slices.Grow(s.index[:0], size)[:size]
	clear(s.index)
	for i := 1; i < args.len(); i += step {
		p := s.find(int(slot.Of(args.at(i))))
		s.parts[p].n++
		s.at = append(s.at, int32(p))
	}
	s.order = slices.Grow(s.order[:0], n)[:n]
	free := s.order
	for i := range s.parts {
		p := &s.parts[i]
		p.keys, free = free[:0:p.n], free[p.n:]
	}
	for i, p := range s.at {
		s.parts[p].keys = append(s.parts[p].keys, int32(i))
	}
}

// find gives the place of a slot's part, a new one for a new slot. The index is a hash
// table with open addressing, twice as large as it can get full, so that a few keys
// touch little memory; 0 is free, else it is a place and one.
func (s *split) find(at int) int {
	mask := len(s.index) - 1
	for i := at & mask; ; i = (i + 1) & mask {
		switch n := int(s.index[i]); {
		case n == 0:
			s.parts = append(s.parts, part{call: call{slot: at}})
			s.index[i] = uint16(len(s.parts))
			return len(s.parts) - 1
		case s.parts[n-1].call.slot == at:
			return n - 1
		}
	}
}

// encode writes the requests of all parts. The arguments are on the wire already, in
// the whole command: they are copied with their headers.
func (s *split) encode(q *call, step int) {
	args := q.args()
	header := bytes.IndexByte(args.wire, '\n') + 1
	name := args.wire[header : args.spans[0].to+2]
	s.wire = slices.Grow(s.wire[:0], len(q.wire)+len(s.parts)*(len(name)+partHeaderMax))
	for i := range s.parts {
		p := &s.parts[i]
		from := len(s.wire)
		s.wire = append(appendHeader(s.wire, '*', 1+p.n*step), name...)
		for _, k := range p.keys {
			first := 1 + int(k)*step
			s.wire = append(s.wire, args.wire[args.spans[first-1].to+2:args.spans[first+step-1].to+2]...)
		}
		p.call.spec, p.call.wire = q.spec, s.wire[from:len(s.wire):len(s.wire)]
	}
}

// partHeaderMax is the longest header of a request on the wire.
const partHeaderMax = 24

// merge makes one reply of those of all parts. The first error is that of the whole.
func (s *split) merge(q *call, replies []Reply) Reply {
	for i := range replies {
		if replies[i].err != nil {
			return Reply{err: replies[i].err}
		}
	}
	switch q.spec.name {
	case "MSET":
		return Reply{v: resp.Value{Kind: replies[0].v.Kind, Str: replies[0].v.Str}}
	case "MGET":
		return s.mergeValues(q, replies)
	}
	sum := int64(0)
	for i := range replies {
		sum += replies[i].v.Int
	}
	return Reply{v: resp.Value{Kind: resp.KindInt, Int: sum}}
}

func (s *split) mergeValues(q *call, replies []Reply) Reply {
	out := resp.Value{Kind: resp.KindArray, Elems: q.elems[:0]}
	if !q.lends || cap(out.Elems) < len(s.at) {
		out.Elems = make([]resp.Value, len(s.at))
	}
	if out.Elems = out.Elems[:len(s.at)]; q.lends {
		q.elems = out.Elems
	}
	for i := range replies {
		r := &replies[i]
		if len(r.v.Elems) != s.parts[i].n {
			return Reply{err: explain(q, "", r.mismatch("a value for each key"))}
		}
		for j, at := range s.parts[i].keys {
			out.Elems[at] = r.v.Elems[j]
			if e := &out.Elems[at]; e.Elems != nil || e.Attrs != nil { // only lent
				*e = e.Clone()
			}
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
