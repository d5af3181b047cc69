package main

import (
	"context"
	"fmt"
	"time"
)

// stateJob measures rows about memory or the collector, with processes of its own.
type stateJob struct {
	name string
	run  func(ctx context.Context, name string) (stateResults, error)
}

func (b *bench) stateJobs() []stateJob {
	var jobs []stateJob
	for _, keys := range b.plan.memoryKeys {
		for _, size := range b.plan.valueBytes {
			jobs = append(jobs, stateJob{fmt.Sprintf("keys/%s/%dB", countName(keys), size),
				func(ctx context.Context, name string) (stateResults, error) {
					return b.keyMemory(ctx, name, keys, size)
				}})
		}
	}
	if b.plan.elements > 0 {
		for i := range collections {
			w := &collections[i]
			jobs = append(jobs, stateJob{w.name + "/" + countName(b.plan.elements), func(ctx context.Context, name string) (stateResults, error) {
				t := findTarget(measureElement, w.name, 0, 0)
				return b.growth(ctx, name, "bytes/elem", w, b.plan.elements, 0, t)
			}})
		}
	}
	if b.plan.idle > 0 {
		jobs = append(jobs, stateJob{fmt.Sprintf("idle/%d", b.plan.idle), b.idleMemory})
	}
	if b.plan.backKeys > 0 {
		jobs = append(jobs, stateJob{"back/" + countName(b.plan.backKeys), b.memoryBack})
	}
	if b.plan.expiryKeys > 0 {
		jobs = append(jobs, stateJob{"expiry/" + countName(b.plan.expiryKeys), b.expiry})
	}
	if b.plan.diskKeys > 0 {
		jobs = append(jobs, b.diskJobs()...)
	}
	if b.plan.gcKeys > 0 {
		jobs = append(jobs, stateJob{"gc/" + countName(b.plan.gcKeys), b.collector})
	}
	return jobs
}

func (b *bench) allState(ctx context.Context) error {
	for _, job := range b.stateJobs() {
		if !b.selected(job.name) {
			continue
		}
		b.progress("%s", job.name)
		results, err := retried(b, job.name, func() (stateResults, error) { return job.run(ctx, job.name) })
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			results = stateResults{{Row: job.name, Failure: err.Error()}}
		}
		b.report.State = append(b.report.State, results...)
	}
	return nil
}

// memory is what a server takes.
type memory struct {
	resident float64
	used     float64 // used_memory; -1: the server does not say
}

// growth is the difference for each of n things; used is nil when unknown.
func (m memory) growth(from memory, n float64) (resident, used *float64) {
	r, u := (m.resident-from.resident)/n, (m.used-from.used)/n
	if m.used < 0 || from.used < 0 {
		return &r, nil
	}
	return &r, &u
}

// settled waits until a server's memory has not moved for a while, and reads it.
func settled(ctx context.Context, s *server, quiet time.Duration) (memory, error) {
	const (
		period = 100 * time.Millisecond
		most   = 30 * time.Second
		moved  = 64 << 10 // bytes
	)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	began := time.Now()
	var last int64
	since := began
	for {
		now, err := resident(s.pid)
		if err != nil {
			return memory{}, err
		}
		if max(now-last, last-now) > moved {
			last, since = now, time.Now()
		}
		if time.Since(since) >= quiet || time.Since(began) >= most {
			m := memory{resident: float64(now), used: -1}
			if used, ok := infoNumber(s.address, "memory", "used_memory"); ok {
				m.used = used
			}
			return m, nil
		}
		select {
		case <-ctx.Done():
			return memory{}, context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

// quietShort is for memory that only waits for a last bit of work; quietLong
// also for buffers that are shrunk a few seconds after their last use, and for
// allocators that keep what was freed for ten seconds.
const (
	quietShort = time.Second
	quietLong  = 12 * time.Second
)

// keyMemory measures the bytes that a small key takes.
func (b *bench) keyMemory(ctx context.Context, name string, keys int64, valueBytes int) (stateResults, error) {
	t := findTarget(measureKeyBytes, "", 0, valueBytes)
	return b.growth(ctx, name, "bytes/key", findWorkload("SET"), keys, valueBytes, t)
}

// growth measures the bytes that each of n commands adds.
func (b *bench) growth(ctx context.Context, name, unit string, w *workload, n int64, valueBytes int, t *target) (stateResults, error) {
	redis, bowline, stop, err := b.both(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	var residents, useds [2]*float64
	for i, s := range []*server{redis, bowline} {
		before, err := settled(ctx, s, quietShort)
		if err != nil {
			return nil, err
		}
		if err := fill(ctx, s, w, n, valueBytes); err != nil {
			return nil, err
		}
		after, err := settled(ctx, s, quietShort)
		if err != nil {
			return nil, err
		}
		residents[i], useds[i] = after.growth(before, float64(n))
	}
	return stateResults{
		newState(name+" resident", unit, residents[0], residents[1], t),
		newState(name+" used_memory", unit, useds[0], useds[1], nil),
	}, nil
}

// idleMemory measures what a connection takes that has sent one PING.
func (b *bench) idleMemory(ctx context.Context, name string) (stateResults, error) {
	redis, bowline, stop, err := b.both(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	var residents, useds [2]*float64
	for i, s := range []*server{redis, bowline} {
		if residents[i], useds[i], err = idleGrowth(ctx, s, b.plan.idle); err != nil {
			return nil, err
		}
	}
	return stateResults{
		newState(name+" resident", "bytes/conn", residents[0], residents[1], findTarget(measureConnBytes, "", 0, 0)),
		newState(name+" used_memory", "bytes/conn", useds[0], useds[1], nil),
	}, nil
}

func idleGrowth(ctx context.Context, s *server, n int) (residentEach, usedEach *float64, err error) {
	// What a server makes once, for its first connections, is not counted.
	const first = 50
	var open []*client
	defer func() {
		for _, c := range open {
			c.close()
		}
	}()
	grow := func(n int) error {
		for range n {
			c, err := dial(s.address)
			if err != nil {
				return err
			}
			open = append(open, c)
			if _, err := c.do("PING"); err != nil {
				return err
			}
		}
		return nil
	}
	if err := grow(first); err != nil {
		return nil, nil, err
	}
	before, err := settled(ctx, s, quietLong)
	if err != nil {
		return nil, nil, err
	}
	if err := grow(n); err != nil {
		return nil, nil, err
	}
	after, err := settled(ctx, s, quietLong)
	if err != nil {
		return nil, nil, err
	}
	residentEach, usedEach = after.growth(before, float64(n))
	return residentEach, usedEach, nil
}

const (
	// backTime is how long a server may take to give memory back.
	backTime = time.Minute
	// backEnough is a share of the peak, with a tenth of the keys left, after which
	// it is not worth waiting longer.
	backEnough = 0.12
)

// memoryBack measures how much of the memory is left when nine keys of ten are
// deleted, chosen at random.
func (b *bench) memoryBack(ctx context.Context, name string) (stateResults, error) {
	redis, bowline, stop, err := b.both(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	const valueBytes = 100
	servers := []*server{redis, bowline}
	var peaks [2]float64
	for i, s := range servers {
		if err := fill(ctx, s, findWorkload("SET"), b.plan.backKeys, valueBytes); err != nil {
			return nil, err
		}
		peak, err := resident(s.pid)
		if err != nil {
			return nil, err
		}
		peaks[i] = float64(peak)
		spec := loadSpec{Workload: deletion.name, Keys: b.plan.backKeys}
		if err := walk(ctx, s, spec, loadOrder{Commands: countMost(b.plan.backKeys), Order: orderMost}); err != nil {
			return nil, err
		}
	}
	shares, err := awaitShares(ctx, servers, peaks)
	if err != nil {
		return nil, err
	}
	return stateResults{newState(name+" resident", "% of peak", &shares[0], &shares[1], nil)}, nil
}

// awaitShares watches both servers for up to backTime and gives what is left, in
// percent of the peak.
func awaitShares(ctx context.Context, servers []*server, peaks [2]float64) (percents [2]float64, err error) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for began := time.Now(); ; {
		enough := true
		for i, s := range servers {
			now, err := resident(s.pid)
			if err != nil {
				return percents, err
			}
			peaks[i] = max(peaks[i], float64(now)) // deleting takes memory too
			percents[i] = 100 * over(float64(now), peaks[i])
			enough = enough && percents[i] <= 100*backEnough
		}
		if enough || time.Since(began) >= backTime {
			return percents, nil
		}
		select {
		case <-ctx.Done():
			return percents, context.Cause(ctx)
		case <-ticker.C:
		}
	}
}
