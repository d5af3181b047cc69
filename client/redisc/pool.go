package redisc

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gomodule/redigo/redis"
)

// pool is the pool of one address, which is made when it is first needed.
type pool struct {
	made atomic.Pointer[redis.Pool]
	// life ends when the address has left, or the cluster is closed.
	life context.Context
	end  context.CancelFunc // of life

	mu     sync.Mutex // held while it is made
	inside int        // calls of wait, guarded by mu
}

func newPool() *pool {
	p := &pool{}
	p.life, p.end = context.WithCancel(context.Background())
	return p
}

// get makes the pool. It is an error when the address has left meanwhile.
func (p *pool) get(create func() (*redis.Pool, error)) (*redis.Pool, error) {
	if made := p.made.Load(); made != nil {
		return made, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life.Err() != nil {
		return nil, errPoolGone
	}
	if made := p.made.Load(); made != nil {
		return made, nil
	}
	made, err := create()
	if err == nil && made == nil {
		err = errors.New("redisc: CreatePool gave no pool")
	}
	if err != nil {
		return nil, err
	}
	p.made.Store(made)
	return made, nil
}

// lend gives a connection of the pool that was made.
func (p *pool) lend(ctx context.Context, made *redis.Pool) (redis.Conn, error) {
	if !made.Wait || made.MaxActive <= 0 || ctx.Done() == nil {
		return made.GetContext(ctx)
	}
	return p.wait(ctx, made)
}

// wait is lend where redigo waits for a connection or the end of a context. When the
// context ends while the pool is closed, redigo may send on a channel that is closed: so
// whoever is here is sent away first, and the last one closes the pool.
func (p *pool) wait(ctx context.Context, made *redis.Pool) (redis.Conn, error) {
	p.mu.Lock()
	if p.life.Err() != nil {
		p.mu.Unlock()
		return nil, errPoolGone
	}
	p.inside++
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.inside--
		p.closeEmpty()
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.life, cancel)()
	return made.GetContext(ctx)
}

// close closes the pool, or lets it not be made.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
	return p.closeEmpty()
}

// closeEmpty closes the pool when its life has ended and nobody waits in it. mu is held.
func (p *pool) closeEmpty() error {
	made := p.made.Load()
	if p.life.Err() == nil || p.inside > 0 || made == nil {
		return nil
	}
	return made.Close()
}

var errPoolGone = errors.New("redisc: the node has left the cluster")

// pool gives the pool of an address.
func (c *Cluster) pool(addr string) (*pool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	if c.pools == nil {
		c.pools = map[string]*pool{}
	}
	p := c.pools[addr]
	if p == nil {
		p = newPool()
		c.pools[addr] = p
	}
	return p, nil
}

// has reports whether a pool is still that of its address.
func (c *Cluster) has(addr string, p *pool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pools[addr] == p
}

// connTo gives a connection to an address.
func (c *Cluster) connTo(ctx context.Context, addr string, unpooled bool) (redis.Conn, error) {
	if err := c.closedError(); err != nil {
		return nil, err
	}
	if unpooled || c.CreatePool == nil {
		return redis.DialContext(ctx, "tcp", addr, c.DialOptions...)
	}
	for {
		p, err := c.pool(addr)
		if err != nil {
			return nil, err
		}
		rc, err := c.borrow(ctx, addr, p)
		if err == nil || c.has(addr, p) {
			return rc, err
		}
		// The pool was closed under our hands: the address left the cluster just now, and
		// has a new pool if it is needed again.
	}
}

func (c *Cluster) borrow(ctx context.Context, addr string, p *pool) (redis.Conn, error) {
	made, err := p.get(func() (*redis.Pool, error) { return c.CreatePool(addr, c.DialOptions...) })
	if err != nil {
		return nil, err
	}
	if c.PoolWaitTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.PoolWaitTime)
		defer cancel()
	}
	rc, err := p.lend(ctx, made)
	if err != nil {
		return nil, err
	}
	return rc, nil
}

// way is how a connection is chosen.
type way struct {
	unpooled bool
	readOnly bool // replicas first
}

// link is a connection to a node.
type link struct {
	rc       redis.Conn // nil: none
	addr     string
	readOnly bool // it was told READONLY
	pooled   bool
}

// connFor gives a connection for a slot; -1 and a slot of which no node is known: to any
// node. So it does when the slot's nodes can't be reached: another one then says who has
// taken the slot over.
func (c *Cluster) connFor(ctx context.Context, at int, w way) (link, error) {
	var tried []string
	var errs []error
	if serving := c.layout().serving(at); len(serving) > 0 {
		l, err := c.connAmong(ctx, serving, w)
		if err == nil || final(ctx, err) {
			return l, err
		}
		tried, errs = serving[:1], append(errs, err)
		if w.readOnly {
			tried = serving
		}
	}
	if at >= 0 {
		c.refreshSoon()
	}
	return c.connToAny(ctx, w, tried, errs)
}

// connAmong gives a connection to the nodes of one slot: the primary, or with readOnly a
// replica when there is one.
func (c *Cluster) connAmong(ctx context.Context, serving []string, w way) (link, error) {
	list := serving[:1]
	if w.readOnly {
		list = append(shuffled(serving[1:]), serving[0])
	}
	var errs []error
	for _, addr := range list {
		l, err := c.link(ctx, addr, w)
		if err == nil || final(ctx, err) {
			return l, err
		}
		errs = append(errs, err)
	}
	if len(errs) == 1 {
		return link{}, errs[0]
	}
	return link{}, errors.Join(errs...)
}

// connToAny gives a connection to any known node, and to one of the StartupNodes when all
// have failed, but to none of those tried, which failed with errs.
func (c *Cluster) connToAny(ctx context.Context, w way, tried []string, errs []error) (link, error) {
	primaries, replicas := c.nodes()
	candidates := [][]string{shuffled(primaries), shuffled(c.StartupNodes)}
	if w.readOnly {
		candidates = [][]string{shuffled(replicas), shuffled(primaries), shuffled(c.StartupNodes)}
	}
	list := distinct(candidates, tried)
	for _, addr := range list {
		l, err := c.link(ctx, addr, w)
		if err == nil || err == errClosed || final(ctx, err) && len(list) == 1 {
			return l, err
		}
		if errs = append(errs, err); ctx.Err() != nil {
			break
		}
	}
	if len(errs) == 0 {
		errs = append(errs, errNoNode)
	}
	return link{}, fmt.Errorf("%w: %w", errConnection, errors.Join(errs...))
}

// distinct joins lists and leaves out what comes twice or is in without.
func distinct(lists [][]string, without []string) []string {
	var all []string
	for _, s := range slices.Concat(lists...) {
		if !slices.Contains(without, s) && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// link gives a connection to an address, which is told READONLY when that is wanted.
func (c *Cluster) link(ctx context.Context, addr string, w way) (link, error) {
	rc, err := c.connTo(ctx, addr, w.unpooled)
	if err != nil {
		return link{}, err
	}
	l := link{rc: rc, addr: addr, readOnly: w.readOnly, pooled: !w.unpooled && c.CreatePool != nil}
	if !w.readOnly {
		return l, nil
	}
	q := &request{ctx: ctx, cmd: "READONLY"}
	if _, err := q.tolerant(rc); err != nil && rc.Err() != nil {
		rc.Close()
		return link{}, fmt.Errorf("send READONLY to %s: %w", addr, err)
	}
	return l, nil
}

// giveBack closes the connection. The next one who gets it from its pool may be bound to
// the slot's primary, and would read old values if the node had become a replica.
func (l *link) giveBack() error {
	if l.readOnly && l.pooled && l.rc.Err() == nil {
		l.rc.Send("READWRITE") // the pool flushes, and an error shows there
	}
	return l.rc.Close()
}

// final reports whether an error is the caller's to know as it is: another node would not
// do. The pool has all the connections that it may, or the caller waits no longer.
func final(ctx context.Context, err error) bool {
	return err == context.DeadlineExceeded || err == redis.ErrPoolExhausted || err == errClosed || ctx.Err() != nil
}

func shuffled(list []string) []string {
	list = slices.Clone(list)
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
