package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// places are the meters of a stall row.
var places = []struct{ name, key string }{{"near", nearKey}, {"far", farKey}}

// stallRounds are those of one cause and server: [place][round].
type stallRounds [][]stallRound

// allStalls measures the rows about waiting.
func (b *bench) allStalls(ctx context.Context) error {
	if b.plan.stallKeys == 0 {
		return nil
	}
	for _, c := range b.causes() {
		rows := make([]string, len(places))
		wanted := false
		for i, p := range places {
			rows[i] = "stall/" + c.name + "/" + p.name
			wanted = wanted || b.selected(rows[i])
		}
		if !wanted {
			continue
		}
		b.progress("stall/%s", c.name)
		redis, bowline, err := b.stalls(ctx, c)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for i, row := range rows {
			switch {
			case !b.selected(row):
			case err != nil:
				b.report.Stalls = append(b.report.Stalls, stallResult{Row: row, Failure: err.Error()})
			default:
				b.report.Stalls = append(b.report.Stalls, newStall(row, redis[i], bowline[i]))
			}
		}
	}
	if n := b.report.noisyStalls(); n > 0 {
		b.note("in %d of %d rows about stalls a server that was asked for nothing else kept a GET waiting for more than the target: the machine was busy, and a long wait there proves nothing",
			n, len(b.report.Stalls))
	}
	return nil
}

// stalls runs all rounds of a cause: R B R B ...
func (b *bench) stalls(ctx context.Context, c cause) (redis, bowline stallRounds, err error) {
	redis, bowline = make(stallRounds, len(places)), make(stallRounds, len(places))
	for range b.plan.stallRounds {
		for _, side := range []struct {
			program program
			rounds  stallRounds
		}{{b.redis, redis}, {b.bowline, bowline}} {
			seen, err := b.stall(ctx, c, side.program)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", side.program.name, err)
			}
			for i := range seen {
				side.rounds[i] = append(side.rounds[i], seen[i])
			}
		}
	}
	return redis, bowline, nil
}

// stall runs one round with a new server, one result for each of places.
func (b *bench) stall(ctx context.Context, c cause, p program) ([]stallRound, error) {
	s, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	st, err := b.prepare(ctx, c, s)
	if err != nil {
		return nil, err
	}
	defer st.close()
	meters, err := startMeters(ctx, s)
	if err != nil {
		return nil, err
	}
	defer closeMeters(meters)
	idle, err := during(meters, func() error { return pause(ctx, b.plan.stallIdle) })
	if err != nil {
		return nil, err
	}
	if c.await != nil {
		if err := c.await(ctx, st); err != nil {
			return nil, err
		}
	}
	busy, err := during(meters, func() error {
		if err := c.act(ctx, st); err != nil {
			return err
		}
		return pause(ctx, c.linger)
	})
	if err != nil {
		return nil, err
	}
	rounds := make([]stallRound, len(meters))
	for i := range rounds {
		rounds[i] = newStallRound(idle[i], busy[i])
	}
	return rounds, nil
}

// prepare fills a server with what a cause needs.
func (b *bench) prepare(ctx context.Context, c cause, s *server) (*stage, error) {
	conn, err := dial(s.address)
	if err != nil {
		return nil, err
	}
	st := &stage{client: conn, server: s, plan: &b.plan}
	for _, p := range places {
		if err := st.do("SET", p.key, "v"); err != nil {
			st.close()
			return nil, err
		}
	}
	if c.prepare != nil {
		if err := c.prepare(ctx, st); err != nil {
			st.close()
			return nil, err
		}
	}
	return st, nil
}

func startMeters(ctx context.Context, s *server) (meters []*part, err error) {
	for _, p := range places {
		m, err := startPart(ctx, meterArgument, meterSpec{Address: s.address, Key: p.key, PeriodNanos: int64(meterPeriod)})
		if err == nil {
			meters = append(meters, m)
			err = m.results.Decode(&meterResult{}) // it is ready
		}
		if err != nil {
			closeMeters(meters)
			return nil, fmt.Errorf("start a meter: %w", err)
		}
	}
	return meters, nil
}

func closeMeters(meters []*part) {
	for _, m := range meters {
		m.close()
	}
}

// during has the meters measure while f runs.
func during(meters []*part, f func() error) ([]meterResult, error) {
	for _, m := range meters {
		if err := m.orders.Encode(meterOrder{Begin: true}); err != nil {
			return nil, fmt.Errorf("begin to measure: %w", err)
		}
	}
	failure := f()
	results := make([]meterResult, len(meters))
	for i, m := range meters {
		if err := m.orders.Encode(meterOrder{}); err != nil {
			return nil, errors.Join(failure, fmt.Errorf("end measuring: %w", err))
		}
		if err := m.results.Decode(&results[i]); err != nil {
			return nil, errors.Join(failure, fmt.Errorf("read a meter: %w", err))
		}
		if results[i].Failure != "" {
			failure = errors.Join(failure, errors.New(results[i].Failure))
		}
	}
	return results, failure
}

// pause lets time pass.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
