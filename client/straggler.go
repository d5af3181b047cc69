package client

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"
)

// stragglers are the calls of a batch that have no good reply after the first attempt,
// by slot.
type stragglers struct {
	bySlot map[int][]straggler
	slots  []int // in the order of their first call

	unknown map[int]bool // by call: a script that the node turned out not to know
	ran     map[int]int  // with unknown: the last other call of each slot
}

type straggler struct {
	at        int // in the batch
	o         outcome
	redirects int  // that were followed before o
	overtaken bool // later calls of its slot may have run
}

func (s *stragglers) add(slot, at int, o outcome) {
	if s.bySlot == nil {
		s.bySlot = map[int][]straggler{}
	}
	if s.bySlot[slot] == nil {
		s.slots = append(s.slots, slot)
	}
	s.bySlot[slot] = append(s.bySlot[slot], straggler{at: at, o: o})
	if o.err == nil && code(&o.reply.v) == "NOSCRIPT" {
		if s.unknown == nil {
			s.unknown = map[int]bool{}
		}
		s.unknown[at] = true
	}
}

// stragglersAtOnce is how many slots of a batch are seen to at the same time.
const stragglersAtOnce = 16

// finish brings the stragglers home.
func (b *batch) finish(ctx context.Context, rest *stragglers) {
	if len(rest.slots) == 0 {
		return
	}
	if rest.unknown != nil {
		rest.ran = map[int]int{}
		for i, q := range b.calls {
			if !rest.unknown[i] {
				rest.ran[q.slot] = i
			}
		}
	}
	b.limit = time.Now().Add(b.client.core.opt.RetryTimeout)
	switch len(rest.slots) {
	case 1:
		b.finishSlot(ctx, rest.bySlot[rest.slots[0]])
	default:
		b.finishSlots(ctx, rest)
	}
}

func (b *batch) finishSlots(ctx context.Context, rest *stragglers) {
	var group sync.WaitGroup
	turns := make(chan struct{}, stragglersAtOnce)
	for _, at := range rest.slots {
		turns <- struct{}{}
		group.Go(func() {
			b.finishSlot(ctx, rest.bySlot[at])
			<-turns
		})
	}
	group.Wait()
}

// finishSlot brings those of a slot home in their order. The first goes alone, until
// its fate is known, so that none overtakes it. When all is well with it, those behind
// it that met with the same follow it together: it has found the way.
func (b *batch) finishSlot(ctx context.Context, list []straggler) {
	waited := 0 // for TRYAGAIN, by one of them while the others stood behind it
	for len(list) > 0 {
		s := list[0]
		q := b.calls[s.at]
		t := trip{core: b.client.core, q: q, route: b.client.route, limit: b.limit, redirects: s.redirects,
			overtaken: s.overtaken || s.at < b.rest.ran[q.slot]}
		if waited > 0 && s.o.err == nil && code(&s.o.reply.v) == "TRYAGAIN" {
			t.tryAgains, t.waited = waited, true
		}
		b.replies[s.at] = t.from(ctx, s.o)
		waited = max(waited, t.tryAgains)
		behind := 1
		if t.home != nil && !t.lane {
			behind = max(behind, b.alike(list))
		}
		left := list[1:behind]
		if len(left) > 0 {
			left = b.follow(ctx, &t, left)
		}
		list = append(left, list[behind:]...)
	}
}

// alike counts how many at the start of a list met with the same and may go together:
// they were not executed, and a node can't treat one other than the next. With several
// keys it can, when only some are there.
func (b *batch) alike(list []straggler) int {
	first := &list[0].o
	for i := range list {
		o := &list[i].o
		if o.node != first.node || o.lane != first.lane {
			return i
		}
		switch {
		case o.err != nil:
			if first.err == nil || o.sent || !errors.Is(o.err, errUnsent) || !errors.Is(first.err, errUnsent) {
				return i
			}
		case first.err != nil || !bytes.Equal(o.reply.v.Str, first.reply.v.Str):
			return i
		default:
			switch code(&o.reply.v) {
			case "MOVED", "ASK":
				if !b.calls[list[i].at].oneKey() {
					return i
				}
			case "CLUSTERDOWN", "READONLY", "LOADING", "MASTERDOWN":
			default:
				return i
			}
		}
	}
	return len(list)
}

// follow sends calls of a slot one behind the other to where the call before them, of
// the trip ahead, was executed, and gives those that were not, in their order.
func (b *batch) follow(ctx context.Context, ahead *trip, list []straggler) []straggler {
	core := b.client.core
	core.callers.Add(1)
	defer core.callers.Add(-1)
	cn, err := ahead.home.lane(ahead.lane).conn(ctx, ahead.q.slot)
	flights := make([]*flight, len(list))
	for i := range list {
		q, s := b.calls[list[i].at], &list[i]
		switch code(&s.o.reply.v) {
		case "MOVED":
			core.tell(Event{Kind: EventMoved, Addr: ahead.home.addr, Slot: q.slot})
		case "ASK":
			core.tell(Event{Kind: EventAsk, Addr: ahead.home.addr, Slot: q.slot})
		}
		s.redirects, s.overtaken = ahead.redirects, i < len(list)-1
		s.o = outcome{node: ahead.home, lane: ahead.lane, err: err}
		if err != nil {
			continue
		}
		flights[i] = core.flight.single()
		flights[i].able = ctx.Done() == nil
		if err = cn.send(flights[i], ahead.asking, q); err != nil {
			s.o.err, flights[i] = err, nil
		}
	}
	left := list[:0]
	for i, f := range flights {
		s := list[i]
		if f != nil {
			s.o.arrive(ctx, cn, b.calls[s.at], f)
		}
		if s.o.err != nil || s.o.reply.v.IsError() {
			left = append(left, s)
			continue
		}
		b.replies[s.at] = s.o.reply
	}
	return left
}
