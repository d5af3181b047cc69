package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/bowline-kv/bowline/client/internal/announce"
	"github.com/bowline-kv/bowline/resp"
)

// loader reloads the map: once at a time, not too often, from any node that answers.
type loader struct {
	core *core

	mu     sync.Mutex
	flight *reload   // under way, nil: none
	ended  time.Time // of the last one
	failed int       // failures in a row
}

// reload is one loading of the map; whoever needs it while it runs shares its result.
type reload struct {
	done chan struct{}
	err  error
}

const (
	// hedgeTime is how long one node may take before the next is asked too.
	hedgeTime = 100 * time.Millisecond
	// allAtOnce for a hedgeTime asks everybody.
	allAtOnce = 0
	// failedWaitMax is the longest wait between two reloads that fail.
	failedWaitMax = time.Second
)

var (
	errNoCluster = errors.New("the server has no cluster support")
	errNoSlots   = errors.New("the server knows of no slot that is served")
)

// start gives the reload under way, beginning one when there is none; nil: closed.
func (l *loader) start() *reload {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flight != nil {
		return l.flight
	}
	r := &reload{done: make(chan struct{})}
	wait := l.wait()
	if !l.core.spawn(func() { l.run(r, wait) }) {
		return nil
	}
	l.flight = r
	return r
}

// wait is how long the next reload has to wait, with a random part, so that many
// clients do not ask at once. mu is held.
func (l *loader) wait() time.Duration {
	if l.ended.IsZero() {
		return 0
	}
	gap := l.core.opt.ReloadMin
	for range min(l.failed, 10) {
		gap = min(2*gap, max(failedWaitMax, l.core.opt.ReloadMin))
	}
	gap += rand.N(gap/2 + 1)
	return max(0, gap-time.Since(l.ended))
}

func (l *loader) run(r *reload, wait time.Duration) {
	if pause(l.core.ctx, wait) == nil {
		r.err = l.core.load(l.core.ctx)
	} else {
		r.err = ErrClosed
	}
	l.mu.Lock()
	l.flight = nil
	l.ended = time.Now()
	if l.failed++; r.err == nil {
		l.failed = 0
	}
	l.mu.Unlock()
	close(r.done)
}

// pause waits for d or the context.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reload loads the map anew and waits for it as long as the context lasts.
func (c *core) reload(ctx context.Context) error {
	r := c.loader.start()
	if r == nil {
		return ErrClosed
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reloadSoon loads the map in the background.
func (c *core) reloadSoon() { c.loader.start() }

// load asks the known nodes in random order, then the seeds.
func (c *core) load(ctx context.Context) error {
	t := c.top.Load()
	if t.standalone && c.opt.SentinelName == "" {
		return nil
	}
	var err error
	if len(t.nodes) > 0 && c.opt.SentinelName == "" {
		if err = c.firstMap(ctx, c.askNodes(t), hedgeTime); err == nil {
			return nil
		}
	}
	seeds := c.firstMap(ctx, c.askSeeds(), allAtOnce)
	if seeds == nil {
		return nil
	}
	err = join(err, seeds)
	c.tell(Event{Kind: EventReloadFailed, Slot: noSlot, Err: err})
	return err
}

// source is a server that can be asked for the map.
type source struct {
	addr string
	ask  func(ctx context.Context) (*announce.Map, error)
}

func (c *core) askNodes(t *topology) []source {
	var list []source
	var passed []source
	for _, n := range t.shuffled() {
		ask := source{n.addr, func(ctx context.Context) (*announce.Map, error) {
			cn, err := n.primary.conn(ctx, noSlot)
			if err != nil {
				return nil, err
			}
			return c.askMap(ctx, cn, n.addr)
		}}
		if n.passed() {
			passed = append(passed, ask)
			continue
		}
		list = append(list, ask)
	}
	return append(list, passed...)
}

// askSeeds dials the addresses anew, for names may lead elsewhere by now.
func (c *core) askSeeds() []source {
	var list []source
	for _, addr := range c.opt.Addrs {
		list = append(list, source{addr, func(ctx context.Context) (*announce.Map, error) {
			if c.opt.SentinelName != "" {
				return c.askSentinel(ctx, addr)
			}
			cn, err := c.dial(addr, "", false, false)
			if err != nil {
				return nil, err
			}
			defer cn.fail(errRetired)
			return c.askMap(ctx, cn, addr)
		}})
	}
	return list
}

// firstMap asks one source after the other, the next when one has failed or takes
// longer than hedge, and installs the first map. Without one all causes are joined.
func (c *core) firstMap(ctx context.Context, sources []source, hedge time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.opt.DialTimeout)
	defer cancel()
	type answer struct {
		from int
		l    *announce.Map
		err  error
	}
	answers := make(chan answer, len(sources))
	begun, ended := 0, 0
	next := func() {
		at := begun
		begun++
		ok := c.spawn(func() {
			l, err := sources[at].ask(ctx)
			answers <- answer{at, l, err}
		})
		if !ok {
			answers <- answer{from: at, err: ErrClosed}
		}
	}
	causes := make([]error, len(sources)) // nil: no answer yet
	failed := func(at int, err error) {
		causes[at] = fmt.Errorf("ask %s for the map: %w", sources[at].addr, err)
	}
	for ended < len(sources) {
		if begun == ended || hedge == allAtOnce && begun < len(sources) {
			next()
			continue
		}
		wait, stop := (<-chan time.Time)(nil), func() bool { return true }
		if begun < len(sources) {
			t := time.NewTimer(hedge)
			wait, stop = t.C, t.Stop
		}
		select {
		case <-wait:
			next()
		case a := <-answers:
			stop()
			ended++
			if a.err == nil {
				c.install(a.l)
				c.tell(Event{Kind: EventReload, Addr: sources[a.from].addr, Slot: noSlot})
				return nil
			}
			failed(a.from, a.err)
		case <-ctx.Done():
			stop()
			for at := range begun {
				if causes[at] == nil {
					failed(at, ctx.Err())
				}
			}
			return join(causes...)
		}
		stop()
	}
	return join(causes...)
}

// askMap asks one node. A server without cluster support is a cluster of one.
func (c *core) askMap(ctx context.Context, cn *conn, addr string) (*announce.Map, error) {
	l, err := c.askMapBy(ctx, cn, addr, "SHARDS")
	var server *resp.Error
	if errors.As(err, &server) && (server.Code() == "ERR" || server.Code() == "NOPERM") {
		return c.askMapBy(ctx, cn, addr, "SLOTS")
	}
	return l, err
}

func (c *core) askMapBy(ctx context.Context, cn *conn, addr, sub string) (*announce.Map, error) {
	replies, err := cn.exchange(ctx, [][]string{{"CLUSTER", sub}})
	if err != nil {
		return nil, err
	}
	v := &replies[0]
	switch {
	case saysNoCluster(v):
		return c.single(addr)
	case v.IsError():
		return nil, v.Err()
	}
	l, err := readMap(v, sub, addr, c.opt.TLS != nil)
	if err == nil && !l.Serves() {
		err = errNoSlots
	}
	return l, err
}

func readMap(v *resp.Value, sub, addr string, useTLS bool) (*announce.Map, error) {
	if sub == "SHARDS" {
		return announce.ParseShards(v, addr, useTLS)
	}
	return announce.ParseSlots(v, addr)
}

func saysNoCluster(v *resp.Value) bool {
	if !v.IsError() {
		return false
	}
	text := strings.ToLower(string(v.Str))
	return strings.Contains(text, "cluster support disabled") ||
		strings.Contains(text, "unknown command") && strings.Contains(text, "cluster")
}

// single is the map of a standalone server.
func (c *core) single(addr string) (*announce.Map, error) {
	if c.opt.RequireCluster {
		return nil, errNoCluster
	}
	g := announce.Group{Members: []announce.Member{{Addr: addr, Primary: true}}}
	return &announce.Map{Groups: []announce.Group{g}, Standalone: true}, nil
}
