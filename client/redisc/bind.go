package redisc

import (
	"context"
	"errors"

	"github.com/gomodule/redigo/redis"
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
	if c.link.rc != nil {
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
	if c.link.rc != nil {
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
	if c.link.rc == nil {
		return c.cluster.closedError()
	}
	return nil
}

// bindLocked needs mu, which keeps a reader and a writer from binding it twice.
func (c *Conn) bindLocked(ctx context.Context, at int) error {
	l, err := c.cluster.connFor(ctx, at, c.way)
	if err == nil {
		c.link = l
	}
	return err
}

// bound gives the connection to the node, which it binds when it is not, by the slot at.
func (c *Conn) bound(ctx context.Context, at func() int) (redis.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.unusable(); err != nil {
		return nil, err
	}
	if c.link.rc == nil {
		if err := c.bindLocked(ctx, at()); err != nil {
			return nil, err
		}
	}
	return c.link.rc, nil
}

// idle reports whether the connection is bound to no node.
func (c *Conn) idle() (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link.rc == nil, c.unusable()
}

// spreads reports whether the connection is in the state in which it sends every command
// to another node.
func (c *Conn) spreads() (bool, error) {
	idle, err := c.idle()
	return idle && c.cluster.SpreadPipelines, err
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
