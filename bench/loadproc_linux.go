package main

import (
	"context"
	"errors"
	"fmt"
)

// loader is a load process, connected to one server.
type loader struct {
	*part
	target *server
}

// loadArgument makes this binary a load process.
const loadArgument = "load"

// startLoad starts a load process. The caller closes it.
func startLoad(ctx context.Context, s *server, spec loadSpec) (*loader, error) {
	spec.Address = s.address
	p, err := startPart(ctx, loadArgument, spec)
	if err != nil {
		return nil, err
	}
	return &loader{part: p, target: s}, nil
}

// run has one slice run, and measures the server meanwhile.
func (l *loader) run(o loadOrder) (slice, loadResult, error) {
	before, err := processCPU(l.target.pid)
	if err != nil {
		return slice{}, loadResult{}, err
	}
	var r loadResult
	if err := l.orders.Encode(o); err != nil {
		return slice{}, r, fmt.Errorf("order a slice: %w", err)
	}
	if err := l.results.Decode(&r); err != nil {
		return slice{}, r, fmt.Errorf("wait for a slice: %w", err)
	}
	after, err := processCPU(l.target.pid)
	if err != nil {
		return slice{}, r, err
	}
	switch {
	case r.Failure != "":
		return slice{}, r, errors.New(r.Failure)
	case r.Errors > 0:
		return slice{}, r, fmt.Errorf("%s answered %d errors, the first: %s", l.target.name, r.Errors, r.FirstError)
	}
	return slice{
		Commands:      r.Commands,
		Seconds:       float64(r.ElapsedNanos) / 1e9,
		ServerSeconds: (after - before).Seconds(),
		LoadSeconds:   float64(r.CPUNanos) / 1e9,
	}, r, nil
}

// fill puts every key of a range into a server, in order.
func fill(ctx context.Context, s *server, w *workload, keys int64, valueBytes int) error {
	return walk(ctx, s, loadSpec{Workload: w.name, ValueBytes: valueBytes, Keys: keys}, loadOrder{Commands: keys, Order: orderOnce})
}

// walk runs one slice that is not measured, with many connections when the
// specification does not say how many.
func walk(ctx context.Context, s *server, spec loadSpec, o loadOrder) error {
	if spec.Connections == 0 {
		spec.Connections, spec.Pipeline = 8, 64
	}
	l, err := startLoad(ctx, s, spec)
	if err != nil {
		return err
	}
	defer l.close()
	if _, _, err := l.run(o); err != nil {
		return fmt.Errorf("%s %d keys: %w", spec.Workload, o.Commands, err)
	}
	return nil
}
