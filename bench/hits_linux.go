package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/bowline-kv/bowline/resp"
)

// allHits measures the rows about eviction.
func (b *bench) allHits(ctx context.Context) error {
	if b.plan.evictKeys == 0 {
		return nil
	}
	for _, policy := range evictPolicies {
		row := "evict/" + countName(b.plan.evictKeys) + "/" + policy
		if !b.selected(row) {
			continue
		}
		b.progress("%s", row)
		var percents [2]float64
		var err error
		for i, p := range []program{b.redis, b.bowline} {
			if percents[i], err = b.hitPercent(ctx, p, policy); err != nil {
				err = fmt.Errorf("%s: %w", p.name, err)
				break
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r := newHits(row, percents[0], percents[1])
		if err != nil {
			r = hitResult{Row: row, Failure: err.Error()}
		}
		b.report.Hits = append(b.report.Hits, r)
	}
	return nil
}

// hitPercent plays the trace to a new server: a read that finds nothing is
// followed by a write.
func (b *bench) hitPercent(ctx context.Context, p program, policy string) (float64, error) {
	s, err := p.start(ctx)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	c, err := dial(s.address)
	if err != nil {
		return 0, err
	}
	defer c.close()
	player := newTracePlayer(c, strings.HasPrefix(policy, "volatile"))
	limit, err := player.memoryFor(b.plan.evictKeys / 5)
	if err != nil {
		return 0, err
	}
	for _, pair := range [][2]string{{"maxmemory-policy", policy}, {"maxmemory", strconv.FormatFloat(limit, 'f', 0, 64)}} {
		v, err := c.do("CONFIG", "SET", pair[0], pair[1])
		if err == nil {
			err = v.Err()
		}
		if err != nil {
			return 0, fmt.Errorf("set %s: %w", pair[0], err)
		}
	}
	return player.play(ctx, newTrace(b.plan.evictKeys), b.plan.evictAccesses)
}

// tracePlayer sends a trace in batches: all reads, then the writes of those keys
// that were not there.
type tracePlayer struct {
	client   *client
	get, set template
	keys     [traceBatch]uint64
	missed   []uint64
	pipeline []byte
}

const (
	traceBatch = 200
	traceBytes = 100 // of a value
)

func newTracePlayer(c *client, volatile bool) *tracePlayer {
	set := workload{words: []string{"SET", "key:{key}", "{value}"}}
	if volatile {
		// All live equally long, so that the first to expire is the first written.
		set.words = append(set.words, "EX", "100000")
	}
	get := workload{words: []string{"GET", "key:{key}"}}
	return &tracePlayer{client: c, get: get.template(0), set: set.template(traceBytes)}
}

// pipe makes a pipeline with a command for each key.
func (p *tracePlayer) pipe(t *template, keys []uint64) []byte {
	p.pipeline = p.pipeline[:0]
	for _, key := range keys {
		p.pipeline = append(p.pipeline, t.bytes...)
		last := p.pipeline[len(p.pipeline)-len(t.bytes):]
		for _, h := range t.holes {
			putDigits(last[h.at:h.at+h.digits], key)
		}
	}
	return p.pipeline
}

// write sets keys, of which there may be any number.
func (p *tracePlayer) write(keys []uint64) error {
	for len(keys) > 0 {
		n := min(len(keys), traceBatch)
		err := p.client.exchange(p.pipe(&p.set, keys[:n]), n, func(_ int, v resp.Value) error { return v.Err() })
		if err != nil {
			return fmt.Errorf("set keys: %w", err)
		}
		keys = keys[n:]
	}
	return nil
}

// memoryFor is the used_memory with the first n keys. They are gone afterwards.
func (p *tracePlayer) memoryFor(n int64) (float64, error) {
	before, err := p.client.usedMemory()
	if err != nil {
		return 0, err
	}
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = uint64(i)
	}
	if err := p.write(keys); err != nil {
		return 0, err
	}
	after, err := p.client.usedMemory()
	if err != nil {
		return 0, err
	}
	if after <= before {
		return 0, fmt.Errorf("used_memory went from %.0f to %.0f with %d more keys", before, after, n)
	}
	v, err := p.client.do("FLUSHALL", "SYNC")
	if err == nil {
		err = v.Err()
	}
	return after, err
}

// play gives the hits in percent, without those of the first third: it fills the
// memory.
func (p *tracePlayer) play(ctx context.Context, t trace, accesses int64) (float64, error) {
	hits, total := 0, 0
	for n := int64(0); n < accesses; n += traceBatch {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		for i := range p.keys {
			p.keys[i] = t.next()
		}
		p.missed = p.missed[:0]
		err := p.client.exchange(p.pipe(&p.get, p.keys[:]), traceBatch, func(i int, v resp.Value) error {
			if v.IsNull() {
				p.missed = append(p.missed, p.keys[i])
			}
			return v.Err()
		})
		if err != nil {
			return 0, fmt.Errorf("get keys: %w", err)
		}
		if n > accesses/3 {
			hits += traceBatch - len(p.missed)
			total += traceBatch
		}
		if err := p.write(p.missed); err != nil {
			return 0, err
		}
	}
	return 100 * over(float64(hits), float64(total)), nil
}
