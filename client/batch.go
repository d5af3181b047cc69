package client

import (
	"context"
	"time"
)

// batch is several commands on their way together. All that go to a node are written
// once and read once, to all nodes at the same time. Commands that were redirected, or
// could not be sent, go on afterwards, those of a slot in their order: see straggler.go.
//
//	items    0: GET   1: MGET          2: SET
//	         |        |--------|       |
//	calls    0        1    2   3       4        replies lie beside calls
type batch struct {
	client  *Client
	items   []item
	calls   []*call
	replies []Reply // the caller's, when straight; else in room
	room    []Reply
	convoys []convoy // with those of earlier uses behind its end, for their room
	rest    stragglers
	limit   time.Time // for the waiting of all stragglers together

	straight bool // every item is one call, at the same place
	splits   bool // every item is split: replies are read only to be merged
}

// begin prepares for n items and reuses what room there is.
func (b *batch) begin(c *Client, n int) {
	b.client, b.straight, b.splits, b.replies = c, true, true, nil
	if cap(b.items) < n {
		b.items, b.calls = make([]item, 0, n), make([]*call, 0, n)
	}
	b.items, b.calls = b.items[:0], b.calls[:0]
}

// end forgets the commands.
func (b *batch) end() {
	clear(b.items)
	clear(b.calls)
	if !b.straight {
		clear(b.replies)
	}
	if cap(b.room) > repliesKeepMax {
		b.room = nil
	}
	b.replies, b.rest = nil, stragglers{}
	for i := range b.convoys {
		v := &b.convoys[i]
		if v.flight != nil {
			b.client.core.flight.release(v.flight)
		}
		clear(v.calls)
		*v = convoy{calls: v.calls[:0], at: v.at[:0]}
	}
	b.convoys = b.convoys[:0]
}

// fail takes a command that is known to be wrong.
func (b *batch) fail(q *call, err error) {
	b.items = append(b.items, item{q: q, err: err, at: len(b.calls)})
	b.straight = false
}

// item is a command as the caller gave it.
type item struct {
	q     *call
	err   error  // known before anything is sent
	split *split // its parts; nil: it is one call
	at    int    // its first call
}

// add takes a command; the batch does not own it.
func (b *batch) add(q *call) {
	it := item{q: q, at: len(b.calls)}
	standalone := b.client.core.top.Load().standalone
	switch {
	case q.refused(standalone), q.blocks(), !standalone && q.spec.fansOut():
		b.fail(q, ErrNotShared)
		return
	case q.slot == crossSlot && !standalone && q.splits():
		it.split = newSplit(q)
		b.straight = false
		for i := range it.split.parts {
			b.calls = append(b.calls, &it.split.parts[i].call)
		}
	case q.slot == crossSlot && !standalone && b.client.core.opt.CrossSlot != CrossSlotSend:
		b.fail(q, ErrCrossSlot)
		return
	default:
		if q.slot == crossSlot {
			q.slot = q.firstSlot()
		}
		b.splits = false
		b.calls = append(b.calls, q)
	}
	b.items = append(b.items, it)
}

// run gives one reply an item, in order.
func (b *batch) run(ctx context.Context) []Reply {
	if err := ctx.Err(); err != nil {
		return b.failAll(err)
	}
	if b.client.core.opt.CrossSlot == CrossSlotFail {
		for i := range b.items {
			if b.items[i].err == ErrCrossSlot {
				return b.failAll(ErrCrossSlot)
			}
		}
	}
	if b.straight {
		b.replies = make([]Reply, len(b.calls))
		b.send(ctx)
		return b.replies
	}
	if cap(b.room) < len(b.calls) {
		b.room = make([]Reply, len(b.calls))
	}
	b.replies = b.room[:len(b.calls)]
	b.send(ctx)
	out := make([]Reply, len(b.items))
	for i := range b.items {
		it := &b.items[i]
		switch {
		case it.err != nil:
			out[i] = Reply{err: explain(it.q, "", it.err)}
		case it.split != nil:
			out[i] = it.split.merge(it.q, b.replies[it.at:it.at+len(it.split.parts)])
			it.split.release()
		default:
			out[i] = b.replies[it.at]
		}
	}
	return out
}

func (b *batch) failAll(err error) []Reply {
	out := make([]Reply, len(b.items))
	for i := range out {
		out[i].err = explain(b.items[i].q, "", err)
	}
	return out
}

// convoy is the part of a batch that goes to one connection.
type convoy struct {
	node   *node
	lane   bool
	index  uint // of the connection in the lane
	calls  []*call
	at     []int // where each belongs in the batch
	conn   *conn
	flight *flight // given back by end, unless its replies still come
	err    error   // nothing was sent
}

// send makes the first attempt for all calls, then sees to those that need more.
func (b *batch) send(ctx context.Context) {
	b.rest = stragglers{}
	b.assign()
	b.connect()
	b.client.core.callers.Add(1)
	for i := range b.convoys {
		if v := &b.convoys[i]; v.conn != nil {
			b.dispatch(ctx, v)
		}
	}
	for i := range b.convoys { // a node that is slow to connect to holds up no other
		if v := &b.convoys[i]; v.conn == nil && v.err == nil {
			v.conn, v.err = v.node.lane(v.lane).conn(ctx, v.calls[0].slot)
			if v.err == nil {
				b.dispatch(ctx, v)
			}
		}
	}
	for i := range b.convoys {
		b.collect(ctx, &b.convoys[i])
	}
	b.client.core.callers.Add(-1)
	b.finish(ctx, &b.rest)
}

// assign sorts the calls by the node and the connection that they go to. Those that
// nobody serves go astray.
func (b *batch) assign() {
	var last *convoy
	for i, q := range b.calls {
		n, lane := b.client.core.pick(q, b.client.route)
		if n == nil {
			b.rest.add(q.slot, i, outcome{err: errUncovered})
			continue
		}
		index := n.lane(lane).index(q.slot)
		if last == nil || !last.goes(n, lane, index) {
			last = b.convoy(n, lane, index)
		}
		last.calls = append(last.calls, q)
		last.at = append(last.at, i)
	}
}

func (v *convoy) goes(n *node, lane bool, index uint) bool {
	return v.node == n && v.lane == lane && v.index == index
}

// convoy gives the convoy to a place. There are few: a list is searched faster than a
// map.
func (b *batch) convoy(n *node, lane bool, index uint) *convoy {
	for i := range b.convoys {
		if v := &b.convoys[i]; v.goes(n, lane, index) {
			return v
		}
	}
	if len(b.convoys) < cap(b.convoys) {
		b.convoys = b.convoys[:len(b.convoys)+1]
	} else {
		b.convoys = append(b.convoys, convoy{})
	}
	v := &b.convoys[len(b.convoys)-1]
	v.node, v.lane, v.index = n, lane, index
	return v
}

// connect finds the connections that are open, and starts to dial the others, all at the
// same time.
func (b *batch) connect() {
	for i := range b.convoys {
		v := &b.convoys[i]
		l := v.node.lane(v.lane)
		if c := l.conns[v.index].live.Load(); c != nil && c.usable() {
			v.conn = c
		} else {
			_, v.err = l.open(&l.conns[v.index])
		}
	}
}

// dispatch writes a convoy, unless it is too late.
func (b *batch) dispatch(ctx context.Context, v *convoy) {
	if v.err = ctx.Err(); v.err != nil {
		return
	}
	v.flight = b.client.core.flight.of(len(v.calls))
	v.flight.able, v.flight.lends = ctx.Done() == nil, b.splits
	if v.err = v.conn.send(v.flight, false, v.calls...); v.err != nil {
		v.flight = nil
	}
}

// collect waits for a convoy's replies.
func (b *batch) collect(ctx context.Context, v *convoy) {
	o := outcome{node: v.node, lane: v.lane, err: v.err}
	if v.err != nil {
		for i, q := range v.calls {
			b.rest.add(q.slot, v.at[i], o)
		}
		return
	}
	f := v.flight
	gaveUp := v.conn.await(ctx, f)
	got, sent := int(f.got.Load()), uint64(0)
	for i, q := range v.calls {
		sent += uint64(q.size())
		o.err, o.sent = nil, false
		switch {
		case i < got:
			o.reply = f.out[i]
			v.conn.known.learn(q, &o.reply.v)
		case gaveUp != nil:
			o.reply, o.err, o.sent = Reply{}, gaveUp, true
		default:
			o.reply = Reply{}
			o.failed(f.err, sent <= f.sent)
		}
		if o.err == nil && !o.reply.v.IsError() {
			b.replies[v.at[i]] = o.reply
			continue
		}
		b.rest.add(q.slot, v.at[i], o)
	}
	if gaveUp != nil {
		v.flight = nil
	}
}
