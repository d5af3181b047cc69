package client

import (
	"context"
	"errors"
	"sync"

	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// Node is one server of the cluster, for commands about the server itself.
type Node struct {
	client  *Client
	node    *node
	primary bool
}

// Addr returns the address that the node is dialed at.
func (n *Node) Addr() string { return n.node.addr }

// Primary reports whether the node served slots when the map was loaded.
func (n *Node) Primary() bool { return n.primary }

// Do sends a command to this node and no other: a redirection is returned as the error
// that it is.
func (n *Node) Do(ctx context.Context, args ...any) Reply {
	q := newCall()
	defer q.release()
	if err := q.encode(args); err != nil {
		return Reply{err: explain(q, n.node.addr, err)}
	}
	if q.refused(true) {
		return Reply{err: explain(q, n.node.addr, ErrNotShared)}
	}
	return n.do(ctx, q)
}

func (n *Node) do(ctx context.Context, q *call) Reply {
	if err := ctx.Err(); err != nil {
		return Reply{err: explain(q, n.node.addr, err)}
	}
	t := trip{core: n.client.core, q: q, to: n.node}
	o := t.send(ctx)
	for ; t.missed(&o) && ctx.Err() == nil; t.misses++ {
		o = t.send(ctx)
	}
	switch {
	case o.err == nil && !o.reply.v.IsError():
		return o.reply
	case o.err == nil:
		if c := code(&o.reply.v); c == "READONLY" || c == "CLUSTERDOWN" {
			n.client.core.reloadSoon() // it may have another role by now
		}
		return Reply{v: o.reply.v, err: explain(q, n.node.addr, o.reply.v.Err())}
	case o.sent:
		return t.fail(&o, maybe(o.err))
	case ctx.Err() != nil:
		return t.fail(&o, ctx.Err())
	}
	n.client.core.reloadSoon()
	return t.fail(&o, join(ErrNoNode, o.err))
}

// ForEachPrimary calls fn for every node that serves slots, all at the same time, and
// joins their errors. It ends when all calls have.
func (c *Client) ForEachPrimary(ctx context.Context, fn func(context.Context, *Node) error) error {
	return c.forEach(ctx, c.nodes(false), fn)
}

// ForEachNode is ForEachPrimary over all nodes that the map lists, replicas too.
func (c *Client) ForEachNode(ctx context.Context, fn func(context.Context, *Node) error) error {
	return c.forEach(ctx, c.nodes(true), fn)
}

func (c *Client) nodes(all bool) []*Node {
	t := c.core.top.Load()
	serving := t.primaries()
	list := make([]*Node, 0, len(t.nodes))
	listed := map[*node]bool{}
	for _, n := range serving {
		list = append(list, &Node{c, n, true})
		listed[n] = true
	}
	if all {
		for _, n := range t.nodes {
			if !listed[n] {
				list = append(list, &Node{c, n, false})
			}
		}
	}
	return list
}

func (c *Client) forEach(ctx context.Context, list []*Node, fn func(context.Context, *Node) error) error {
	if len(list) == 0 {
		return ErrNoNode
	}
	errs := make([]error, len(list))
	var group sync.WaitGroup
	for i, n := range list {
		group.Go(func() { errs[i] = fn(ctx, n) })
	}
	group.Wait()
	return join(errs...)
}

// fansOut reports whether a command is for all nodes of a cluster. PING and RANDOMKEY
// are happy with any one, and replies without a rule to join them come from one.
func (s *spec) fansOut() bool {
	return (s.request == requestAllShards || s.request == requestAllNodes) &&
		s.response != responseSpecial && s.name != "PING" && s.name != "RANDOMKEY"
}

// doEverywhere sends a command to all nodes that it concerns and joins their replies.
func (c *Client) doEverywhere(ctx context.Context, q *call) Reply {
	list := c.nodes(q.spec.request == requestAllNodes)
	replies := make([]Reply, len(list))
	var group sync.WaitGroup
	for i, n := range list {
		own := *q // sending takes notes in it
		group.Go(func() { replies[i] = n.do(ctx, &own) })
	}
	group.Wait()
	if len(replies) == 0 {
		return Reply{err: explain(q, "", ErrNoNode)}
	}
	return aggregate(q, replies)
}

// aggregate makes one reply of those of many nodes. Unless one success is enough, any
// error is the whole's.
func aggregate(q *call, replies []Reply) Reply {
	var errs []error
	good := -1
	for i := range replies {
		if replies[i].err != nil {
			errs = append(errs, replies[i].err)
		} else if good < 0 {
			good = i
		}
	}
	if q.spec.response == responseOneSucceeded && good >= 0 {
		return replies[good]
	}
	if len(errs) > 0 {
		return Reply{err: join(errs...)}
	}
	out := replies[0]
	for i := range replies[1:] {
		if err := combine(q.spec.response, &out.v, &replies[i+1].v); err != nil {
			return Reply{err: explain(q, "", err)}
		}
	}
	return out
}

var errShapes = errors.New("the replies of the nodes differ in kind")

// combine adds one more reply to what is there.
func combine(rule uint8, sum, v *resp.Value) error {
	switch rule {
	case responseAggSum, responseAggMin, responseAggLogicalAnd:
		if len(sum.Elems) != len(v.Elems) || sum.Kind != v.Kind {
			return errShapes
		}
		for i := range sum.Elems {
			if err := combine(rule, &sum.Elems[i], &v.Elems[i]); err != nil {
				return err
			}
		}
		switch rule {
		case responseAggSum:
			sum.Int += v.Int
		case responseAggMin:
			sum.Int = min(sum.Int, v.Int)
		default:
			sum.Int &= v.Int
		}
	case responseDefault:
		if sum.Kind != v.Kind || sum.Kind != resp.KindArray && sum.Kind != resp.KindSet && sum.Kind != resp.KindMap {
			return errShapes
		}
		sum.Elems = append(sum.Elems, v.Elems...)
	}
	return nil
}

// firstSlot is the slot of a command's first key.
func (q *call) firstSlot() int {
	at := noSlot
	q.spec.keyPositions(q.args(), func(i int) bool {
		at = int(slot.Of(q.args().at(i)))
		return false
	})
	return at
}
