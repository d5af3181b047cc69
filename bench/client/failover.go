package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/bowline-kv/bowline/slot"
)

// watchArgument makes this binary the process that watches one client through the death
// of a primary. It reads a line of watchSpec and answers with one of watchReady when the
// key can be written; after any further line it waits for the first success and answers
// with one of watchResult.
const watchArgument = "watch"

type watchSpec struct {
	Subject string   `json:"subject"`
	Addrs   []string `json:"addrs"`
	Key     string   `json:"key"`
}

type watchReady struct {
	Failure string `json:"failure,omitempty"`
}

// watchOrder says that the primary is dead.
type watchOrder struct {
	Dead bool `json:"dead"`
}

type watchResult struct {
	// At is when the first SET after the death succeeded, in Unix nanoseconds.
	At     int64  `json:"at_ns"`  // 0: none did within watchLimit
	Errors int    `json:"errors"` // before
	First  string `json:"first_error,omitempty"`
}

const (
	// watchPause is between two attempts of a caller who got an error.
	watchPause = time.Millisecond
	watchLimit = 30 * time.Second
)

func serveWatch(in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	orders, answers := json.NewDecoder(in), json.NewEncoder(out)
	var spec watchSpec
	if err := orders.Decode(&spec); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	t, set, err := spec.begin(ctx)
	if err != nil {
		return answers.Encode(watchReady{Failure: err.Error()})
	}
	defer t.close()
	if err := answers.Encode(watchReady{}); err != nil {
		return err
	}
	var order watchOrder
	if err := orders.Decode(&order); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	return answers.Encode(untilSuccess(set))
}

func (s *watchSpec) begin(ctx context.Context) (target, func() error, error) {
	subject, err := subjectNamed(s.Subject)
	if err != nil {
		return nil, nil, err
	}
	t, err := subject.open(ctx, s.Addrs, 1)
	if err != nil {
		return nil, nil, err
	}
	w := t.worker(ctx)
	set := func() error {
		err := w.set(s.Key, "x")
		if r, ok := t.(*redigo); ok && err != nil {
			r.load() // its caller's work; an error shows in the next attempt
		}
		return err
	}
	if err := set(); err != nil {
		t.close()
		return nil, nil, err
	}
	return t, set, nil
}

// untilSuccess tries until a SET succeeds.
func untilSuccess(set func() error) watchResult {
	var r watchResult
	for start := time.Now(); time.Since(start) < watchLimit; time.Sleep(watchPause) {
		err := set()
		if err == nil {
			r.At = time.Now().UnixNano()
			return r
		}
		if r.Errors++; r.First == "" {
			r.First = err.Error()
		}
	}
	return r
}

// failoverResult is how long a client took, in milliseconds, from when a live node knew
// the new primary until its first success, in each round; zero when it was first, watchLimit when there was none.
type failoverResult struct {
	Client     string    `json:"client"`
	Millis     []float64 `json:"ms"`
	Median     float64   `json:"median_ms"`
	Judged     *judged   `json:"judged,omitempty"`
	FirstError string    `json:"first_error,omitempty"`
}

const failoverMillisMax = 100

// measureFailovers kills a primary in each round. All clients go through the same
// deaths at the same time: they do next to nothing meanwhile.
func measureFailovers(ctx context.Context, rounds int, subjects []subject, log func(string)) ([]failoverResult, error) {
	c, err := startCluster(ctx, true)
	if err != nil {
		return nil, err
	}
	defer c.stop()
	results := make([]failoverResult, len(subjects))
	for i := range results {
		results[i].Client = subjects[i].name
	}
	for round := range rounds {
		log(fmt.Sprintf("failover %d of %d", round+1, rounds))
		if err := c.failover(ctx, round, subjects, results); err != nil {
			return nil, fmt.Errorf("failover: %w", err)
		}
	}
	for i := range results {
		r := &results[i]
		r.Median = median(r.Millis)
		if r.Client == ours {
			r.Judged = &judged{Value: r.Median, Bar: failoverMillisMax, OK: r.Median <= failoverMillisMax}
		}
	}
	return results, nil
}

// failover is one round.
func (c *cluster) failover(ctx context.Context, round int, subjects []subject, results []failoverResult) error {
	key := keyName(round)
	at := int(slot.OfString(key))
	victim, err := c.primaryOf(at)
	if err != nil {
		return err
	}
	var parts []*part
	defer func() {
		for _, p := range parts {
			p.close()
		}
	}()
	for _, s := range subjects {
		p, err := startPart(ctx, watchArgument)
		if err != nil {
			return err
		}
		parts = append(parts, p)
		var ready watchReady
		if err := errors.Join(p.send(watchSpec{s.name, c.addrs(), key}), p.receive(&ready)); err != nil {
			return err
		}
		if ready.Failure != "" {
			return fmt.Errorf("%s: %s", s.name, ready.Failure)
		}
	}
	victim.kill()
	for _, p := range parts {
		if err := p.send(watchOrder{Dead: true}); err != nil {
			return err
		}
	}
	known, err := c.untilMoved(ctx, at, victim)
	if err != nil {
		return err
	}
	for i, p := range parts {
		var r watchResult
		if err := p.receive(&r); err != nil {
			return err
		}
		late := watchLimit // no success at all
		if r.At != 0 {
			late = max(0, time.Duration(r.At-known.UnixNano()))
		}
		results[i].Millis = append(results[i].Millis, micros(late)/1e3)
		results[i].FirstError = r.First
	}
	if err := victim.start(ctx); err != nil {
		return err
	}
	return until(ctx, "the replica to come back", c.complete)
}

// primaryOf gives the server that serves a slot.
func (c *cluster) primaryOf(at int) (*server, error) {
	var errs []error
	for _, s := range c.servers {
		if s.proc == nil {
			continue
		}
		addr, err := s.primaryOf(at)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, p := range c.servers {
			if p.addr() == addr {
				return p, nil
			}
		}
	}
	return nil, fmt.Errorf("no node knows the primary of slot %d: %w", at, errors.Join(errs...))
}

// primaryOf asks one server.
func (s *server) primaryOf(at int) (addr string, err error) {
	nodes, err := redis.String(s.ask("CLUSTER", "NODES"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(nodes) {
		fields := strings.Fields(line)
		if len(fields) < 9 || !strings.Contains(fields[2], "master") {
			continue
		}
		for _, r := range fields[8:] {
			if parsed, err := slot.ParseRange(r); err == nil && parsed.Has(slot.ID(at)) {
				addr, _, _ = strings.Cut(fields[1], "@")
				host, port, err := net.SplitHostPort(addr)
				return net.JoinHostPort(host, port), err
			}
		}
	}
	return "", fmt.Errorf("%s knows no primary of slot %d", s.addr(), at)
}

// untilMoved gives the time at which a live node first names another primary.
func (c *cluster) untilMoved(ctx context.Context, at int, from *server) (known time.Time, err error) {
	err = until(ctx, "the failover", func() bool {
		for _, s := range c.servers {
			if s.proc == nil {
				continue
			}
			if addr, err := s.primaryOf(at); err == nil && addr != from.addr() {
				known = time.Now()
				return true
			}
		}
		return false
	})
	return known, err
}
