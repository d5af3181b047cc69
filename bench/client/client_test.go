package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Every client does every operation against a real cluster, and notices a value that
// is not what it should be.
func TestEveryClientDoesEveryOperation(t *testing.T) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed")
	}
	ctx := t.Context()
	c, err := startCluster(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	const keys, size = 300, 10
	if err := c.fill(ctx, keys, size); err != nil {
		t.Fatal(err)
	}
	for _, s := range subjects {
		for _, goroutines := range []int{1, 4} {
			for _, r := range []row{{opGet, goroutines, 1}, {opSet, goroutines, 1}, {opGet, goroutines, 16},
				{opSet, goroutines, 16}, {opMget, goroutines, 100}} {
				spec := runSpec{Subject: s.name, Addrs: c.addrs(), Row: r, Keys: keys, ValueBytes: size,
					Lead: 10 * time.Millisecond, Slice: 100 * time.Millisecond, Cancelable: goroutines > 1}
				got, err := spec.run(ctx)
				if err != nil {
					t.Errorf("%s, %s: %v", s.name, r.name(), err)
				} else if got.Commands == 0 || got.CPU <= 0 || got.P99Micros < got.P50Micros {
					t.Errorf("%s, %s: %+v", s.name, r.name(), got)
				}
				spec.ValueBytes++ // reading must fail now
				if _, err := spec.run(ctx); r.Op != opSet && err == nil {
					t.Errorf("%s, %s: a wrong value is not noticed", s.name, r.name())
				} else if r.Op == opSet {
					if err := c.fill(ctx, keys, size); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

func TestOrdersOfARunThatFails(t *testing.T) {
	var out bytes.Buffer
	if err := serveRun(strings.NewReader(`{"subject":"nobody"}`), &out); err != nil {
		t.Fatal(err)
	}
	var r runResult
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Failure != `no client is called "nobody"` {
		t.Errorf("got %q, %v", out.String(), err)
	}
	if err := serveRun(strings.NewReader("nonsense"), &out); err == nil {
		t.Error("nonsense is taken for an order")
	}
}

// made is a result of so much CPU and so many commands a second.
func made(cpuMicros, perSecond, allocs float64) runResult {
	return runResult{Commands: 1e6, CPU: time.Duration(cpuMicros * 1e9), Mallocs: uint64(allocs * 1e6),
		Elapsed: time.Duration(1e15 / perSecond)}
}

func TestJudge(t *testing.T) {
	r := rowResult{Clients: []clientResult{
		summarize(ours, []runResult{made(8, 100, 1), made(4, 120, 1), made(8, 130, 1)}),
		summarize("cheap", []runResult{made(10, 90, 9), made(10, 80, 9), made(10, 80, 9)}),
		summarize("fast", []runResult{made(20, 125, 9), made(20, 125, 9), made(20, 125, 9)}),
	}}
	r.judge(row{opGet, 8, 1})
	for _, c := range []struct {
		name  string
		got   *judged
		best  string
		value float64
		ok    bool
	}{
		{"cpu", r.CPU, "cheap", 0.8, true},
		{"throughput", r.Throughput, "fast", 0.96, false},
		{"allocations", r.Allocs, "", 1, true},
	} {
		if c.got == nil || c.got.Best != c.best || fmt.Sprintf("%.2f", c.got.Value) != fmt.Sprintf("%.2f", c.value) || c.got.OK != c.ok {
			t.Errorf("%s: got %+v, want %+v", c.name, c.got, c)
		}
	}
	if n := (&report{Rows: []rowResult{r}}).misses(); n != 1 {
		t.Errorf("%d misses", n)
	}
	alone := rowResult{Clients: r.Clients[:1]}
	alone.judge(row{opSet, 1, 1})
	if alone.CPU != nil || alone.Throughput != nil || alone.Allocs == nil || alone.Allocs.OK {
		t.Errorf("alone: %+v", alone)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		list []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.list); got != c.want {
			t.Errorf("median of %v is %v", c.list, got)
		}
	}
}

func TestRowsAreChosenByName(t *testing.T) {
	p := defaultPlan()
	seen := map[string]bool{}
	for _, r := range p.rows {
		if seen[r.name()] {
			t.Errorf("two rows are called %s", r.name())
		}
		seen[r.name()] = true
	}
	p.choose(regexp.MustCompile(`^MGET|failover`))
	if len(p.rows) != 2 || p.failovers == 0 || p.builds != 0 {
		t.Errorf("got %v, %d failovers, %d builds", p.rows, p.failovers, p.builds)
	}
}

func TestTable(t *testing.T) {
	r := report{Facts: []string{"a", "b"}, Failovers: []failoverResult{
		{Client: ours, Millis: []float64{1.25, 300}, Median: 150.6, Judged: &judged{Value: 150.6, Bar: failoverMillisMax}}}}
	var out bytes.Buffer
	r.print(&out)
	for _, want := range []string{"a, b\n", "| bowline ", "| 1.2 300.0 ", "| <=100 OFF |", "1 values are off their bars\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
