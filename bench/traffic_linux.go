package main

import (
	"context"
	"fmt"
	"time"

	"github.com/bowline-kv/bowline/internal/histogram"
)

// bench is one run of this program.
type bench struct {
	plan     plan
	redis    program
	bowline  program
	extra    []string // arguments that bowline was given besides the usual ones
	selected func(row string) bool
	progress func(format string, args ...any)
	report   report
}

// allTraffic measures the rows about speed, all with the same two processes.
func (b *bench) allTraffic(ctx context.Context) error {
	var rows []trafficRow
	for _, row := range b.plan.trafficRows() {
		if b.selected(row.name()) {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	redis, bowline, stop, err := b.both(ctx)
	if err != nil {
		return err
	}
	defer stop()
	missing := map[string]bool{}
	filled := 0
	for _, row := range rows {
		if row.workload.sized && row.valueBytes != filled {
			if filled, err = row.valueBytes, b.prefill(ctx, row.valueBytes, redis, bowline); err != nil {
				return err
			}
		}
		known, asked := missing[row.workload.name]
		if !asked {
			if known, err = knows(bowline.address, row.workload); err != nil {
				return err
			}
			missing[row.workload.name] = known
			if !known {
				b.note("%s is left out: bowline does not know the command yet", row.workload.name)
			}
		}
		if !known {
			continue
		}
		b.progress("%s", row.name())
		r, err := retried(b, row.name(), func() (trafficResult, error) {
			return b.traffic(ctx, row, redis, bowline)
		})
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r = trafficResult{Row: row.name(), Failure: err.Error()}
		}
		b.report.Traffic = append(b.report.Traffic, r)
	}
	return nil
}

func (b *bench) note(format string, args ...any) {
	b.report.Notes = append(b.report.Notes, fmt.Sprintf(format, args...))
}

// both starts a server of each kind.
func (b *bench) both(ctx context.Context) (redis, bowline *server, stop func(), err error) {
	if redis, err = b.redis.start(ctx); err != nil {
		return nil, nil, nil, err
	}
	if bowline, err = b.bowline.start(ctx); err != nil {
		redis.stop()
		return nil, nil, nil, err
	}
	return redis, bowline, func() { bowline.stop(); redis.stop() }, nil
}

func (b *bench) prefill(ctx context.Context, valueBytes int, servers ...*server) error {
	b.progress("filling %s keys with %d bytes", countName(b.plan.keys), valueBytes)
	for _, s := range servers {
		if err := fill(ctx, s, findWorkload("SET"), b.plan.keys, valueBytes); err != nil {
			return fmt.Errorf("fill %s: %w", s.name, err)
		}
	}
	return nil
}

// traffic measures one row: R B R B ... with the same commands in each pair.
func (b *bench) traffic(ctx context.Context, row trafficRow, redis, bowline *server) (trafficResult, error) {
	spec := loadSpec{
		Workload: row.workload.name, Connections: b.plan.connections,
		Pipeline: row.pipeline, ValueBytes: row.valueBytes, Keys: b.plan.keys,
	}
	loadR, err := startLoad(ctx, redis, spec)
	if err != nil {
		return trafficResult{}, err
	}
	defer loadR.close()
	loadB, err := startLoad(ctx, bowline, spec)
	if err != nil {
		return trafficResult{}, err
	}
	defer loadB.close()
	lead, commands, err := b.calibrate(row, loadR, loadB)
	if err != nil {
		return trafficResult{}, err
	}
	var pairs []pair
	var latencyR, latencyB histogram.Histogram
	for round := range b.plan.rounds {
		seed := uint64(2*round + 1)
		var p pair
		if p.Redis, err = row.led(loadR, lead, commands, seed, &latencyR); err != nil {
			return trafficResult{}, err
		}
		if p.Bowline, err = row.led(loadB, lead, commands, seed, &latencyB); err != nil {
			return trafficResult{}, err
		}
		pairs = append(pairs, p)
	}
	return resultOf(row, pairs, &latencyR, &latencyB), nil
}

// calibrate finds how many commands make a lead and a slice, and warms both
// servers up with as many as a slice has.
func (b *bench) calibrate(row trafficRow, loadR, loadB *loader) (lead, commands int64, err error) {
	step := int64(row.pipeline) * int64(b.plan.connections)
	// So little that it takes milliseconds even at a pipeline of 1.
	o := loadOrder{Commands: step * 20, Order: orderRandom}
	var unused histogram.Histogram
	s, err := row.slice(loadR, o, &unused)
	if err != nil {
		return 0, 0, err
	}
	o.Commands = commandsFor(s.perSecond(), b.plan.slice, step)
	for _, l := range []*loader{loadR, loadB} {
		if s, err = row.slice(l, o, &unused); err != nil {
			return 0, 0, err
		}
	}
	return commandsFor(s.perSecond(), b.plan.lead, step), o.Commands, nil
}

// led runs a lead and then the slice itself.
func (r trafficRow) led(l *loader, lead, commands int64, seed uint64, h *histogram.Histogram) (slice, error) {
	var unused histogram.Histogram
	if _, err := r.slice(l, loadOrder{Commands: lead, Seed: seed, Order: orderRandom}, &unused); err != nil {
		return slice{}, err
	}
	return r.slice(l, loadOrder{Commands: commands, Seed: seed + 1, Order: orderRandom}, h)
}

// commandsFor is how many commands take about a time, as a multiple of step that
// is not 0: then every connection sends whole pipelines only.
func commandsFor(perSecond float64, d time.Duration, step int64) int64 {
	return max(1, int64(perSecond*d.Seconds())/step) * step
}

// slice runs one slice and adds its latencies to h.
func (r trafficRow) slice(l *loader, o loadOrder, h *histogram.Histogram) (slice, error) {
	s, result, err := l.run(o)
	if err != nil {
		return slice{}, err
	}
	if r.workload.hits && result.Nulls > 0 {
		return slice{}, fmt.Errorf("%s has lost %d of %d keys", l.target.name, result.Nulls, o.Commands)
	}
	h.Merge(&result.Latency)
	return s, nil
}
