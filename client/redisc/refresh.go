package redisc

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/bowline-kv/bowline/client/internal/announce"
	"github.com/bowline-kv/bowline/resp"
)

const (
	// refreshMin is the shortest time between two refreshes in the background, to which up
	// to a half is added at random. It doubles with each failure up to refreshMax.
	refreshMin = 50 * time.Millisecond
	refreshMax = time.Second
	// hedgeTime is how long one node may take before the next is asked too.
	hedgeTime = 500 * time.Millisecond
	// loadMax is how long a loading of the map may take when no node answers and no
	// timeout of its connections ends it.
	loadMax = 30 * time.Second
)

// flight is one loading of the map. Whoever needs it while it lasts shares its result.
type flight struct {
	hurry chan struct{} // closed when a caller waits: no pause then
	asked bool          // hurry is closed, guarded by Cluster.mu
	done  chan struct{}
	err   error // set before done is closed
}

// Refresh loads the map from any node that answers, and shares the loading under way if
// there is one. It is useful once, before the cluster is used, so that the first commands
// find their nodes; later the map is kept right by the redirections that connections see.
// An error begins with "redisc: all nodes failed" and wraps the cause of each.
func (c *Cluster) Refresh() error {
	f := c.startRefresh(true)
	if f == nil {
		return errClosed
	}
	<-f.done
	return f.err
}

// refreshSoon loads the map in the background.
func (c *Cluster) refreshSoon() { c.startRefresh(false) }

// startRefresh gives the refresh under way, beginning one when there is none; nil: the
// cluster is closed.
func (c *Cluster) startRefresh(hurry bool) *flight {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	if c.flight == nil {
		if c.running == nil {
			c.running, c.cancel = context.WithCancel(context.Background())
		}
		c.flight = &flight{hurry: make(chan struct{}), done: make(chan struct{})}
		go c.refresh(c.running, c.flight, c.pause())
	}
	f := c.flight
	if hurry && !f.asked {
		f.asked = true
		close(f.hurry)
	}
	return f
}

// pause is how long the next refresh in the background has to wait. mu is held.
func (c *Cluster) pause() time.Duration {
	if c.ended.IsZero() {
		return 0
	}
	gap := min(refreshMin<<min(c.failed, 10), refreshMax)
	return max(0, gap+rand.N(gap/2)-time.Since(c.ended))
}

func (c *Cluster) refresh(ctx context.Context, f *flight, pause time.Duration) {
	if pause > 0 {
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-f.hurry:
		case <-ctx.Done():
		}
		t.Stop()
	}
	next, err := c.load(ctx)
	if ctx.Err() != nil {
		err = errClosed
	}
	var old *table
	if err == nil {
		old = c.install(next)
	}
	c.mu.Lock()
	c.flight, c.ended = nil, time.Now()
	if c.failed++; err == nil {
		c.failed = 0
	}
	quiet := f.asked || c.closed // somebody gets the error, or nobody wants it
	c.mu.Unlock()
	if err == nil && c.LayoutRefresh != nil {
		c.LayoutRefresh(old.slots(), next.slots())
	}
	if err != nil && !quiet && c.BgError != nil {
		c.BgError(ClusterRefresh, err)
	}
	f.err = err
	close(f.done)
}

// install puts a new map in force, closes the pools of addresses that have left, and
// gives the map before.
func (c *Cluster) install(next *table) *table {
	c.mu.Lock()
	old := c.layout()
	c.current.Store(next)
	var gone []*pool
	for addr, p := range c.pools {
		if !slices.Contains(next.primaries, addr) && !slices.Contains(next.replicas, addr) {
			gone = append(gone, p)
			delete(c.pools, addr)
		}
	}
	c.mu.Unlock()
	for _, p := range gone {
		p.close() // what it says of idle connections to a node that left helps nobody
	}
	return old
}

// moved points a slot at a node, for everybody, and loads the map when that is news.
func (c *Cluster) moved(to target) {
	c.mu.Lock()
	t := c.layout()
	serving := t.serving(to.slot)
	// A replica answers MOVED with its own primary: that changes nothing.
	news := len(serving) == 0 || serving[0] != to.addr
	if news {
		c.current.Store(t.patch(to.slot, to.addr))
	}
	c.mu.Unlock()
	if news {
		c.refreshSoon()
	}
}

// load asks the primaries in random order, then the replicas, then the StartupNodes. The
// next one is asked when one has failed or takes long.
func (c *Cluster) load(ctx context.Context) (*table, error) {
	ctx, cancel := context.WithTimeout(ctx, loadMax)
	defer cancel()
	primaries, replicas := c.nodes()
	list := distinct([][]string{shuffled(primaries), shuffled(replicas), shuffled(c.StartupNodes)}, nil)
	type answer struct {
		t   *table
		err error
	}
	answers := make(chan answer, len(list))
	errs := []error(nil)
	hedge := time.NewTimer(hedgeTime)
	defer hedge.Stop()
	for begun := 0; len(errs) < len(list); {
		if begun == len(errs) {
			begun = c.ask(ctx, list, begun, func(t *table, err error) { answers <- answer{t, err} })
			hedge.Reset(hedgeTime)
		}
		select {
		case a := <-answers:
			if a.err == nil {
				return a.t, nil
			}
			errs = append(errs, a.err)
		case <-hedge.C:
			begun = c.ask(ctx, list, begun, func(t *table, err error) { answers <- answer{t, err} })
			hedge.Reset(hedgeTime)
		case <-ctx.Done():
			return nil, allFailed(append(errs, ctx.Err()))
		}
	}
	if len(list) == 0 {
		errs = append(errs, errNoNode)
	}
	return nil, allFailed(errs)
}

func allFailed(errs []error) error {
	return fmt.Errorf("redisc: all nodes failed\n%w", errors.Join(errs...))
}

// ask begins to ask the next node of a list and gives the number of those begun.
func (c *Cluster) ask(ctx context.Context, list []string, begun int, answer func(*table, error)) int {
	if begun == len(list) {
		return begun
	}
	addr := list[begun]
	go func() {
		t, err := c.askNode(ctx, addr)
		if err != nil {
			err = fmt.Errorf("ask %s for the map: %w", addr, err)
		}
		answer(t, err)
	}()
	return begun + 1
}

var errNoSlots = errors.New("it knows of no slot that is served")

// askNode borrows a connection of the node's pool for CLUSTER SLOTS.
func (c *Cluster) askNode(ctx context.Context, addr string) (*table, error) {
	rc, err := c.connTo(ctx, addr, false)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	q := &request{ctx: ctx, cmd: "CLUSTER", args: []any{"SLOTS"}}
	reply, err := q.tolerant(rc)
	if err != nil {
		return nil, err
	}
	v := value(reply)
	m, err := announce.ParseSlots(&v, addr)
	if err != nil {
		return nil, err
	}
	if !m.Serves() {
		return nil, errNoSlots
	}
	return newTable(m), nil
}

// value gives a reply of redigo as package resp has it.
func value(reply any) resp.Value {
	switch reply := reply.(type) {
	case int64:
		return resp.Value{Kind: resp.KindInt, Int: reply}
	case string:
		return resp.Value{Kind: resp.KindSimple, Str: []byte(reply)}
	case []byte:
		return resp.Value{Kind: resp.KindBulk, Str: reply}
	case []any:
		v := resp.Value{Kind: resp.KindArray, Elems: make([]resp.Value, len(reply))}
		for i := range reply {
			v.Elems[i] = value(reply[i])
		}
		return v
	}
	return resp.Value{Kind: resp.KindNull}
}
