package loadgen

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-kv/bowline/client"
	"github.com/bowline-kv/bowline/client/clienttest"
	"github.com/bowline-kv/bowline/internal/redistest"
)

// options are for a short run against some addresses.
func options(t *testing.T, addrs ...string) Options {
	t.Helper()
	d, err := ParseDistribution("uniform")
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Client: client.Options{Addrs: addrs}, Mix: mix(t, "get=80,set=20"), Keys: 100, Distribution: d,
		ValueSize: Size{10, 20}, Pipeline: 1, Workers: 4, Requests: 2000, Seed: 1,
	}
}

func mustRun(t *testing.T, o Options) *Result {
	t.Helper()
	res, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// sum checks that the rows add up to the total, and gives that.
func sum(t *testing.T, res *Result) uint64 {
	t.Helper()
	var replies, failed uint64
	for _, row := range res.Commands {
		replies, failed = replies+row.Replies, failed+row.Failed
	}
	if replies != res.Total.Replies || failed != res.Total.Failed {
		t.Errorf("the rows have %d replies and %d errors, the total %d and %d", replies, failed, res.Total.Replies, res.Total.Failed)
	}
	return replies + failed
}

// Every command works against Bowline, a stock Redis Cluster and a single redis-server,
// one by one and in batches.
func TestEveryCommandOfTheTable(t *testing.T) {
	servers := map[string]func() []string{
		"bowline cluster": func() []string { return clienttest.StartCluster(t, 3).Addrs() },
		"bowline":         func() []string { return clienttest.Start(t).Addrs() },
		"redis":           func() []string { return []string{redistest.Start(t).Addr} },
		"redis cluster":   func() []string { return []string{redistest.StartCluster(t).Servers[0].Addr} },
	}
	for name, start := range servers {
		addrs := start()
		for _, pipeline := range []int{1, 16} {
			t.Run(fmt.Sprintf("%s/%d", name, pipeline), func(t *testing.T) {
				o := options(t, addrs...)
				o.Mix, o.Pipeline, o.Fill = mix(t, strings.Join(Commands(), ",")), pipeline, true
				res := mustRun(t, o)
				if n := sum(t, res); n != 2000 || res.Total.Failed != 0 {
					t.Errorf("%d commands, errors %v, such as %v", n, res.Total.Errors, res.Total.Examples)
				}
				for _, row := range res.Commands {
					if row.Replies == 0 || row.Latency.P50 <= 0 || row.Latency.Max < row.Latency.P999 {
						t.Errorf("%+v", row)
					}
				}
			})
		}
	}
}

// The servers saw what the report counts.
func TestReportAgreesWithTheServers(t *testing.T) {
	cluster := clienttest.StartCluster(t, 3)
	o := options(t, cluster.Addrs()...)
	o.Fill = true
	res := mustRun(t, o)
	var gets, sets int
	for _, n := range cluster.Nodes {
		executed, _ := n.Calls("get")
		gets += executed
		executed, _ = n.Calls("set")
		sets += executed
	}
	if got := res.Commands[0]; got.Name != "get" || int(got.Replies) != gets || got.Nulls != 0 {
		t.Errorf("%d GET were executed, the report has %+v", gets, got)
	}
	if got := res.Commands[1]; got.Name != "set" || int(got.Replies) != sets-o.Keys {
		t.Errorf("%d SET were executed, %d of them to fill, the report has %+v", sets, o.Keys, got)
	}
	if res.Client != (ClientCounts{Dials: res.Client.Dials, Reloads: res.Client.Reloads}) {
		t.Errorf("the client saw %+v", res.Client)
	}
}

func TestErrorsAreCountedByKind(t *testing.T) {
	cluster := clienttest.StartCluster(t, 1)
	for id := range 16384 {
		if id%2 == 0 {
			continue
		}
		cluster.RefuseSlot(id, "NOTNOW it is late")
		if id > 4000 { // enough of them
			break
		}
	}
	res := mustRun(t, options(t, cluster.Addrs()...))
	if n := sum(t, res); n != 2000 || res.Total.Failed == 0 || res.Total.Replies == 0 {
		t.Fatalf("%d commands, %d of them failed", n, res.Total.Failed)
	}
	if res.Total.Errors["NOTNOW"] != res.Total.Failed || !strings.Contains(res.Total.Examples["NOTNOW"], "NOTNOW it is late") {
		t.Errorf("errors %v, such as %v", res.Total.Errors, res.Total.Examples)
	}
	var b bytes.Buffer
	if err := res.WriteTable(&b); err != nil || !strings.Contains(b.String(), fmt.Sprintf("  %d NOTNOW, such as: ", res.Total.Failed)) {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// A server that stops for two seconds is charged for every command that was due
// meanwhile, not for the one that it kept waiting.
func TestStallCountsForAllThatWasDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		f := &fake{answer: func(string) string {
			if n.Add(1) == 3000 {
				time.Sleep(2 * time.Second)
			}
			return ""
		}}
		o := options(t)
		o.Client = f.options()
		o.Requests, o.Duration, o.Rate, o.Workers = 0, 10*time.Second, 1000, 1
		res := mustRun(t, o)
		if res.Total.Replies != 10_000 || res.Total.Failed != 0 || res.Unsent != 0 {
			t.Fatalf("%+v, unsent %d", res.Total, res.Unsent)
		}
		// 2000 of 10000 commands waited, from 2 s down to nothing: the tenth part that
		// waited longest waited 1 s and more.
		if l := res.Total.Latency; l.P50 != 0 || l.P90 < 0.99e6 || l.P90 > 1.01e6 || l.Max != 2e6 {
			t.Errorf("latencies %+v", l)
		}
		synctest.Wait()
	})
}

// What is due and can't be sent is told, as no latency stands for it.
func TestUnsentCommandsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(string) string { time.Sleep(10 * time.Millisecond); return "" }}
		o := options(t)
		o.Client = f.options()
		o.Requests, o.Duration, o.Warmup, o.Rate, o.Workers = 0, time.Second, time.Second, 1000, 1
		res := mustRun(t, o)
		// 100 a second are possible.
		if sent := int64(sum(t, res)); sent+res.Unsent != 1000 || sent > 101 {
			t.Errorf("%d were sent, %d not", sent, res.Unsent)
		}
		var b bytes.Buffer
		if err := res.WriteTable(&b); err != nil || !strings.Contains(b.String(), fmt.Sprint(res.Unsent, " commands were due and not sent")) {
			t.Errorf("%v\n%s", err, b.String())
		}
	})
}

func TestWarmupIsNotMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		f := &fake{answer: func(string) string {
			if n.Add(1) <= 5 {
				time.Sleep(time.Second)
				return "-ERR cold\r\n"
			}
			time.Sleep(time.Millisecond)
			return ""
		}}
		o := options(t)
		o.Client = f.options()
		o.Workers, o.Requests, o.Warmup = 1, 50, 5500*time.Millisecond
		res := mustRun(t, o)
		if res.Total.Replies != 50 || res.Total.Failed != 0 || res.Total.Latency.Max != 1000 || n.Load() != 5+500+50 {
			t.Errorf("%+v after %d commands", res.Total, n.Load())
		}
	})
}

// An end before its time gives the report of the time till then; commands that get no
// answer are given up.
func TestInterruptedRunReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		hang := make(chan struct{})
		f := &fake{answer: func(string) string {
			if n.Add(1) > 100 {
				<-hang
			}
			return ""
		}}
		o := options(t)
		o.Client = f.options()
		o.Requests, o.Duration, o.Workers = 0, time.Hour, 3
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		res, err := Run(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != time.Second+grace {
			t.Errorf("it ended after %v", took)
		}
		if !res.Interrupted || res.Total.Replies != 100 || res.Total.Errors["unfinished"] != 3 {
			t.Errorf("interrupted %t, %+v", res.Interrupted, res.Total)
		}
		close(hang)
	})
}

func TestProgressIsShownEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(string) string { time.Sleep(10 * time.Millisecond); return "" }}
		var b bytes.Buffer
		o := options(t)
		o.Client = f.options()
		o.Requests, o.Duration, o.Warmup, o.Workers, o.Progress = 0, 2500*time.Millisecond, 1500*time.Millisecond, 1, &b
		mustRun(t, o)
		lines := strings.Split(b.String(), "\r\x1b[K")
		if len(lines) != 5 && len(lines) != 6 || lines[len(lines)-1] != "" {
			t.Fatalf("%q", lines)
		}
		if first := lines[1]; !strings.HasPrefix(first, "   1 s ") || !strings.HasSuffix(first, ", 0 errors  (warm-up)") {
			t.Errorf("%q", first)
		}
		if strings.Contains(lines[3], "warm-up") || !strings.HasSuffix(lines[3], " in all, 0 errors") {
			t.Errorf("%q", lines[3])
		}
	})
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"an address is needed":                                         func(o *Options) { o.Client.Addrs = nil },
		"keys 0: a number between 1 and 2147483648 is needed":          func(o *Options) { o.Keys = 0 },
		"pipeline 0: a number between 1 and 10000 is needed":           func(o *Options) { o.Pipeline = 0 },
		"pipeline 10001: a number between 1 and 10000 is needed":       func(o *Options) { o.Pipeline = 10_001 },
		"clients -1: a number between 1 and 10000 is needed":           func(o *Options) { o.Workers = -1 },
		"rate -1: a number between 0 and 1e9 is needed":                func(o *Options) { o.Rate = -1 },
		"exactly one of a duration and a number of requests is needed": func(o *Options) { o.Duration = 1 },
		"warmup -1ns: it can't be negative":                            func(o *Options) { o.Warmup = -1 },
		"conns 1001: a number between 1 and 1000 is needed":            func(o *Options) { o.Client.ConnsPerNode = 1001 },
		"values of 67108864 bytes: up to 3200 MiB of them would be under way, and 2048 are allowed; take fewer clients or shorter batches": func(o *Options) {
			o.Workers, o.ValueSize = 50, Size{1, 64 << 20}
		},
		"values of 536870912 bytes: up to 512000000000 MiB of them would be under way, and 2048 are allowed; take fewer clients or shorter batches": func(o *Options) {
			o.Workers, o.Pipeline, o.ValueSize, o.Mix = WorkersMax, PipelineMax, Size{1, sizeMax}, mix(t, "mset")
		},
	} {
		o := options(t, "127.0.0.1:1")
		change(&o)
		if _, err := Run(t.Context(), o); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Run(t.Context(), options(t, l.Addr().String())); err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("got %v", err)
	}
}

func TestJSONHasEverything(t *testing.T) {
	res := mustRun(t, options(t, clienttest.Start(t).Addr()))
	var b bytes.Buffer
	if err := res.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Result
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&back); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(back) != fmt.Sprint(*res) {
		t.Errorf("wrote\n%+v\nread\n%+v", *res, back)
	}
}

// Large values are set in batches of few, so that the memory it takes has a bound.
func TestFillSetsFewLargeValuesTogether(t *testing.T) {
	var most atomic.Int64
	o := options(t, clienttest.Start(t).Addr())
	o.Client.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &measured{nc, &most}, err
	}
	const size = 1 << 20
	o.Fill, o.Keys, o.ValueSize, o.Requests = true, 40, Size{size, size}, 4
	if res := mustRun(t, o); res.Total.Nulls != 0 {
		t.Errorf("%d keys were not set", res.Total.Nulls)
	}
	if n := most.Load(); n < size || n > fillBytes+2*size {
		t.Errorf("%d bytes were sent together", n)
	}
}

// measured is a connection that notes its longest write.
type measured struct {
	net.Conn
	most *atomic.Int64
}

func (m *measured) Write(b []byte) (int, error) {
	if n := int64(len(b)); n > m.most.Load() {
		m.most.Store(n)
	}
	return m.Conn.Write(b)
}

func TestInterruptedFillSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		defer close(hang)
		f := &fake{answer: func(string) string { <-hang; return "" }}
		o := options(t)
		o.Client = f.options()
		o.Fill, o.Keys = true, 100_000
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Run(ctx, o); err == nil || err.Error() != "set the keys: interrupted at key 500 of 100000" {
			t.Errorf("got %v", err)
		}
	})
}

// At a low rate the last command comes long before the end, which counts all the same.
func TestRateIsThatOfTheWholeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(string) string { return "" }}
		o := options(t)
		o.Client = f.options()
		o.Requests, o.Duration, o.Rate = 0, time.Second, 2
		res := mustRun(t, o)
		if res.Seconds != 1 || res.Total.Replies != 2 || res.Total.PerSecond != 2 || res.Unsent != 0 {
			t.Errorf("%g seconds, %d unsent, %+v", res.Seconds, res.Unsent, res.Total)
		}
	})
}
