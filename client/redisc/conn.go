package redisc

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Conn is a connection to a cluster. It belongs to no node until Bind, or the first
// command, binds it: to the node of the slot of the command's first argument, whatever
// that is, or to any node when there is none. Then it stays with that node.
//
// It returns the redirections that it is answered, unless [Cluster.Retry] or [RetryConn]
// make it follow them.
type Conn struct {
	cluster *Cluster
	retry   *Retry // nil: follows no redirection

	pending atomic.Int64 // commands sent by Send whose replies are not read
	guarded atomic.Bool  // between MULTI or WATCH and what ends them
	// subscribed is set by a command after which the connection answers unasked.
	subscribed atomic.Bool

	mu   sync.Mutex
	err  error // what every method returns: closed, or never connected. guarded by mu
	way  way   // guarded by mu
	link link  // none: not bound. guarded by mu

	spread spread // the pipeline while it is not bound, with Cluster.SpreadPipelines
}

var (
	_ redis.ConnWithTimeout = (*Conn)(nil)
	_ redis.ConnWithContext = (*Conn)(nil)
)

// Do sends a command, and everything sent before, and returns the reply to the command.
// An empty command name only flushes and receives what is due.
func (c *Conn) Do(cmd string, args ...any) (any, error) {
	return c.do(&request{cmd: cmd, args: args})
}

// DoWithTimeout is Do with another timeout for the reply than the connection's own.
func (c *Conn) DoWithTimeout(timeout time.Duration, cmd string, args ...any) (any, error) {
	return c.do(&request{timed: true, timeout: timeout, cmd: cmd, args: args})
}

// DoContext is Do until the context ends, which also bounds getting a connection. A
// context that ends while the reply is waited for breaks the connection.
func (c *Conn) DoContext(ctx context.Context, cmd string, args ...any) (any, error) {
	return c.do(&request{ctx: ctx, cmd: cmd, args: args})
}

func (c *Conn) do(q *request) (any, error) {
	switch idle, err := c.idle(); {
	case err != nil:
		return nil, err
	case idle && c.cluster.SpreadPipelines:
		return c.spread.do(c, q)
	case idle && q.cmd == "":
		return nil, nil
	case idle && c.cluster.SplitKeys && q.splits():
		return c.cluster.run([]*request{q}, c.way)[0].unpack()
	}
	if c.retry != nil {
		return c.doRetrying(q, *c.retry)
	}
	return c.doOnce(q)
}

// doOnce sends a request to the node that the connection is bound to.
func (c *Conn) doOnce(q *request) (any, error) {
	rc, err := c.bound(q.context(), q.slot)
	if err != nil {
		return nil, err
	}
	v, err := q.on(rc)
	c.pending.Store(0)
	c.guard(q.cmd, err)
	if list, ok := v.([]any); ok && q.cmd == "" {
		for _, v := range list {
			if err, ok := v.(redis.Error); ok {
				c.learn(rc, err)
			}
		}
	}
	return v, c.learn(rc, err)
}

// guard notes when the connection has a state that a redirection must not leave behind.
func (c *Conn) guard(cmd string, err error) {
	switch strings.ToUpper(cmd) {
	case "MULTI", "WATCH":
		if err == nil {
			c.guarded.Store(true)
		}
	case "EXEC", "DISCARD", "UNWATCH":
		c.guarded.Store(false)
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR":
		c.subscribed.Store(true)
	}
}

// learn takes note of what an error says of the cluster and returns it.
func (c *Conn) learn(rc redis.Conn, err error) error {
	if err == nil {
		return nil
	}
	c.mu.Lock()
	addr := c.link.addr
	c.mu.Unlock()
	c.cluster.learn(rc, addr, err)
	return err
}

// learn takes note of what an error on a connection to addr says of the cluster.
func (c *Cluster) learn(rc redis.Conn, addr string, err error) {
	if to, ok := redirection(err, addr); ok {
		if !to.ask {
			c.moved(to)
		}
		return
	}
	switch word := code(err); {
	case word == "CLUSTERDOWN", word == "READONLY", word == "MOVED": // a MOVED that names nobody
		c.refreshSoon()
	case word == "" && rc.Err() != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
		c.refreshSoon()
	}
}

// Send writes a command into the buffer of the connection.
func (c *Conn) Send(cmd string, args ...any) error {
	q := &request{cmd: cmd, args: args}
	switch spreads, err := c.spreads(); {
	case err != nil:
		return err
	case spreads:
		c.spread.send(q)
		return nil
	}
	rc, err := c.bound(q.context(), q.slot)
	if err != nil {
		return err
	}
	c.pending.Add(1)
	c.guard(cmd, nil)
	return c.learn(rc, rc.Send(cmd, args...))
}

// Flush sends the buffer. On a connection that is bound to no node there is nothing to
// send.
func (c *Conn) Flush() error {
	c.mu.Lock()
	rc, err := c.link.rc, c.unusable()
	c.mu.Unlock()
	switch {
	case err != nil:
		return err
	case rc == nil:
		if c.cluster.SpreadPipelines {
			c.spread.flush(c, &request{})
		}
		return nil
	}
	return c.learn(rc, rc.Flush())
}

// Receive waits for the next reply.
func (c *Conn) Receive() (any, error) { return c.receive(&request{}) }

// ReceiveWithTimeout is Receive with another timeout than the connection's own. A timeout
// breaks the connection.
func (c *Conn) ReceiveWithTimeout(timeout time.Duration) (any, error) {
	return c.receive(&request{timed: true, timeout: timeout})
}

// ReceiveContext is Receive until the context ends, which breaks the connection.
func (c *Conn) ReceiveContext(ctx context.Context) (any, error) {
	return c.receive(&request{ctx: ctx})
}

func (c *Conn) receive(q *request) (any, error) {
	switch spreads, err := c.spreads(); {
	case err != nil:
		return nil, err
	case spreads:
		return c.spread.receive(c, q)
	}
	rc, err := c.bound(q.context(), q.slot)
	if err != nil {
		return nil, err
	}
	v, err := q.receive(rc)
	c.received()
	return v, c.learn(rc, err)
}

// received counts a reply. A subscription receives more than was sent.
func (c *Conn) received() {
	for n := c.pending.Load(); n > 0; n = c.pending.Load() {
		if c.pending.CompareAndSwap(n, n-1) {
			return
		}
	}
}

// Err returns why the connection can't be used any more; nil: it can.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.unusable(); err != nil || c.link.rc == nil {
		return err
	}
	return c.link.rc.Err()
}

// Close gives the connection back to its pool, or ends it. Afterwards every method gives
// the error "redisc: closed", a second Close too.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	c.err = errClosed
	if c.link.rc == nil {
		return nil
	}
	l := c.link
	c.link = link{}
	if c.guarded.Load() || c.subscribed.Load() {
		return l.rc.Close() // the pool ends what is going on
	}
	return l.giveBack()
}
