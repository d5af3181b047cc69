package loadgen

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-kv/bowline/client"
)

// grace is for how long commands that are under way at the end may still be answered.
const grace = 5 * time.Second

// run is a load that is being made.
type run struct {
	o           *Options
	client      *client.Client
	data        []byte // of all values
	pace        *pace
	measureFrom time.Time
	claimed     atomic.Int64 // measured commands that were taken by workers
	done        atomic.Int64 // commands with their replies, warm-up included
	failed      atomic.Int64 // of these, the ones with an error
}

// claim takes up to n of the commands that are to be measured; 0: enough were sent.
func (r *run) claim(n int) int {
	if r.o.Requests == 0 {
		r.claimed.Add(int64(n))
		return n
	}
	before := int(r.claimed.Add(int64(n))) - n
	return min(max(r.o.Requests-before, 0), n)
}

// Run makes the load and returns when all commands are answered, at the latest five
// seconds after its end. When ctx ends first, the result is that of the time till then.
// An error says that the options are wrong, or that no server could be reached.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	c, err := client.Open(ctx, o.Client)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	data := newData(&o)
	if o.Fill {
		if err := fill(ctx, c, &o, data); err != nil {
			return nil, fmt.Errorf("set the keys: %w", err)
		}
	}
	return newRun(&o, c, data).all(ctx), nil
}

func newRun(o *Options, c *client.Client, data []byte) *run {
	start := time.Now()
	return &run{o: o, client: c, data: data, pace: newPace(start, o.Rate, o.Pipeline), measureFrom: start.Add(o.Warmup)}
}

// all runs the workers to their end.
func (r *run) all(ctx context.Context) *Result {
	issue, stop := context.WithCancel(ctx)
	if r.o.Duration > 0 {
		issue, stop = context.WithDeadline(ctx, r.measureFrom.Add(r.o.Duration))
	}
	defer stop()
	calls, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	ended := make(chan struct{})
	var beside, group sync.WaitGroup
	beside.Go(func() { cutAfter(issue, ended, cut) })
	beside.Go(func() { r.showProgress(ended) })
	before := r.client.Stats()
	if r.o.Warmup > 0 {
		beside.Go(func() { before = r.statsAfterWarmup(ended) })
	}

	k := r.o.Distribution.make(r.o.Keys)
	workers := make([]*worker, r.o.Workers)
	for i := range workers {
		workers[i] = newWorker(r, k, i)
	}
	for _, w := range workers {
		group.Go(func() { w.work(issue, calls) })
	}
	group.Wait()
	end := time.Now()
	if last := r.measureFrom.Add(r.o.Duration); r.o.Rate > 0 && ctx.Err() == nil && end.Before(last) {
		end = last // nothing more was due
	}
	close(ended)
	beside.Wait()
	res := r.result(workers, end, before)
	res.Interrupted = ctx.Err() != nil
	return res
}

// cutAfter ends the commands that are still under way some time after the last was sent.
func cutAfter(issue context.Context, ended <-chan struct{}, cut func()) {
	select {
	case <-ended:
		return
	case <-issue.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		cut()
	}
}

// statsAfterWarmup gives the client's counts of when the measurement begins.
func (r *run) statsAfterWarmup(ended <-chan struct{}) client.Stats {
	timer := time.NewTimer(time.Until(r.measureFrom))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ended:
	}
	return r.client.Stats()
}

const (
	// fillBatch is how many keys are set together at most.
	fillBatch = 500
	// fillBytes bounds the values that are set together.
	fillBytes = 4 << 20
)

// errInterrupted is the end of the context before there was anything to measure.
var errInterrupted = errors.New("interrupted")

// fill sets every string key once.
func fill(ctx context.Context, c *client.Client, o *Options, data []byte) error {
	g := newGenerator(o, &sequential{n: uint64(o.Keys)}, data, 0)
	p := c.Pipeline()
	bytes := 0
	for i := range o.Keys {
		v := g.value()
		p.Do("SET", g.key(stringKey), v)
		bytes += len(v)
		if p.Len() < fillBatch && bytes < fillBytes && i < o.Keys-1 {
			continue
		}
		bytes = 0
		if _, err := p.Exec(ctx); ctx.Err() != nil {
			return fmt.Errorf("%w at key %d of %d", errInterrupted, i+1, o.Keys)
		} else if err != nil {
			return err
		}
	}
	return nil
}
