package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// runArgument makes this binary the process of one run. It reads one line of runSpec
// and writes one of runResult.
const runArgument = "run"

// runSpec is one client's run of one row.
type runSpec struct {
	Subject    string        `json:"subject"`
	Addrs      []string      `json:"addrs"`
	Row        row           `json:"row"`
	Keys       int           `json:"keys"`
	ValueBytes int           `json:"value_bytes"`
	Lead       time.Duration `json:"lead_ns"`
	Slice      time.Duration `json:"slice_ns"`
	// Cancelable gives each goroutine a context that could end, as in a server.
	Cancelable bool `json:"cancelable"`
}

// runResult is what came of it.
type runResult struct {
	Commands  int64         `json:"commands"`
	Elapsed   time.Duration `json:"elapsed_ns"`
	CPU       time.Duration `json:"cpu_ns"` // user and system
	Mallocs   uint64        `json:"mallocs"`
	P50Micros float64       `json:"p50_us"`
	P99Micros float64       `json:"p99_us"`
	Failure   string        `json:"failure,omitempty"`
}

// keyName is the name of a key; consecutive ones lie in slots all over.
func keyName(i int) string { return fmt.Sprintf("key:%012d", i) }

// timedEvery says which operations are timed: looking at the clock costs as much as a
// part of a command.
const timedEvery = 8

// serveRun is the main function of a run.
func serveRun(in io.Reader, out io.Writer) error {
	var spec runSpec
	if err := json.NewDecoder(in).Decode(&spec); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	r, err := spec.run(context.Background())
	if err != nil {
		r = runResult{Failure: err.Error()}
	}
	return json.NewEncoder(out).Encode(r)
}

func (s *runSpec) run(ctx context.Context) (runResult, error) {
	subject, err := subjectNamed(s.Subject)
	if err != nil {
		return runResult{}, err
	}
	t, err := subject.open(ctx, s.Addrs, s.Row.Goroutines)
	if err != nil {
		return runResult{}, err
	}
	defer t.close()
	keys := make([]string, s.Keys)
	for i := range keys {
		keys[i] = keyName(i)
	}
	g := gang{spec: s, keys: keys, value: strings.Repeat("x", s.ValueBytes)}
	return g.run(ctx, t)
}

// gang is all goroutines of a run.
type gang struct {
	spec  *runSpec
	keys  []string
	value string

	counted atomic.Bool // the lead is over
	stop    atomic.Bool
	err     atomic.Pointer[error]
}

// member is what one goroutine has counted.
type member struct {
	ops   int64
	times []time.Duration
	_     [64]byte // no cache line shared with the next
}

func (g *gang) run(ctx context.Context, t target) (runResult, error) {
	members := make([]member, g.spec.Row.Goroutines)
	var group sync.WaitGroup
	for i := range members {
		members[i].times = make([]time.Duration, 0, 64<<10/len(members))
		own := ctx
		if g.spec.Cancelable {
			var cancel context.CancelFunc
			own, cancel = context.WithCancel(ctx)
			defer cancel()
		}
		w := t.worker(own)
		group.Go(func() { g.work(w, &members[i], uint64(i)) })
	}
	time.Sleep(g.spec.Lead)
	runtime.GC() // all begin with a clean heap
	before := usage()
	g.counted.Store(true)
	time.Sleep(g.spec.Slice)
	g.counted.Store(false)
	after := usage()
	g.stop.Store(true)
	group.Wait()
	if err := g.err.Load(); err != nil {
		return runResult{}, *err
	}
	r := runResult{Elapsed: after.at.Sub(before.at), CPU: after.cpu - before.cpu, Mallocs: after.mallocs - before.mallocs}
	var times []time.Duration
	for i := range members {
		r.Commands += members[i].ops * int64(g.spec.Row.commands())
		times = append(times, members[i].times...)
	}
	if r.Commands == 0 {
		return runResult{}, fmt.Errorf("no command ended within %v", r.Elapsed)
	}
	slices.Sort(times)
	r.P50Micros, r.P99Micros = micros(percentile(times, 0.5)), micros(percentile(times, 0.99))
	return r, nil
}

// work does operations until the end, and counts those that end within the slice.
func (g *gang) work(w worker, m *member, seed uint64) {
	dice := rand.New(rand.NewPCG(seed, 1))
	list := make([]string, g.spec.Row.Depth)
	for n := 0; !g.stop.Load(); n++ {
		for i := range list {
			list[i] = g.keys[dice.IntN(len(g.keys))]
		}
		timed := n%timedEvery == 0
		var start time.Time
		if timed {
			start = time.Now()
		}
		if err := g.do(w, list); err != nil {
			g.fail(err)
			return
		}
		if g.counted.Load() {
			m.ops++
			if timed {
				m.times = append(m.times, time.Since(start))
			}
		}
	}
}

// fail keeps the first error.
func (g *gang) fail(err error) { g.err.CompareAndSwap(nil, &err) }

func (g *gang) do(w worker, list []string) error {
	switch r := g.spec.Row; {
	case r.Op == opMget:
		return w.mget(list, len(g.value))
	case r.Op == opGet && r.Depth == 1:
		return w.get(list[0], len(g.value))
	case r.Op == opGet:
		return w.getMany(list, len(g.value))
	case r.Depth == 1:
		return w.set(list[0], g.value)
	}
	return w.setMany(list, g.value)
}

// consumed is what the process has used so far.
type consumed struct {
	at      time.Time
	cpu     time.Duration
	mallocs uint64
}

func usage() consumed {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return consumed{at: time.Now(), cpu: ownCPU(), mallocs: mem.Mallocs}
}

func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("BUG: getrusage: " + err.Error())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// percentile is 0 when nothing was timed.
func percentile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1))]
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// runApart has a process of its own do a run.
func (s *runSpec) runApart(ctx context.Context) (runResult, error) {
	var r runResult
	p, err := startPart(ctx, runArgument)
	if err != nil {
		return r, err
	}
	defer p.close()
	if err := p.send(s); err != nil {
		return r, err
	}
	if err := p.receive(&r); err != nil {
		return r, err
	}
	if r.Failure != "" {
		return r, fmt.Errorf("%s: %s", s.Subject, r.Failure)
	}
	return r, nil
}
