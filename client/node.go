package client

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// node is one server. It lives as long as maps name its address.
type node struct {
	core *core
	addr string // can be dialed
	// serverName is the announced host name, for TLS; "": that of addr. Set before the
	// node is shared.
	serverName string

	primary lane // for commands to a primary
	replica lane // the same after READONLY

	zone        atomic.Pointer[string]
	passedUntil atomic.Int64 // reads are routed elsewhere until then, in Unix nanoseconds
	latency     atomic.Int64 // of a PING, in nanoseconds; 0: not known

	mu      sync.Mutex
	idle    [2][]*conn // dedicated connections that nobody uses, by readonly
	retired bool
	used    time.Time     // when a redirection last named the node
	slots   chan struct{} // one element for each dedicated connection in use
}

// lane is a set of connections that all goroutines share.
type lane struct {
	node     *node
	readonly bool
	conns    []lanePlace
}

type lanePlace struct {
	live atomic.Pointer[conn]

	mu     sync.Mutex
	flight *dialing // a dial under way
}

// dialing is a dial that several callers may wait for.
type dialing struct {
	done chan struct{}
	conn *conn
	err  error
}

func newNode(c *core, addr, serverName string) *node {
	n := &node{core: c, addr: addr, serverName: serverName, slots: make(chan struct{}, c.opt.DedicatedMax)}
	n.primary = lane{node: n, conns: make([]lanePlace, c.opt.ConnsPerNode)}
	n.replica = lane{node: n, readonly: true, conns: make([]lanePlace, c.opt.ConnsPerNode)}
	return n
}

func (n *node) lane(readonly bool) *lane {
	if readonly {
		return &n.replica
	}
	return &n.primary
}

// passOver keeps reads that have a choice away from a node for a while.
func (n *node) passOver() {
	n.passedUntil.Store(time.Now().Add(passOverTime).UnixNano())
}

const passOverTime = time.Second

func (n *node) passed() bool {
	until := n.passedUntil.Load()
	return until != 0 && time.Now().UnixNano() < until
}

// conn gives the connection for a slot, opening it when there is none. All commands of
// a slot use the same one, so that they keep their order.
func (l *lane) conn(ctx context.Context, slot int) (*conn, error) {
	p := &l.conns[l.index(slot)]
	if c := p.live.Load(); c != nil && c.usable() {
		return c, nil
	}
	d, err := l.open(p)
	if err != nil {
		return nil, err
	}
	select {
	case <-d.done:
		return d.conn, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *lane) index(slot int) uint { return uint(slot+1) % uint(len(l.conns)) }

// open starts a dial or joins the one under way.
func (l *lane) open(p *lanePlace) (*dialing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flight != nil {
		return p.flight, nil
	}
	if l.node.isRetired() {
		return nil, errRetired
	}
	c := p.live.Load()
	if c != nil && c.usable() {
		return &dialing{done: closedChan, conn: c}, nil
	}
	if c != nil && l.node.core.opt.NoReconnect {
		if err := c.dropped(); err != nil {
			return nil, err
		}
	}
	d := &dialing{done: make(chan struct{})}
	p.flight = d
	if !l.node.core.spawn(func() { l.dial(p, d) }) {
		p.flight = nil
		return nil, ErrClosed
	}
	return d, nil
}

var closedChan = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func (l *lane) dial(p *lanePlace, d *dialing) {
	n := l.node
	d.conn, d.err = n.core.dial(n.addr, n.serverName, l.readonly, true)
	p.mu.Lock()
	p.flight = nil
	if d.err == nil {
		p.live.Store(d.conn)
		if d.conn.zone != "" {
			n.zone.Store(&d.conn.zone)
		}
	}
	p.mu.Unlock()
	close(d.done)
	if d.err != nil {
		n.passOver()
		return
	}
	if n.isRetired() {
		d.conn.drain(errRetired)
	}
	n.core.spawn(func() { l.watch(d.conn) })
}

// watch waits for the end of a connection and says so.
func (l *lane) watch(c *conn) {
	<-c.dead
	err := c.dropped()
	if err == nil {
		return
	}
	l.node.core.tell(Event{Kind: EventDrop, Addr: l.node.addr, Slot: noSlot, Err: err})
	l.node.core.reloadSoon()
}

func (n *node) isRetired() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.retired
}

// markRetired makes the node open no more connections.
func (n *node) markRetired() {
	n.mu.Lock()
	n.retired = true
	n.mu.Unlock()
}

// retire closes the connections of a node so marked, each when its replies have come.
func (n *node) retire(why error) {
	n.mu.Lock()
	idle := n.idle
	n.idle = [2][]*conn{}
	n.mu.Unlock()
	for _, list := range idle {
		for _, c := range list {
			c.fail(why)
		}
	}
	n.primary.drain(why)
	n.replica.drain(why)
}

func (l *lane) drain(why error) {
	for i := range l.conns {
		p := &l.conns[i]
		p.mu.Lock()
		c := p.live.Load()
		p.mu.Unlock()
		if c != nil {
			c.drain(why)
		}
	}
}

// replaceConn drops the connection that serves a slot, so that the next command dials
// again: the address may lead elsewhere by now.
func (l *lane) replaceConn(slot int) {
	p := &l.conns[l.index(slot)]
	if c := p.live.Load(); c != nil {
		c.drain(errRetired)
	}
}

// borrow gives a connection for one user, an idle one or a new one.
func (n *node) borrow(ctx context.Context, readonly bool) (*conn, error) {
	select {
	case n.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c := n.takeIdle(readonly); c != nil {
		return c, nil
	}
	d := &dialing{done: make(chan struct{})}
	ok := n.core.spawn(func() {
		d.conn, d.err = n.core.dial(n.addr, n.serverName, readonly, false)
		close(d.done)
	})
	if !ok {
		<-n.slots
		return nil, ErrClosed
	}
	select {
	case <-d.done:
	case <-ctx.Done():
		n.core.spawn(func() { // nobody wants it any more
			<-d.done
			if d.conn != nil {
				n.giveBack(d.conn, readonly, true)
			} else {
				<-n.slots
			}
		})
		return nil, ctx.Err()
	}
	if d.err != nil {
		<-n.slots
		n.passOver()
		n.core.reloadSoon()
	}
	return d.conn, d.err
}

func (n *node) takeIdle(readonly bool) *conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := &n.idle[index(readonly)]
	for len(*list) > 0 {
		last := len(*list) - 1
		c := (*list)[last]
		*list = (*list)[:last]
		if c.usable() {
			return c
		}
	}
	return nil
}

// idleMax is how many dedicated connections a node keeps for the next user.
const idleMax = 16

// giveBack ends a borrow. Only a clean connection, on which nothing is due and nothing
// is set, serves another.
func (n *node) giveBack(c *conn, readonly, clean bool) {
	n.mu.Lock()
	list := &n.idle[index(readonly)]
	keep := clean && !n.retired && len(*list) < idleMax && c.usable()
	if keep {
		*list = append(*list, c)
	}
	n.mu.Unlock()
	if !keep {
		c.fail(errRetired)
	}
	<-n.slots
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}
