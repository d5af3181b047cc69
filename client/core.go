package client

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-kv/bowline/client/internal/announce"
)

// core is what all views of one client share.
type core struct {
	opt    Options
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	count  counters
	flight flights
	turn   atomic.Uint32 // for choices in turn

	flushes atomic.Uint64 // of scripts, see knownScripts
	callers atomic.Int64  // that are sending or waiting on shared connections

	top    atomic.Pointer[topology]
	loader loader

	mu     sync.Mutex
	closed bool
	tasks  sync.WaitGroup     // goroutines of the core
	conns  map[*conn]struct{} // all that are open
	strays map[string]*node   // nodes that a redirection named and the map does not
}

func newCore(opt Options) *core {
	c := &core{opt: opt.withDefaults(), conns: map[*conn]struct{}{}, strays: map[string]*node{}}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.loader.core = c
	c.top.Store(&topology{nodes: map[string]*node{}})
	return c
}

// spawn starts a goroutine that Close waits for; false: the client is closed.
func (c *core) spawn(task func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.tasks.Add(1)
	go func() {
		defer c.tasks.Done()
		task()
	}()
	return true
}

// track enters a new connection; false: the client is closed.
func (c *core) track(cn *conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.conns[cn] = struct{}{}
	return true
}

func (c *core) untrack(cn *conn) {
	c.mu.Lock()
	delete(c.conns, cn)
	c.mu.Unlock()
}

// close ends everything and waits for it.
func (c *core) close() {
	c.mu.Lock()
	c.closed = true
	open := make([]*conn, 0, len(c.conns))
	for cn := range c.conns {
		open = append(open, cn)
	}
	c.mu.Unlock()
	c.cancel()
	for _, cn := range open {
		cn.fail(ErrClosed)
	}
	for _, cn := range open {
		<-cn.dead
	}
	c.tasks.Wait()
}

// nodeAt gives the node of an announced address: that of the map, else one kept for
// redirections. known says that the map has it.
func (c *core) nodeAt(addr string) (n *node, known bool) {
	if c.opt.MapAddr != nil {
		addr = c.opt.MapAddr(addr)
	}
	if n = c.top.Load().nodes[addr]; n != nil {
		return n, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// A reload may have taken it into the map just now.
	if n = c.top.Load().nodes[addr]; n != nil {
		return n, true
	}
	if n = c.strays[addr]; n == nil {
		n = newNode(c, addr, "")
		c.strays[addr] = n
	}
	n.mu.Lock()
	n.used = time.Now()
	n.mu.Unlock()
	return n, false
}

// moved points a slot at a node, at once and for everybody.
func (c *core) moved(at int, n *node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n.isRetired() {
		return
	}
	delete(c.strays, n.addr)
	c.top.Store(c.top.Load().patch(at, n))
}

// strayTime is for how long a node that no map lists keeps its connections after a
// redirection named it.
const strayTime = time.Minute

// install replaces the map by what a server said. Nodes keep their connections as long
// as a map lists their address.
func (c *core) install(l *announce.Map) {
	c.mu.Lock()
	old := c.top.Load()
	fresh := map[string]*node{}
	next := build(l, func(addr, serverName string) *node {
		if c.opt.MapAddr != nil && !l.Standalone {
			addr = c.opt.MapAddr(addr)
		}
		for _, known := range []map[string]*node{fresh, old.nodes, c.strays} {
			if n := known[addr]; n != nil && (n.serverName == serverName || c.opt.TLS == nil) {
				return n
			}
		}
		fresh[addr] = newNode(c, addr, serverName)
		return fresh[addr]
	})
	var gone []*node
	for addr, n := range old.nodes {
		if next.nodes[addr] != n {
			gone = append(gone, n)
		}
	}
	for addr, n := range c.strays {
		n.mu.Lock()
		unused := time.Since(n.used) > strayTime
		n.mu.Unlock()
		switch {
		case next.nodes[addr] != nil:
			delete(c.strays, addr)
		case unused:
			delete(c.strays, addr)
			gone = append(gone, n)
		}
	}
	for _, n := range gone {
		n.markRetired() // so that a MOVED can't bring it back
	}
	c.top.Store(next)
	c.mu.Unlock()
	for _, n := range gone {
		n.retire(errRetired)
	}
}
