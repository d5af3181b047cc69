package main

import (
	"context"
	"time"
)

// gcField is a number of INFO's section "Go".
type gcField struct {
	name, unit, field string
	measure           measure
}

var gcFields = []gcField{
	{"pause p99.9", "us", "go_gc_pause_p999_usec", measureGCPause},
	{"cpu", "%", "go_gc_cpu_percent", measureGCPercent},
	{"cycles", "", "go_gc_cycles", ""},
	{"heap", "bytes", "go_heap_bytes", ""},
}

// collector asks Bowline what its garbage collector did while it was filled and
// then wrote to for a while. redis-server has none.
func (b *bench) collector(ctx context.Context, name string) (stateResults, error) {
	s, err := b.bowline.start(ctx)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	if err := fill(ctx, s, findWorkload("SET"), b.plan.gcKeys, 16); err != nil {
		return nil, err
	}
	if err := b.write(ctx, s); err != nil {
		return nil, err
	}
	var results stateResults
	for _, f := range gcFields {
		value, ok := infoNumber(s.address, "go", f.field)
		if !ok {
			b.note("%s is left out: INFO has no %s", name, f.field)
			continue
		}
		results = append(results, newState(name+" "+f.name, f.unit, nil, &value, findTarget(f.measure, "", 0, 0)))
	}
	return results, nil
}

// write overwrites keys for about the planned time.
func (b *bench) write(ctx context.Context, s *server) error {
	l, err := startLoad(ctx, s, loadSpec{Workload: "SET", Connections: b.plan.connections, Pipeline: 16, ValueBytes: 16, Keys: b.plan.gcKeys})
	if err != nil {
		return err
	}
	defer l.close()
	commands := int64(100_000)
	for deadline, round := time.Now().Add(b.plan.gcTime), uint64(1); time.Now().Before(deadline); round++ {
		if _, _, err := l.run(loadOrder{Commands: commands, Seed: round, Order: orderRandom}); err != nil {
			return err
		}
	}
	return nil
}
