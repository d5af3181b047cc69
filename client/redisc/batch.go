package redisc

import (
	"errors"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/bowline-kv/bowline/client"
)

// stubborn is how redirections are followed for commands that are not sent on one bound
// connection, when [Cluster.Retry] does not say.
var stubborn = Retry{MaxAttempts: 8, TryAgainDelay: 20 * time.Millisecond}

// run sends requests each to the node of its keys, to all nodes at the same time, and
// gives their results in order. Requests that span slots are split when they can be.
//
//	list    0: GET   1: MGET          2: SET
//	        |        |--------|       |
//	parts   0        1    2   3       4        results lie beside parts
func (c *Cluster) run(list []*request, w way) []result {
	var parts []*part
	wholes := make([][]*part, len(list))
	out := make([]result, len(list))
	for i, q := range list {
		wholes[i], out[i].err = q.parts()
		parts = append(parts, wholes[i]...)
	}
	results := c.runParts(parts, w)
	for i, q := range list {
		n := len(wholes[i])
		switch {
		case n == 1:
			out[i] = results[0]
		case n > 1:
			out[i] = q.merge(wholes[i], results[:n])
		}
		results = results[n:]
	}
	return out
}

// parts gives a request as what is sent to one slot each.
func (q *request) parts() ([]*part, error) {
	if q.splits() {
		return q.split(), nil
	}
	args := []any{q.cmd}
	for _, a := range q.args {
		args = append(args, encode(a, true))
	}
	at, err := client.SlotOf(args...)
	switch {
	case errors.Is(err, client.ErrNotShared):
		return nil, errNotSpread
	case err != nil:
		return nil, err
	case at < 0:
		at = q.slot() // as an unbound connection would find its node
	}
	return []*part{{request: *q, slot: at}}, nil
}

var errNotSpread = errors.New("redisc: the command is about one connection: bind it first")

// runParts sends each part to its node, and those that were redirected once more, a
// slot's one after the other.
func (c *Cluster) runParts(parts []*part, w way) []result {
	results := make([]result, len(parts))
	var group sync.WaitGroup
	for _, list := range c.byNode(parts) {
		group.Go(func() { c.runNode(parts, list, results, w) })
	}
	group.Wait()
	var slots []int
	astray := map[int][]int{}
	for i, p := range parts {
		if _, redirected := redirection(results[i].err, ""); redirected || IsTryAgain(results[i].err) {
			if astray[p.slot] == nil {
				slots = append(slots, p.slot)
			}
			astray[p.slot] = append(astray[p.slot], i)
		}
	}
	for _, at := range slots {
		c.runAstray(parts, astray[at], results, w)
	}
	return results
}

// byNode groups the numbers of parts by the primary of their slots.
func (c *Cluster) byNode(parts []*part) map[string][]int {
	t, nodes := c.layout(), map[string][]int{}
	for i, p := range parts {
		addr := ""
		if serving := t.serving(p.slot); len(serving) > 0 {
			addr = serving[0]
		}
		nodes[addr] = append(nodes[addr], i)
	}
	return nodes
}

// runNode writes all parts of a node, then reads their replies.
func (c *Cluster) runNode(parts []*part, list []int, results []result, w way) {
	first := parts[list[0]]
	l, err := c.connFor(first.context(), first.slot, w)
	if err == nil {
		defer l.giveBack()
		err = send(l.rc, parts, list)
	}
	for _, i := range list {
		if err == nil {
			results[i].reply, results[i].err = parts[i].receive(l.rc)
			if results[i].err == nil {
				continue
			}
			c.learn(l.rc, l.addr, results[i].err)
			if _, answered := replyError(results[i].err); answered {
				continue
			}
			err = results[i].err
		}
		results[i].err = err
	}
}

func send(rc redis.Conn, parts []*part, list []int) error {
	for _, i := range list {
		if err := rc.Send(parts[i].cmd, parts[i].args...); err != nil {
			return err
		}
	}
	return rc.Flush()
}

// runAstray sends parts of one slot again, and follows where they lead.
func (c *Cluster) runAstray(parts []*part, list []int, results []result, w way) {
	conn := &Conn{cluster: c, way: w}
	defer conn.Close()
	retry := stubborn
	if c.Retry != nil {
		retry = *c.Retry
	}
	for _, i := range list {
		p := parts[i]
		if _, err := conn.bound(p.context(), func() int { return p.slot }); err != nil {
			results[i].err = err
			continue
		}
		results[i].reply, results[i].err = conn.doRetrying(&p.request, retry)
	}
}
