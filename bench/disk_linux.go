package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/bowline-kv/bowline/internal/histogram"
)

// with gives a program more arguments.
func (p program) with(args ...string) program {
	p.args = append(slices.Clone(p.args), args...)
	return p
}

// logged is a program that keeps a log and nothing else: no snapshots come between.
func (p program) logged(fsync string) program {
	return p.with("--dir", "{dir}", "--save", "", "--appendonly", "yes", "--appendfsync", fsync, "--auto-aof-rewrite-percentage", "0")
}

// allProfiles measures the rows about speed with a log.
func (b *bench) allProfiles(ctx context.Context) error {
	if b.plan.diskKeys == 0 {
		return nil
	}
	memory := b.bowline
	memory.name = "bowline without files"
	for _, p := range []struct {
		profile string
		beside  program
	}{{profileAlways, b.redis.logged("always")}, {profileEverysec, memory}} {
		var rows []trafficRow
		for _, depth := range []int{1, 16} {
			row := trafficRow{profile: p.profile, workload: findWorkload("SET"), pipeline: depth, valueBytes: 100}
			if b.selected(row.name()) {
				rows = append(rows, row)
			}
		}
		if len(rows) == 0 {
			continue
		}
		if p.profile == profileEverysec {
			b.note("in the rows %s/... the other server is not redis-server, but Bowline without files", profileEverysec)
		}
		if err := b.profile(ctx, rows, p.beside, b.bowline.logged(p.profile)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) profile(ctx context.Context, rows []trafficRow, beside, bowline program) error {
	other, err := beside.start(ctx)
	if err != nil {
		return err
	}
	defer other.stop()
	ours, err := bowline.start(ctx)
	if err != nil {
		return err
	}
	defer ours.stop()
	for _, row := range rows {
		b.progress("%s", row.name())
		r, err := b.traffic(ctx, row, other, ours)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			r = trafficResult{Row: row.name(), Failure: err.Error()}
		}
		b.report.Traffic = append(b.report.Traffic, r)
	}
	return nil
}

// diskJobs measure starts and snapshots.
func (b *bench) diskJobs() []stateJob {
	keys := b.plan.diskKeys
	name := func(what string) string { return what + "/" + countName(keys) + "/100B" }
	return []stateJob{
		{name("recovery/snapshot"), func(ctx context.Context, row string) (stateResults, error) {
			return b.recovery(ctx, row, func(p program) program { return p.with("--dir", "{dir}", "--save", "", "--appendonly", "no") }, "SAVE")
		}},
		{name("recovery/log"), func(ctx context.Context, row string) (stateResults, error) {
			return b.recovery(ctx, row, func(p program) program {
				p = p.logged("no")
				if p.name == b.redis.name {
					p = p.with("--aof-use-rdb-preamble", "no")
				}
				return p
			}, "")
		}},
		{name("snapshot/SET/p99.9"), b.tail},
	}
}

const (
	recoveryRounds   = 3
	recoveryPatience = 10 * time.Minute
)

// recovery measures from the start of a process on a folder with data until it
// answers.
func (b *bench) recovery(ctx context.Context, row string, files func(program) program, save string) (stateResults, error) {
	var sides [2]program
	for i, p := range []program{b.redis, b.bowline} {
		dir, err := os.MkdirTemp("", "bowline-bench")
		if err != nil {
			return nil, fmt.Errorf("make a folder for %s: %w", p.name, err)
		}
		defer os.RemoveAll(dir)
		p = files(p)
		p.dir, p.patience = dir, recoveryPatience
		sides[i] = p
		if err := b.leaveData(ctx, p, save); err != nil {
			return nil, err
		}
	}
	var seconds [2][]float64
	for range recoveryRounds {
		for i, p := range sides {
			began := time.Now()
			s, err := p.start(ctx)
			if err != nil {
				return nil, err
			}
			seconds[i] = append(seconds[i], time.Since(began).Seconds())
			n, err := ask(s.address, "DBSIZE")
			s.stop()
			if err != nil || n.Int != b.plan.diskKeys {
				return nil, fmt.Errorf("%s has %d of %d keys: %w", p.name, n.Int, b.plan.diskKeys, err)
			}
		}
	}
	redis, bowline := spreadOf(seconds[0]).Median, spreadOf(seconds[1]).Median
	return stateResults{newState(row, "s", &redis, &bowline, &target{limit: math.Round(100*redis) / 100})}, nil
}

// leaveData fills a server and stops it, so that its folder has the data.
func (b *bench) leaveData(ctx context.Context, p program, save string) error {
	s, err := p.start(ctx)
	if err != nil {
		return err
	}
	defer s.stop()
	if err := fill(ctx, s, findWorkload("SET"), b.plan.diskKeys, 100); err != nil {
		return err
	}
	if save == "" {
		return nil
	}
	c, err := dial(s.address)
	if err != nil {
		return err
	}
	defer c.close()
	return (&stage{client: c}).do(save)
}

// tail measures the p99.9 of SET while a snapshot is written, over that without.
func (b *bench) tail(ctx context.Context, row string) (stateResults, error) {
	t := findTarget(measureTail, "", 0, 0)
	var ratios [2]float64
	for i, p := range []program{b.redis, b.bowline} {
		r, err := b.tailOf(ctx, p.with("--dir", "{dir}"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		ratios[i] = r
	}
	return stateResults{newState(row, "ratio", &ratios[0], &ratios[1], t)}, nil
}

func (b *bench) tailOf(ctx context.Context, p program) (float64, error) {
	s, err := p.start(ctx)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	if err := fill(ctx, s, findWorkload("SET"), b.plan.diskKeys, 100); err != nil {
		return 0, err
	}
	trafficOf := trafficRow{workload: findWorkload("SET"), pipeline: 1, valueBytes: 100}
	l, err := startLoad(ctx, s, loadSpec{Workload: "SET", Connections: b.plan.connections, Pipeline: 1, ValueBytes: 100, Keys: b.plan.diskKeys})
	if err != nil {
		return 0, err
	}
	defer l.close()
	var quiet, during histogram.Histogram
	commands, err := trafficOf.many(l, b.plan.slice/8) // shorter than a snapshot takes
	if err != nil {
		return 0, err
	}
	for seed := range uint64(8 * b.plan.rounds) {
		if _, err := trafficOf.slice(l, loadOrder{Commands: commands, Seed: seed, Order: orderRandom}, &quiet); err != nil {
			return 0, err
		}
	}
	for seed, n := uint64(1000), 0; n < 8*b.plan.rounds; seed++ {
		saving, err := saves(s)
		if err != nil {
			return 0, err
		}
		if !saving {
			if v, err := ask(s.address, "BGSAVE"); err != nil || v.IsError() {
				return 0, fmt.Errorf("BGSAVE: %q, %w", v.Str, err)
			}
		}
		var h histogram.Histogram
		if _, err := trafficOf.slice(l, loadOrder{Commands: commands, Seed: seed, Order: orderRandom}, &h); err != nil {
			return 0, err
		}
		if saving, err = saves(s); err != nil {
			return 0, err
		}
		if saving { // from its begin to its end
			during.Merge(&h)
			n++
		}
	}
	return percentilesOf(&during).P999 / percentilesOf(&quiet).P999, nil
}

// saves says whether a snapshot is being written.
func saves(s *server) (bool, error) {
	n, ok := infoNumber(s.address, "persistence", "rdb_bgsave_in_progress")
	if !ok {
		return false, errors.New("INFO does not tell of snapshots")
	}
	return n > 0, nil
}

// many warms a server up, and gives how many commands take about a time.
func (r trafficRow) many(l *loader, d time.Duration) (int64, error) {
	var unused histogram.Histogram
	s, err := r.slice(l, loadOrder{Commands: 20_000, Order: orderRandom}, &unused)
	if err != nil {
		return 0, err
	}
	return commandsFor(s.perSecond(), d, 50), nil
}
