package redisc

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Cluster keeps the map of a cluster and gives connections to its nodes. Its fields must
// not change once it is used; only StartupNodes is required. All methods may be called
// concurrently. It must not be copied.
type Cluster struct {
	// StartupNodes are "host:port" of some nodes. Any one that answers is enough to
	// learn of all others; they are asked again when no other node can be reached.
	StartupNodes []string

	// DialOptions are given to redis.Dial for every connection that Dial makes, and to
	// CreatePool.
	DialOptions []redis.DialOption

	// CreatePool makes the pool of a node. It is called once for each address, when the
	// first connection to it is needed, and again only when it failed or when the
	// address had left the cluster in between. nil: every connection is dialed.
	CreatePool func(address string, options ...redis.DialOption) (*redis.Pool, error)

	// PoolWaitTime is how long a connection of a pool is waited for, when the pool has
	// its Wait set; then the error is context.DeadlineExceeded. <= 0: no limit.
	PoolWaitTime time.Duration

	// BgError is told of errors that no caller gets, with what was being done. It may be
	// called concurrently. nil: nobody.
	BgError func(src BgErrorSrc, err error)

	// LayoutRefresh is told of every map that was loaded, with the one before it: for
	// each slot the addresses of its nodes, the primary first. The two may be equal. It
	// is called from a goroutine of the cluster, and before Refresh returns. It must not
	// change the lists. nil: nobody.
	LayoutRefresh func(old, new [HashSlots][]string)

	// Retry makes Do follow redirections on connections of Get and Dial; nil: it
	// returns them, as the package that this one replaces does.
	Retry *Retry

	// SplitKeys lets Do send MGET, MSET, DEL, EXISTS, UNLINK and TOUCH whose keys are in
	// several slots, on connections that are not bound: in one part for each slot, to all
	// nodes at the same time, the replies put together. Redirections are followed. It is
	// not atomic: other parts may have been executed when one fails.
	SplitKeys bool

	// SpreadPipelines lets a connection that is not bound send each command to the node
	// that has its keys, and keeps it unbound until Bind: Send and Flush make a pipeline
	// over the whole cluster. Replies come in the order of Send; redirections are
	// followed; commands that span slots are split as with SplitKeys. Flush waits for
	// all replies, and one goroutine uses the connection at a time.
	SpreadPipelines bool

	current atomic.Pointer[table] // nil: nothing is known yet

	mu      sync.Mutex
	closed  bool
	pools   map[string]*pool   // guarded by mu
	flight  *flight            // the refresh under way, guarded by mu
	ended   time.Time          // of the last refresh, guarded by mu
	failed  int                // refreshes that failed in a row, guarded by mu
	running context.Context    // ends with Close, guarded by mu; nil until needed
	cancel  context.CancelFunc // of running
}

// Retry says how a command is tried again, see [RetryConn].
type Retry struct {
	// MaxAttempts is how often the command is sent at most; <= 0: no limit.
	MaxAttempts int
	// TryAgainDelay is the wait after a TRYAGAIN.
	TryAgainDelay time.Duration
}

// BgErrorSrc says what failed in the background.
type BgErrorSrc uint

// What may fail in the background.
const (
	// ClusterRefresh is the loading of the map after a MOVED or another sign of a change.
	ClusterRefresh BgErrorSrc = iota
	// RetryCloseConn is the closing of a connection in place of which a redirection put
	// another.
	RetryCloseConn
)

var (
	errClosed     = errors.New("redisc: closed")
	errNoNode     = errors.New("redisc: no known node")
	errBound      = errors.New("redisc: connection already bound")
	errSlots      = errors.New("redisc: keys do not belong to the same slot")
	errAttempts   = errors.New("redisc: too many attempts")
	errConnection = errors.New("redisc: failed to get a connection")
)

// Get gives a connection that is bound to a node by its first command, or by Bind; with
// CreatePool it comes from the pool of that node. It is a *[Conn]. After Close all its
// methods give the error. The caller closes it.
func (c *Cluster) Get() redis.Conn {
	return &Conn{cluster: c, retry: c.Retry, err: c.closedError()}
}

// Dial is Get for a connection that no pool has a part in.
func (c *Cluster) Dial() (redis.Conn, error) {
	if err := c.closedError(); err != nil {
		return nil, err
	}
	return &Conn{cluster: c, retry: c.Retry, way: way{unpooled: true}}, nil
}

// EachNode calls fn for every primary known, or for every replica, with a connection that
// is bound to it and closed afterwards. It does not load the map: before there is one the
// StartupNodes are taken for primaries. A node that can't be reached is visited too, with a
// connection whose methods give the reason. An error of fn ends the round and is
// returned.
//
// The connection is not read-only and follows no redirection: it is about the node.
func (c *Cluster) EachNode(replicas bool, fn func(addr string, conn redis.Conn) error) error {
	if err := c.closedError(); err != nil {
		return err
	}
	list, others := c.nodes()
	if replicas {
		list = others
	}
	if len(list) == 0 {
		return errNoNode
	}
	for _, addr := range list {
		rc, err := c.connTo(context.Background(), addr, false)
		conn := &Conn{cluster: c, link: link{rc: rc, addr: addr}, err: err}
		err = fn(addr, conn)
		conn.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Stats gives the counts of every pool by its address.
func (c *Cluster) Stats() map[string]redis.PoolStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	stats := make(map[string]redis.PoolStats, len(c.pools))
	for addr, p := range c.pools {
		if made := p.made.Load(); made != nil {
			stats[addr] = made.Stats()
		}
	}
	return stats
}

// Close closes all pools. Connections that are bound work on until they are closed. A
// second Close gives the error that everything else does.
func (c *Cluster) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return errClosed
	}
	c.closed = true
	if c.cancel != nil {
		c.cancel()
	}
	pools := c.pools
	c.pools = nil
	c.mu.Unlock()
	var errs []error
	for _, p := range pools {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}

func (c *Cluster) closedError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	return nil
}

// unknown is the map before one was loaded.
var unknown = &table{}

// layout gives the map, which is empty before one was loaded.
func (c *Cluster) layout() *table {
	if t := c.current.Load(); t != nil {
		return t
	}
	return unknown
}

// nodes gives the known addresses; before there is a map the StartupNodes.
func (c *Cluster) nodes() (primaries, replicas []string) {
	t := c.layout()
	if len(t.primaries) == 0 {
		return c.StartupNodes, nil
	}
	return t.primaries, t.replicas
}
