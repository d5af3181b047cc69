package client

import (
	"context"
	"errors"
	"sync"
)

// Conn is a connection of one's own to the node of a key, for what concerns the
// connection: WATCH, WAIT, CLIENT TRACKING. It does not follow redirections: its
// commands give them back as errors. It is for one goroutine and must be closed.
type Conn struct {
	client *Client
	node   *node
	conn   *conn

	asking   bool // the slot is on its way here: every command needs an ASKING
	watching bool // a WATCH is in force
	dirty    bool // something is set that a new user would not expect
	broken   bool // a redirection was seen: the node is not the right one any more

	mu     sync.Mutex
	closed bool
}

// Conn opens a connection to the primary of a key, "" for any node. It fails when the
// node cannot be reached after the retries that a command makes.
func (c *Client) Conn(ctx context.Context, key string) (*Conn, error) {
	q := newCall()
	defer q.release()
	if key == "" {
		q.fill("PING")
	} else {
		q.fill("WATCH", key)
	}
	return c.pin(ctx, q)
}

// fill encodes a request of strings.
func (q *call) fill(args ...string) {
	q.begin(len(args))
	for _, a := range args {
		q.text(a)
	}
	q.settle()
}

// pin borrows a connection to the node that serves a call's slot.
func (c *Client) pin(ctx context.Context, q *call) (*Conn, error) {
	t := trip{core: c.core, q: q}
	for {
		n, _ := c.core.pick(q, RoutePrimary)
		o := outcome{node: n, err: errUncovered}
		if n != nil {
			var cn *conn
			if cn, o.err = n.borrow(ctx, false); o.err == nil {
				return &Conn{client: c, node: n, conn: cn}, nil
			}
		}
		if r, again := t.judge(ctx, &o); !again {
			return nil, r.err
		}
	}
}

// Addr returns the address of the node.
func (c *Conn) Addr() string { return c.node.addr }

// Do sends a command on this connection. Subscriptions and MONITOR have no place here.
func (c *Conn) Do(ctx context.Context, args ...any) Reply {
	q := newCall()
	defer q.release()
	if err := q.encode(args); err != nil {
		return Reply{err: explain(q, c.node.addr, err)}
	}
	switch q.spec.name {
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR", "SYNC", "PSYNC", "CLIENT REPLY", "HELLO":
		return Reply{err: explain(q, c.node.addr, ErrNotShared)}
	case "CLIENT SETNAME", "CLIENT SETINFO", "CLIENT NO-EVICT", "CLIENT NO-TOUCH", "CLIENT CAPA", "CLIENT IMPORT-SOURCE":
		c.dirty = true
	}
	if q.spec.flags&flagOwn != 0 {
		c.dirty = true
	}
	return c.do(ctx, q)
}

// Tx gives an empty transaction that runs on this connection.
func (c *Conn) Tx() *Tx { return &Tx{client: c.client, conn: c} }

func (c *Conn) do(ctx context.Context, q *call) Reply {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return Reply{err: explain(q, c.node.addr, ErrClosed)}
	}
	if err := ctx.Err(); err != nil {
		return Reply{err: explain(q, c.node.addr, err)}
	}
	o := outcome{node: c.node}
	f := c.client.core.flightFor(q)
	if o.err = c.conn.send(f, c.asking, q); o.err == nil {
		if o.err = c.conn.await(ctx, f); o.err != nil {
			o.sent = true
			c.conn.fail(o.err) // the next reply would be that of this command
		} else {
			o.take(c.conn, q, f)
			c.client.core.flight.release(f)
			c.watching = c.watching && q.parts == nil // EXEC ends it, whatever it says
		}
	}
	switch {
	case o.err == nil && !o.reply.v.IsError():
		return o.reply
	case o.err == nil:
		c.note(&o)
		return Reply{v: o.reply.v, err: explain(q, c.node.addr, o.reply.v.Err())}
	case o.sent:
		return Reply{err: explain(q, c.node.addr, maybe(o.err))}
	}
	return Reply{err: explain(q, c.node.addr, join(ErrNoNode, o.err))}
}

// note learns from a redirection that is not followed.
func (c *Conn) note(o *outcome) {
	switch code(&o.reply.v) {
	case "MOVED", "ASK":
		if to, ok := parseRedirect(&o.reply.v, o.node.addr); ok {
			c.client.core.follow(o, to, false)
		}
		c.broken = true
	case "READONLY", "CLUSTERDOWN":
		c.client.core.reloadSoon()
		c.broken = true
	}
}

// Close gives the connection back. A second call does nothing.
func (c *Conn) Close() error {
	c.mu.Lock()
	closed, clean := c.closed, !c.dirty && !c.broken && !c.asking
	c.closed = true
	c.mu.Unlock()
	if !closed {
		c.node.giveBack(c.conn, false, clean)
	}
	return nil
}

// Watch runs an optimistic transaction: it watches the keys, which must be in one slot,
// and calls fn, which reads with [Conn.Do] and ends with the Exec of a [Conn.Tx]. When
// one of the keys changes in between, that Exec gives [ErrAborted], which fn returns
// and Watch passes on; the caller decides whether to try again.
//
// When the keys turn out to be elsewhere, Watch calls fn once more on a connection to
// the other node, so fn must be able to run several times; nothing was executed then.
func (c *Client) Watch(ctx context.Context, fn func(*Conn) error, keys ...string) error {
	q := newCall()
	defer q.release()
	q.begin(1 + len(keys))
	q.text("WATCH")
	for _, key := range keys {
		q.text(key)
	}
	q.settle()
	switch {
	case len(keys) == 0:
		return explain(q, "", errors.New("no keys to watch"))
	case q.slot == crossSlot && !c.core.top.Load().standalone:
		return explain(q, "", ErrCrossSlot)
	}
	t := trip{core: c.core, q: q}
	for {
		again, err := c.watchOnce(ctx, &t, fn)
		if !again {
			return err
		}
	}
}

// watchOnce makes one attempt; again: the keys are elsewhere and nothing was executed.
func (c *Client) watchOnce(ctx context.Context, t *trip, fn func(*Conn) error) (again bool, err error) {
	pinned, err := c.pinAt(ctx, t)
	if err != nil {
		return false, err
	}
	defer func() {
		pinned.unwatch()
		pinned.Close()
	}()
	pinned.watching = true
	o := outcome{node: pinned.node}
	f := c.core.flightFor(t.q)
	if o.err = pinned.conn.send(f, pinned.asking, t.q); o.err == nil {
		if o.err = pinned.conn.await(ctx, f); o.err != nil {
			pinned.conn.fail(o.err)
			return false, explain(t.q, pinned.node.addr, o.err)
		}
		o.take(pinned.conn, t.q, f)
		c.core.flight.release(f)
	}
	if o.sent = false; o.err != nil || o.reply.v.IsError() { // WATCH changes nothing: it is never in doubt
		r, again := t.judge(ctx, &o)
		return again, r.err
	}
	t.to, t.asking = nil, false
	err = fn(pinned)
	if err == nil || !pinned.broken || errors.Is(err, ErrMaybeExecuted) {
		return false, err
	}
	if t.redirects++; t.redirects > redirectsMax {
		return false, explain(t.q, pinned.node.addr, join(ErrMaxRedirects, err))
	}
	return true, err
}

// pinAt borrows a connection to where a trip leads.
func (c *Client) pinAt(ctx context.Context, t *trip) (*Conn, error) {
	if t.to == nil {
		return c.pin(ctx, t.q)
	}
	n := t.to
	cn, err := n.borrow(ctx, false)
	if err != nil {
		return nil, explain(t.q, n.addr, err)
	}
	return &Conn{client: c, node: n, conn: cn, asking: t.asking}, nil
}

// unwatch makes the connection one that another may use. When EXEC did not end the
// watch it is not worth a round trip: the connection is closed.
func (c *Conn) unwatch() { c.dirty = c.dirty || c.watching }
