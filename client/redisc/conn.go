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

	mu     sync.Mutex
	err    error // what every method returns: closed, or never connected. guarded by mu
	way    way   // guarded by mu
	rc     redis.Conn
	addr   string // of rc. guarded by mu, as rc
	spread spread // the pipeline while it is not bound, with Cluster.SpreadPipelines
}

var (
	_ redis.ConnWithTimeout = (*Conn)(nil)
	_ redis.ConnWithContext = (*Conn)(nil)
)

// Bind binds the connection to the node that serves the slot of the keys, which must be
// the same; without keys to any node. It is an error when the connection is bound.
func (c *Conn) Bind(keys ...string) error {
	at := -1
	if len(keys) > 0 {
		at = Slot(keys[0])
	}
	for _, key := range keys {
		if Slot(key) != at {
			return errSlots
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.unusable(); err != nil {
		return err
	}
	if c.rc != nil {
		return errBound
	}
	return c.bindLocked(context.Background(), at)
}

// ReadOnly makes the connection go to a replica of its slot, if there is one, and tell it
// READONLY. It is an error when the connection is bound.
func (c *Conn) ReadOnly() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.unusable(); err != nil {
		return err
	}
	if c.rc != nil {
		return errBound
	}
	c.way.readOnly = true
	return nil
}

// unusable gives why the connection can't be used. mu is held.
func (c *Conn) unusable() error {
	if c.err != nil {
		return c.err
	}
	if c.rc == nil {
		return c.cluster.closedError()
	}
	return nil
}

// bindLocked needs mu, which keeps a reader and a writer from binding it twice.
func (c *Conn) bindLocked(ctx context.Context, at int) error {
	l, err := c.cluster.connFor(ctx, at, c.way)
	if err == nil {
		c.rc, c.addr = l.rc, l.addr
	}
	return err
}

// bound gives the connection to the node, which it binds when it is not.
func (c *Conn) bound(ctx context.Context, at int) (redis.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.unusable(); err != nil {
		return nil, err
	}
	if c.rc == nil {
		if err := c.bindLocked(ctx, at); err != nil {
			return nil, err
		}
	}
	return c.rc, nil
}

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

// idle reports whether the connection is bound to no node.
func (c *Conn) idle() (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rc == nil, c.unusable()
}

// spreads reports whether the connection is in the state in which it sends every command
// to another node.
func (c *Conn) spreads() (bool, error) {
	idle, err := c.idle()
	return idle && c.cluster.SpreadPipelines, err
}

// doOnce sends a request to the node that the connection is bound to.
func (c *Conn) doOnce(q *request) (any, error) {
	rc, err := c.bound(q.context(), q.slot())
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
	}
}

// learn takes note of what an error says of the cluster and returns it.
func (c *Conn) learn(rc redis.Conn, err error) error {
	if err == nil {
		return nil
	}
	c.mu.Lock()
	addr := c.addr
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
	case word == "CLUSTERDOWN", word == "READONLY":
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
	rc, err := c.bound(q.context(), q.slot())
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
	rc, err := c.rc, c.unusable()
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
	rc, err := c.bound(q.context(), -1)
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
	if err := c.unusable(); err != nil || c.rc == nil {
		return err
	}
	return c.rc.Err()
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
	if c.rc == nil {
		return nil
	}
	err := c.rc.Close()
	c.rc = nil
	return err
}

// BindConn calls Bind of a connection of this package, also of one that retries.
func BindConn(c redis.Conn, keys ...string) error {
	if b, ok := c.(interface{ Bind(...string) error }); ok {
		return b.Bind(keys...)
	}
	return errors.New("redisc: the connection has no method Bind")
}

// ReadOnlyConn calls ReadOnly of a connection of this package, also of one that retries.
func ReadOnlyConn(c redis.Conn) error {
	if r, ok := c.(interface{ ReadOnly() error }); ok {
		return r.ReadOnly()
	}
	return errors.New("redisc: the connection has no method ReadOnly")
}
