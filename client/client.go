package client

import (
	"context"
	"errors"
	"fmt"
)

// Client talks to a cluster, or to one server. It is safe for concurrent use; one
// serves a whole program.
type Client struct {
	core  *core
	route Route
}

// Open loads the map from any of the addresses that answers. When none does, the error
// joins the cause of each. The context bounds only this call.
func Open(ctx context.Context, opt Options) (*Client, error) {
	if len(opt.Addrs) == 0 {
		return nil, fmt.Errorf("open client: %w: no address given", ErrNoNode)
	}
	c := newCore(opt)
	if err := c.reload(ctx); err != nil {
		c.close()
		if errors.Is(err, errNoCluster) || ctx.Err() != nil {
			return nil, fmt.Errorf("open client: %w", err)
		}
		return nil, fmt.Errorf("open client: %w: %w", ErrNoNode, err)
	}
	if c.opt.ReloadEvery > 0 {
		c.spawn(c.reloadForever)
	}
	if c.opt.SentinelName != "" {
		c.spawn(c.followSwitches)
	}
	if c.opt.Route == RouteNearest {
		c.spawn(c.measure)
	}
	return &Client{core: c, route: opt.Route}, nil
}

func (c *core) reloadForever() {
	for pause(c.ctx, c.opt.ReloadEvery) == nil {
		c.reloadSoon()
	}
}

// Close ends all connections and waits for the client's goroutines. Commands under way
// fail, with [ErrMaybeExecuted] when they were sent. It may be called twice, and the
// views of WithRoute close with it.
func (c *Client) Close() error {
	c.core.close()
	return nil
}

// WithRoute gives a view of the client that sends commands which only read elsewhere.
// It shares all connections with c and needs no Close. [RouteNearest] wants it in
// Options too, where it starts the measuring; without, it is as [RoutePreferReplica].
func (c *Client) WithRoute(route Route) *Client { return &Client{core: c.core, route: route} }

// Stats returns counts of what happened since Open.
func (c *Client) Stats() Stats { return c.core.count.stats() }

// Reload loads the map now, or shares the loading under way. Commands do so on their
// own when they have a reason.
func (c *Client) Reload(ctx context.Context) error { return c.core.reload(ctx) }

// Do sends one command and waits for its reply. The first argument is the command; the
// others are strings, []byte, numbers or bools, and []string and [][]byte stand for
// their elements. Nothing of them is kept.
//
// In a cluster the command goes where its keys are; MGET, MSET, DEL, EXISTS, UNLINK and
// TOUCH are split by slot when they must be, and commands about all nodes, such as
// DBSIZE, KEYS and FLUSHALL, go to all of them and their replies are put together.
func (c *Client) Do(ctx context.Context, args ...any) Reply {
	q := newCall()
	if err := q.encode(args); err != nil {
		r := Reply{err: explain(q, "", err)}
		q.release()
		return r
	}
	r := c.do(ctx, q)
	q.release()
	return r
}

// send is Do for typed methods: first, and behind them rest.
func (c *Client) send(ctx context.Context, rest []any, first ...any) Reply {
	q := newCall()
	if err := q.encode(first, rest...); err != nil {
		r := Reply{err: explain(q, "", err)}
		q.release()
		return r
	}
	r := c.do(ctx, q)
	q.release()
	return r
}

// pointers sends a command whose reply is strings and nulls.
func (c *Client) pointers(ctx context.Context, rest []any, first ...any) ([]*string, error) {
	q := newCall()
	defer q.release()
	q.lends = true
	if err := q.encode(first, rest...); err != nil {
		return nil, explain(q, "", err)
	}
	return c.do(ctx, q).Pointers()
}

func (c *Client) do(ctx context.Context, q *call) Reply {
	if err := ctx.Err(); err != nil {
		return Reply{err: explain(q, "", err)}
	}
	t := trip{core: c.core, q: q, route: c.route}
	if q.spec.flags&flagOwn == 0 && q.slot != crossSlot && q.spec.request == requestOne {
		return t.run(ctx)
	}
	standalone := c.core.top.Load().standalone
	switch {
	case q.refused(standalone):
		return Reply{err: explain(q, "", ErrNotShared)}
	case standalone:
		return t.run(ctx)
	case q.slot == crossSlot:
		if !q.splits() {
			return Reply{err: explain(q, "", ErrCrossSlot)}
		}
		return c.doSplit(ctx, q)
	case q.spec.fansOut():
		return c.doEverywhere(ctx, q)
	}
	return t.run(ctx)
}

// Commands that change the connection they are sent on, that answer more than once, or
// that speak of what their connection did before.
var ownCommands = []string{
	"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE",
	"MONITOR", "SYNC", "PSYNC", "REPLCONF", "MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH",
	"SELECT", "HELLO", "RESET", "QUIT", "AUTH", "READONLY", "READWRITE", "ASKING",
	"CLIENT REPLY", "CLIENT TRACKING", "CLIENT CACHING", "CLIENT DURABILITY", "WAIT", "WAITAOF",
}

func init() {
	for _, name := range ownCommands {
		if specs[name] == nil {
			specs[name] = &spec{name: name}
		}
		specs[name].flags |= flagOwn
	}
}

// refused reports whether a command has no place on a shared connection. The cursor of
// SCAN belongs to one node, so in a cluster it is for Client.Scan and Node.Do.
func (q *call) refused(standalone bool) bool {
	return q.spec.flags&flagOwn != 0 || !standalone && q.spec.request == requestSpecial
}
