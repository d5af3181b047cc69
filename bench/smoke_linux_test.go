package main

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bowline-kv/bowline/resp"
)

// TestMain lets the load processes that the tests start run in this binary.
func TestMain(m *testing.M) {
	if part := partOf(os.Args); part != nil {
		if err := part(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// toy is a server with strings only.
type toy struct {
	listener net.Listener
	serving  sync.WaitGroup
	waiting  atomic.Int64 // commands that have arrived and are not yet answered
	asked    atomic.Int64 // INFO so far

	mu    sync.Mutex
	data  map[string]string // guarded by mu
	limit int               // keys at most, guarded by mu; 0: any number
	conns []net.Conn        // guarded by mu
}

func startToy(t *testing.T) (*server, *toy) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	y := &toy{listener: l, data: map[string]string{}}
	y.serving.Go(y.accept)
	t.Cleanup(func() {
		l.Close()
		y.mu.Lock()
		for _, c := range y.conns {
			c.Close()
		}
		y.mu.Unlock()
		y.serving.Wait()
	})
	return &server{name: "toy", address: l.Addr().String(), pid: os.Getpid()}, y
}

func (y *toy) accept() {
	for {
		c, err := y.listener.Accept()
		if err != nil {
			return
		}
		y.mu.Lock()
		y.conns = append(y.conns, c)
		y.mu.Unlock()
		y.serving.Go(func() { y.serve(c) })
	}
}

func (y *toy) serve(c net.Conn) {
	defer c.Close()
	var r resp.CommandReader
	var w resp.Writer
	var pending []byte
	chunk := make([]byte, 4096)
	for {
		n, err := c.Read(chunk)
		if err != nil {
			return
		}
		pending = append(pending, chunk[:n]...)
		for {
			args, _, n, err := r.Next(pending, nil)
			if err != nil {
				break
			}
			y.answer(&w, args)
			pending = pending[n:]
		}
		if _, err := c.Write(w.B); err != nil {
			return
		}
		w.B = w.B[:0]
	}
}

func (y *toy) answer(w *resp.Writer, args [][]byte) {
	y.waiting.Add(1)
	defer y.waiting.Add(-1)
	y.mu.Lock()
	defer y.mu.Unlock()
	switch string(args[0]) {
	case "GET":
		if v, ok := y.data[string(args[1])]; ok {
			w.BulkString(v)
		} else {
			w.Null()
		}
	case "SET":
		for key := range y.data { // evicts any
			if y.limit == 0 || len(y.data) < y.limit {
				break
			}
			delete(y.data, key)
		}
		y.data[string(args[1])] = string(args[2])
		w.OK()
	case "FLUSHALL":
		clear(y.data)
		w.OK()
	case "DBSIZE":
		w.Int(int64(len(y.data)))
	case "DEL":
		delete(y.data, string(args[1]))
		w.Int(1)
	case "INFO":
		y.asked.Add(1)
		w.BulkString(fmt.Sprintf("# Memory\r\nused_memory:%d\r\n", 4711+100*len(y.data)))
	default:
		w.Error("ERR unknown command '" + string(args[0]) + "'")
	}
}

// until polls a condition.
func until(what string, condition func() bool) error {
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("waited in vain until %s", what)
		}
	}
	return nil
}

func (y *toy) len() int64 {
	y.mu.Lock()
	defer y.mu.Unlock()
	return int64(len(y.data))
}

func toyBench() *bench {
	return &bench{
		plan:     plan{connections: 3, keys: 100, rounds: 2, valueBytes: []int{16}},
		selected: func(string) bool { return true },
		progress: func(string, ...any) {},
	}
}

func TestTwoRowsAgainstAToyServer(t *testing.T) {
	redis, _ := startToy(t)
	bowline, _ := startToy(t)
	b := toyBench()
	if err := b.prefill(t.Context(), 16, redis, bowline); err != nil {
		t.Fatal(err)
	}
	for _, row := range []trafficRow{
		{workload: findWorkload("GET"), pipeline: 16, valueBytes: 16},
		{workload: findWorkload("SET"), pipeline: 1, valueBytes: 16},
	} {
		r, err := b.traffic(t.Context(), row, redis, bowline)
		if err != nil {
			t.Fatalf("%s: %v", row.name(), err)
		}
		if len(r.Pairs) != b.plan.rounds || r.Row != row.name() {
			t.Errorf("%s has %d pairs", r.Row, len(r.Pairs))
		}
		step := int64(row.pipeline * b.plan.connections)
		for _, p := range r.Pairs {
			if p.Redis.Commands != p.Bowline.Commands || p.Redis.Commands%step != 0 || p.Redis.Commands == 0 {
				t.Errorf("%s ran %d and %d commands, want the same multiple of %d", r.Row, p.Redis.Commands, p.Bowline.Commands, step)
			}
		}
		if r.Throughput.Median <= 0 || r.RedisMicros.Median <= 0 || r.BowlineLatency.P50 <= 0 {
			t.Errorf("%s lacks numbers: %+v", r.Row, r)
		}
		b.report.Traffic = append(b.report.Traffic, r)
	}
	var text strings.Builder
	b.report.print(&text)
	for _, want := range []string{"GET/p16/16B", "SET/p1/16B", "cpu B/R"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the table lacks %s:\n%s", want, text.String())
		}
	}
}

func TestLostKeysFailTheirRow(t *testing.T) {
	redis, _ := startToy(t)
	row := trafficRow{workload: findWorkload("GET"), pipeline: 1, valueBytes: 16}
	_, err := toyBench().traffic(t.Context(), row, redis, redis)
	if err == nil || !strings.Contains(err.Error(), "lost") {
		t.Errorf("error %v, want one about lost keys", err)
	}
}

func TestErrorRepliesFailTheirRow(t *testing.T) {
	redis, _ := startToy(t)
	row := trafficRow{workload: findWorkload("INCR"), pipeline: 1}
	_, err := toyBench().traffic(t.Context(), row, redis, redis)
	if err == nil || !strings.Contains(err.Error(), "unknown command") {
		t.Errorf("error %v, want one that quotes the reply", err)
	}
}

func TestUnknownCommandsAreNoticed(t *testing.T) {
	s, _ := startToy(t)
	for name, want := range map[string]bool{"GET": true, "SET": true, "LPUSH": false} {
		if got, err := knows(s.address, findWorkload(name)); got != want || err != nil {
			t.Errorf("knows(%s) = %v, %v", name, got, err)
		}
	}
}

func TestDeletingMostKeysLeavesATenth(t *testing.T) {
	s, y := startToy(t)
	const keys = 2000
	if err := fill(t.Context(), s, findWorkload("SET"), keys, 4); err != nil {
		t.Fatal(err)
	}
	if got := y.len(); got != keys {
		t.Fatalf("%d keys after filling, want %d", got, keys)
	}
	gone := countMost(keys)
	if err := walk(t.Context(), s, loadSpec{Workload: "DEL", Keys: keys}, loadOrder{Commands: gone, Order: orderMost}); err != nil {
		t.Fatal(err)
	}
	if got := y.len(); got != keys-gone {
		t.Errorf("%d keys are left, want %d", got, keys-gone)
	}
}

func TestALoadWithoutServerSaysSo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	if _, err := newLoad(loadSpec{Address: address, Workload: "GET", Connections: 1, Pipeline: 1, Keys: 1}); err == nil {
		t.Error("no error from a load that can't connect")
	}
	if _, err := newLoad(loadSpec{Address: address, Workload: "NOPE", Connections: 1, Pipeline: 1, Keys: 1}); err == nil {
		t.Error("no error for an unknown workload")
	}
}

func TestNumbersAreReadFromTheSystem(t *testing.T) {
	if got, err := residentIn("VmRSS:\t  100 kB\nRssAnon:\t      12 kB\nRssFile:\t 1 kB\n"); got != 12<<10 || err != nil {
		t.Errorf("resident memory %d, %v", got, err)
	}
	if _, err := residentIn("Name: x\n"); err == nil {
		t.Error("no error without the line")
	}
	if got := redisVersion("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64"); got != "7.0.15" {
		t.Errorf("version %q", got)
	}
	before, err := processCPU(os.Getpid())
	if err != nil || before <= 0 {
		t.Errorf("CPU of this process: %v, %v", before, err)
	}
	s, _ := startToy(t)
	if n, ok := infoNumber(s.address, "memory", "used_memory"); n != 4711 || !ok {
		t.Errorf("used_memory %v, %v", n, ok)
	}
	if _, ok := infoNumber(s.address, "memory", "other"); ok {
		t.Error("a field that is not there has a number")
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args string
		ok   bool
	}{
		{"", true},
		{"--short --rows ^GET --json x.json", true},
		{"--short --full", false},
		{"--connections 0", false},
		{"extra", false},
		{"--nope", false},
	} {
		var usage strings.Builder
		if _, err := parseFlags(strings.Fields(c.args), &usage); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.args, err)
		}
	}
	o, err := parseFlags([]string{"--bowline", "--network portable", "--full"}, os.Stderr)
	if err != nil || o.bowlineArgs != "--network portable" || o.plan().backKeys != 10_000_000 {
		t.Errorf("%+v, %v", o, err)
	}
}
