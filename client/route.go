package client

import (
	"context"
	"math"
	"time"
)

// pick gives the node for a command by the map, and whether it goes on the connections
// that were told READONLY. nil: nobody serves it.
func (c *core) pick(q *call, route Route) (n *node, readonly bool) {
	g := c.top.Load().group(q.slot)
	switch {
	case g == nil:
		return nil, false
	case route == RoutePrimary || !q.readonly():
		return g.primary, false
	}
	switch route {
	case RouteReplica:
		return c.inTurn(g.replicas, nil), true
	case RouteNearest:
		n = nearest(g)
	case RouteZone:
		n = c.inTurn(g.replicas, c.inZone)
		if n == nil && (c.inZone(g.primary) || len(g.replicas) == 0) {
			n = g.primary
		}
	}
	if n == nil {
		n = c.inTurn(g.replicas, func(n *node) bool { return !n.passed() })
	}
	if n == nil {
		n = g.primary
	}
	return n, n != g.primary
}

func (c *core) inZone(n *node) bool {
	zone := n.zone.Load()
	return zone != nil && *zone == c.opt.Zone && !n.passed()
}

// inTurn gives the next of the nodes that fit. With fit nil all do, but nodes that are
// passed over come last.
func (c *core) inTurn(list []*node, fit func(*node) bool) *node {
	if len(list) == 0 {
		return nil
	}
	first := int(c.turn.Add(1))
	for i := range list {
		n := list[(first+i)%len(list)]
		if fit == nil && !n.passed() || fit != nil && fit(n) {
			return n
		}
	}
	if fit == nil {
		return list[first%len(list)]
	}
	return nil
}

func nearest(g *group) *node {
	best, latency := (*node)(nil), int64(math.MaxInt64)
	consider := func(n *node) {
		if d := n.latency.Load(); d > 0 && d < latency && !n.passed() {
			best, latency = n, d
		}
	}
	consider(g.primary)
	for _, n := range g.replicas {
		consider(n)
	}
	return best
}

const (
	// measureEvery is the time between two measurements of the latency to all nodes.
	measureEvery = 10 * time.Second
	// measurePings is how many PINGs are sent each time; the fastest counts.
	measurePings = 3
)

// measure pings all nodes from time to time, for RouteNearest.
func (c *core) measure() {
	for {
		for _, n := range c.top.Load().nodes {
			c.spawn(func() { n.measure(c.ctx) })
		}
		if pause(c.ctx, measureEvery) != nil {
			return
		}
	}
}

func (n *node) measure(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, n.core.opt.DialTimeout)
	defer cancel()
	cn, err := n.replica.conn(ctx, noSlot)
	best := time.Duration(0)
	for range measurePings {
		if err != nil {
			break
		}
		start := time.Now()
		if _, err = cn.exchange(ctx, [][]string{{"PING"}}); err == nil {
			if d := max(time.Since(start), 1); best == 0 || d < best {
				best = d
			}
		}
	}
	if err != nil {
		n.passOver()
		return
	}
	n.latency.Store(int64(best))
}
