package redisc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"
)

// RetryConn gives a connection whose Do follows MOVED and ASK, and waits for
// tryAgainDelay and tries again after TRYAGAIN. The command is sent maxAtt times at most,
// <= 0: as often as it takes; then the error says "too many attempts" and wraps the last
// answer.
//
// Only Do, in its three forms, Bind, ReadOnly, Err and Close are of use: Send, Flush and
// Receive give an error, for of a pipeline some commands may have been executed. Between
// MULTI or WATCH and what ends them nothing is tried again. c must be a *[Conn]; it must
// not be used on its own, and closing either closes both.
func RetryConn(c redis.Conn, maxAtt int, tryAgainDelay time.Duration) (redis.Conn, error) {
	conn, ok := c.(*Conn)
	if !ok {
		return nil, errors.New("redisc: connection is not a *Conn")
	}
	return &retryConn{conn, Retry{maxAtt, tryAgainDelay}}, nil
}

type retryConn struct {
	conn  *Conn
	retry Retry
}

var (
	_ redis.ConnWithTimeout = (*retryConn)(nil)
	_ redis.ConnWithContext = (*retryConn)(nil)
)

var errNoPipeline = errors.New("redisc: a connection that retries has no pipeline: only Do is supported")

func (r *retryConn) Bind(keys ...string) error { return r.conn.Bind(keys...) }

func (r *retryConn) ReadOnly() error { return r.conn.ReadOnly() }

func (r *retryConn) Close() error { return r.conn.Close() }

func (r *retryConn) Err() error { return r.conn.Err() }

func (r *retryConn) Do(cmd string, args ...any) (any, error) {
	return r.do(&request{cmd: cmd, args: args})
}

func (r *retryConn) DoWithTimeout(timeout time.Duration, cmd string, args ...any) (any, error) {
	return r.do(&request{timed: true, timeout: timeout, cmd: cmd, args: args})
}

func (r *retryConn) DoContext(ctx context.Context, cmd string, args ...any) (any, error) {
	return r.do(&request{ctx: ctx, cmd: cmd, args: args})
}

func (r *retryConn) do(q *request) (any, error) {
	if idle, err := r.conn.idle(); err != nil || idle && r.conn.cluster.leaves(q) {
		return r.conn.do(q)
	}
	return r.conn.doRetrying(q, r.retry)
}

func (r *retryConn) Send(string, ...any) error { return errNoPipeline }

func (r *retryConn) Flush() error { return errNoPipeline }

func (r *retryConn) Receive() (any, error) { return nil, errNoPipeline }

func (r *retryConn) ReceiveWithTimeout(time.Duration) (any, error) { return nil, errNoPipeline }

func (r *retryConn) ReceiveContext(context.Context) (any, error) { return nil, errNoPipeline }

// leaves reports whether a request on an unbound connection leaves it unbound.
func (c *Cluster) leaves(q *request) bool {
	return c.SpreadPipelines || q.cmd == "" || c.SplitKeys && q.splits()
}

// doRetrying follows redirections. A MOVED takes the connection to another node, an ASK
// this one command only.
func (c *Conn) doRetrying(q *request, r Retry) (any, error) {
	if c.pending.Load() > 0 || c.guarded.Load() {
		// Do would send what was executed already, or leave a transaction behind.
		return c.doOnce(q)
	}
	asked, last := "", error(nil)
	for n := 0; r.MaxAttempts <= 0 || n < r.MaxAttempts; n++ {
		v, at, err := c.attempt(q, asked)
		to, redirected := redirection(err, at)
		last = err
		switch {
		case IsTryAgain(err):
			err = wait(q.context(), r.TryAgainDelay)
		case !redirected:
			return v, err
		case to.ask:
			asked, err = to.addr, q.context().Err()
		default:
			asked, err = "", c.follow(q.context(), to)
		}
		if err != nil {
			return nil, err
		}
	}
	if last == nil {
		return nil, errAttempts
	}
	return nil, fmt.Errorf("%w: %w", errAttempts, last)
}

// attempt sends a request once, to the node that an ASK named or else the one that the
// connection is bound to. It gives the address.
func (c *Conn) attempt(q *request, asked string) (v any, addr string, err error) {
	if asked != "" {
		v, err = c.doAsking(q, asked)
		return v, asked, err
	}
	v, err = c.doOnce(q)
	c.mu.Lock()
	defer c.mu.Unlock()
	return v, c.link.addr, err
}

// doAsking sends ASKING and a request to the node that an ASK named.
func (c *Conn) doAsking(q *request, addr string) (any, error) {
	c.mu.Lock()
	unpooled := c.way.unpooled
	c.mu.Unlock()
	rc, err := c.cluster.connTo(q.context(), addr, unpooled)
	if err != nil {
		return nil, err
	}
	defer func() { c.cluster.tellClose(rc.Close()) }()
	if err := rc.Send("ASKING"); err != nil {
		return nil, err
	}
	v, err := q.on(rc)
	if err != nil {
		c.cluster.learn(rc, addr, err)
	}
	return v, err
}

// follow takes the connection to where a MOVED leads. The map says so too by now.
func (c *Conn) follow(ctx context.Context, to target) error {
	serving := c.cluster.layout().serving(to.slot)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	if c.link.rc == nil {
		return nil // the next attempt binds it
	}
	for _, addr := range serving {
		if addr == c.link.addr {
			// A replica of the slot would not do it: the primary has to.
			c.way.readOnly = false
		}
	}
	if len(serving) == 0 || !c.way.readOnly {
		serving = []string{to.addr}
	}
	// First, so that nobody waits for a connection while holding one that others wait for.
	old := c.link
	c.link = link{}
	c.cluster.tellClose(old.giveBack())
	l, err := c.cluster.connAmong(ctx, serving, c.way)
	if err != nil {
		c.cluster.refreshSoon()
		return err
	}
	c.link = l
	return nil
}

// tellClose passes on what the closing of a connection said that a redirection left.
func (c *Cluster) tellClose(err error) {
	if err != nil && c.BgError != nil {
		c.BgError(RetryCloseConn, err)
	}
}

// wait waits for d or the end of the context.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
