package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-kv/bowline/client/internal/announce"
	"github.com/bowline-kv/bowline/resp"
)

// dial opens a connection to a node and makes it ready for commands.
func (c *core) dial(addr, serverName string, readonly, shared bool) (*conn, error) {
	ctx, cancel := context.WithTimeout(c.ctx, c.opt.DialTimeout)
	defer cancel()
	cn, err := c.open(ctx, addr, serverName, readonly, shared)
	if err != nil {
		err = fmt.Errorf("connect to %s: %w", addr, err)
		c.tell(Event{Kind: EventDialFailed, Addr: addr, Slot: noSlot, Err: err})
		return nil, err
	}
	c.tell(Event{Kind: EventDial, Addr: addr, Slot: noSlot})
	return cn, nil
}

func (c *core) open(ctx context.Context, addr, serverName string, readonly, shared bool) (*conn, error) {
	nc, err := c.openSocket(ctx, addr, serverName)
	if err != nil {
		return nil, err
	}
	cn, err := c.startConn(nc, shared, addr, nil)
	if err != nil {
		return nil, err
	}
	if err := c.greet(ctx, cn, readonly); err != nil {
		cn.fail(err)
		<-cn.dead
		return nil, err
	}
	return cn, nil
}

// startConn makes a connection of a socket, which is closed with the client. stray gets
// what answers nothing; nil: that is a fault.
func (c *core) startConn(nc net.Conn, shared bool, addr string, stray func(resp.Value)) (*conn, error) {
	var push func(resp.Value)
	limit := time.Duration(0)
	if shared {
		limit = c.opt.Timeout
		if c.opt.OnPush != nil {
			push = func(v resp.Value) { c.opt.OnPush(addr, v) }
		}
	}
	cn := newConn(nc, limit, push)
	cn.known.flushes, cn.callers, cn.stray = &c.flushes, &c.callers, stray
	cn.ended = func() { c.untrack(cn) }
	if shared && push == nil { // messages must not wait for the next caller
		cn.alive = aliveness(nc)
	}
	if !c.track(cn) {
		nc.Close()
		return nil, ErrClosed
	}
	cn.start()
	return cn, nil
}

func (c *core) openSocket(ctx context.Context, addr, serverName string) (net.Conn, error) {
	nc, err := c.opt.Dialer(ctx, "tcp", addr)
	if err != nil || c.opt.TLS == nil {
		return nc, err
	}
	config := c.opt.TLS.Clone()
	if config.ServerName == "" {
		if config.ServerName = serverName; serverName == "" {
			config.ServerName, _, _ = announce.Split(addr)
		}
	}
	secure := tls.Client(nc, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, err
	}
	return secure, nil
}

// greet logs in and sets the connection up, all in one round trip. A server that does
// not know HELLO gets a second one.
func (c *core) greet(ctx context.Context, cn *conn, readonly bool) error {
	o := &c.opt
	var hello []string
	if !o.RESP2 {
		hello = []string{"HELLO", "3"}
		if o.Password != "" || o.Username != "" {
			hello = append(hello, "AUTH", orDefault(o.Username, "default"), o.Password)
		}
	}
	replies, err := cn.exchange(ctx, c.setup(hello, readonly))
	if err != nil {
		return err
	}
	if hello != nil && lacksHello(&replies[0]) {
		if replies, err = cn.exchange(ctx, c.setup(nil, readonly)); err != nil {
			return err
		}
	}
	for i := range replies {
		v := &replies[i]
		if o.Password != "" && v.IsError() {
			v.Str = withoutSecret(v.Str, o.Password)
		}
		if err := v.Err(); err != nil {
			return err
		}
	}
	cn.zone = textOf(announce.Field(&replies[0], "availability_zone"))
	return nil
}

// withoutSecret takes a password out of an error's text: servers and proxies repeat the
// arguments of what they do not know, long ones cut off.
func withoutSecret(text []byte, secret string) []byte {
	code, rest, more := bytes.Cut(text, []byte(" "))
	if !more {
		return text
	}
	rest, _, _ = bytes.Cut(rest, []byte(", with args beginning with"))
	rest = bytes.ReplaceAll(rest, []byte(secret), []byte("***"))
	return bytes.Join([][]byte{code, rest}, []byte(" "))
}

func lacksHello(v *resp.Value) bool {
	switch code(v) {
	case "NOPROTO":
		return true
	case "ERR":
		return strings.Contains(strings.ToLower(string(v.Str)), "unknown command")
	}
	return false
}

// setup lists what a new connection sends, hello first. With an empty list it sends a
// PING, for a connection is open only when the server has answered.
func (c *core) setup(hello []string, readonly bool) [][]string {
	o, list := &c.opt, [][]string(nil)
	add := func(args ...string) { list = append(list, args) }
	switch {
	case hello != nil:
		add(hello...)
	case o.Username != "":
		add("AUTH", o.Username, o.Password)
	case o.Password != "":
		add("AUTH", o.Password)
	default:
		add("PING")
	}
	if o.Name != "" {
		add("CLIENT", "SETNAME", o.Name)
	}
	if o.DB != 0 {
		add("SELECT", strconv.Itoa(o.DB))
	}
	if readonly {
		add("READONLY")
	}
	if d := o.Durability; d.Replicas > 0 {
		args := []string{"CLIENT", "DURABILITY", "REPLICAS", strconv.Itoa(d.Replicas)}
		if d.Timeout > 0 {
			args = append(args, "TIMEOUT", strconv.FormatInt(d.Timeout.Milliseconds(), 10))
		}
		add(args...)
	}
	return list
}

// exchange sends requests and waits for their replies, whatever they say.
func (c *conn) exchange(ctx context.Context, list [][]string) ([]resp.Value, error) {
	calls := make([]*call, len(list))
	for i, args := range list {
		calls[i] = &call{spec: unknownCommand, wire: resp.AppendCommandStrings(nil, args...)}
	}
	f := newFlight()
	f.out = make([]Reply, len(list))
	if err := c.send(f, false, calls...); err != nil {
		// It may have ended already, such as by an alert of TLS: that is the reason.
		return nil, orElse(c.cause(), err)
	}
	select {
	case <-f.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if f.err != nil {
		return nil, f.err
	}
	out := make([]resp.Value, len(f.out))
	for i := range f.out {
		out[i] = f.out[i].v
	}
	return out, nil
}

func orElse(err, other error) error {
	if err == nil {
		return other
	}
	return err
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
