package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/topology"
	"github.com/bowline-kv/bowline/internal/vfs"
)

// startLogged starts a node whose log is on a disk; the caller stops it.
func startLogged(t *testing.T, disk vfs.FS, fail func(error), pairs ...string) *Node {
	t.Helper()
	n, err := tryLogged(t, disk, fail, pairs...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func tryLogged(t *testing.T, disk vfs.FS, fail func(error), pairs ...string) (*Node, error) {
	t.Helper()
	listeners, err := ListenLoopback(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	pairs = append([]string{"appendonly", "yes", "appendfsync", "always", "dir", "/data", "wal-segment-size", "64kb", "enable-debug-command", "yes", "save", ""}, pairs...)
	return Start(Options{
		Config: settings(t, pairs...), Version: "test", Log: slog.New(slog.DiscardHandler), Listeners: listeners, Files: disk, Fail: fail,
	})
}

// everyType are commands that make keys of every type, in both forms, and change
// them in the ways that effects are made of.
func everyType() [][]string {
	all := [][]string{
		{"SET", "s", "text"}, {"SET", "n", "41"}, {"INCR", "n"}, {"APPEND", "s", " and more"}, {"SETRANGE", "s", "2", "XX"}, {"SETBIT", "bits", "70", "1"},
		{"SET", "timed", "v", "EX", "1000"}, {"SET", "gone", "v"}, {"DEL", "gone"}, {"INCRBYFLOAT", "f", "0.1"}, {"SET", "big", strings.Repeat("x", 300_000)},
		{"HSET", "h", "a", "1", "b", "2"}, {"HINCRBY", "h", "a", "5"}, {"HSET", "hx", "a", "1", "b", "2"}, {"HPEXPIRE", "hx", "1000000", "FIELDS", "1", "a"},
		{"RPUSH", "l", "a", "b", "c"}, {"LPUSH", "l", "x"}, {"LINSERT", "l", "BEFORE", "b", "y"}, {"LPOP", "l"}, {"RPOPLPUSH", "l", "l2"},
		{"SADD", "ints", "1", "2", "3"}, {"SADD", "set", "a", "b", "c", "d"}, {"SPOP", "set", "2"}, {"SMOVE", "ints", "set", "2"},
		{"ZADD", "z", "1", "a", "2.5", "b"}, {"ZINCRBY", "z", "0.1", "a"}, {"ZADD", "z", "inf", "c"}, {"ZPOPMIN", "z"},
		{"RENAME", "l2", "l3"}, {"COPY", "h", "h2"}, {"SELECT", "1"}, {"SET", "other", "v"}, {"MOVE", "other", "2"}, {"SET", "flushed", "v"}, {"FLUSHDB"},
		{"SET", "o", "1"}, {"SWAPDB", "1", "3"}, {"SELECT", "0"},
	}
	for i := range 600 {
		all = append(all, []string{"HSET", "bigh", fmt.Sprint("f", i), fmt.Sprint("value", i)}, []string{"RPUSH", "bigl", strings.Repeat("e", 40)},
			[]string{"SADD", "bigs", fmt.Sprint("m", i)}, []string{"ZADD", "bigz", fmt.Sprint(i), fmt.Sprint("m", i)})
	}
	return all
}

func TestDataOfEveryTypeIsThereAfterARestart(t *testing.T) {
	for _, driver := range drivers {
		for _, fsync := range []string{"always", "everysec", "no"} {
			t.Run(driver+"/"+fsync, func(t *testing.T) {
				disk := vfs.Mem()
				n := startLogged(t, disk, nil, "network", driver, "appendfsync", fsync)
				c := dial(t, n)
				commands := everyType()
				for _, args := range commands {
					c.Write(redistest.Encode(args...))
				}
				for _, args := range commands {
					if err, bad := c.Receive().(redistest.Error); bad {
						t.Fatalf("%.100q: %v", args, err)
					}
				}
				want := c.Do("DEBUG", "DIGEST")
				stop(t, n)
				for range 2 {
					n = startLogged(t, disk, nil, "network", driver, "appendfsync", fsync)
					c = dial(t, n)
					if got := c.Do("DEBUG", "DIGEST"); got != want {
						t.Errorf("digest %v, want %v", got, want)
					}
					stop(t, n)
				}
			})
		}
	}
}

// TestRestartsContinueTheNumbers also looks at what INFO tells.
func TestRestartsContinueTheNumbers(t *testing.T) {
	disk := vfs.Mem()
	for i := range 3 {
		n := startLogged(t, disk, nil)
		c := dial(t, n)
		expect(t, c, "OK", "SET", "k", fmt.Sprint(i))
		want := fmt.Sprintf("wal_last_sequence=%d,wal_durable_sequence=%d", i+1, i+1)
		if got := infoField(t, c, "shard0"); got != want {
			t.Errorf("start %d: %s, want %s", i, got, want)
		}
		for field, want := range map[string]string{"aof_enabled": "1", "aof_last_write_status": "ok"} {
			if got := infoField(t, c, field); got != want {
				t.Errorf("%s is %s, want %s", field, got, want)
			}
		}
		stop(t, n)
	}
	n := startLogged(t, disk, nil, "appendonly", "no") // and nothing else does
	c := dial(t, n)
	expect(t, c, "<nil>", "GET", "k")
	if got := infoField(t, c, "aof_enabled"); got != "0" {
		t.Errorf("aof_enabled is %s", got)
	}
	stop(t, n)
}

// TestTransactionsAreWholeAfterAPowerLoss cuts the power at any moment.
func TestTransactionsAreWholeAfterAPowerLoss(t *testing.T) {
	disk := vfs.Mem()
	n := startLogged(t, disk, nil, "appendfsync", "everysec")
	c := dial(t, n)
	for i := range 2000 {
		c.Write([]byte(fmt.Sprintf("MULTI\r\nSET a %d\r\nSET b %d\r\nEXEC\r\n", i, i)))
	}
	for range 500 {
		c.Receive()
	}
	eventually(t, "something is synced", func() bool { return n.space.Shards()[0].Durable() > 0 })
	var crashed []vfs.FS
	for seed := range uint64(5) {
		crashed = append(crashed, disk.Crash(seed))
		c.Receive() // so that the disks differ
	}
	var drained sync.WaitGroup
	drained.Go(func() { io.Copy(io.Discard, c.Net()) })
	stop(t, n)
	drained.Wait()
	for _, after := range crashed {
		n = startLogged(t, after, nil)
		c = dial(t, n)
		if a, b := c.Do("GET", "a"), c.Do("GET", "b"); fmt.Sprint(a) != fmt.Sprint(b) || a == nil {
			t.Errorf("a is %v, b is %v", a, b)
		}
		stop(t, n)
	}
}

// stall makes syncs of the log wait while it is on.
type stall struct {
	mu   sync.Mutex
	gate chan struct{} // nil: off
	err  error         // what syncs then give
	hit  atomic.Int64  // syncs that waited
}

func (s *stall) rule(op vfs.Op) vfs.Fault {
	if op.Kind != vfs.OpSync {
		return vfs.Fault{}
	}
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		s.hit.Add(1)
		<-gate
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return vfs.Fault{Err: s.err}
}

func (s *stall) begin() {
	s.mu.Lock()
	s.gate = make(chan struct{})
	s.mu.Unlock()
}

func (s *stall) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	close(s.gate)
	s.gate = nil
}

// silence checks that nothing comes for a moment.
func silence(t *testing.T, who string, nc net.Conn) {
	t.Helper()
	nc.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	var b [64]byte
	if n, _ := nc.Read(b[:]); n > 0 {
		t.Errorf("%s gets %q", who, b[:n])
	}
	nc.SetReadDeadline(time.Now().Add(patience))
}

// TestNobodySeesAWriteBeforeItIsSynced has a writer, a reader of its key, a reader of
// everything and one that is not concerned, while a sync does not end. It is done in
// the background, as syncs were slow before: so no event loop waits for it.
func TestNobodySeesAWriteBeforeItIsSynced(t *testing.T) {
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			s := &stall{}
			n := startLogged(t, vfs.Faults(vfs.Mem(), s.rule), nil, "network", driver)
			defer stop(t, n)
			writer, reader, watcher, free := dial(t, n), dial(t, n), dial(t, n), dial(t, n)
			expect(t, writer, "OK", "SET", "key", "old")
			expect(t, free, "OK", "SET", "elsewhere", "v")
			makeSlow(t, s, writer)
			s.begin()
			before := s.hit.Load()
			writer.Write(redistest.Encode("SET", "key", "new"))
			eventually(t, "the sync begins", func() bool { return s.hit.Load() > before })
			reader.Write(redistest.Encode("GET", "key"))
			watcher.Write(redistest.Encode("DBSIZE"))
			expect(t, free, "v", "GET", "elsewhere")
			silence(t, "the writer", writer.Net())
			silence(t, "the reader of the key", reader.Net())
			silence(t, "the reader of all keys", watcher.Net())
			s.end(nil)
			for _, r := range []struct {
				c    *redistest.Conn
				want string
			}{{writer, "OK"}, {reader, "new"}, {watcher, "2"}} {
				if got := fmt.Sprint(r.c.Receive()); got != r.want {
					t.Errorf("then comes %s, want %s", got, r.want)
				}
			}
		})
	}
}

// makeSlow makes some syncs take long, after which they are done in the background.
func makeSlow(t *testing.T, s *stall, c *redistest.Conn) {
	t.Helper()
	for i := range 3 {
		s.begin()
		before := s.hit.Load()
		c.Write(redistest.Encode("SET", "key", fmt.Sprint(i)))
		eventually(t, "a sync begins", func() bool { return s.hit.Load() > before })
		time.Sleep(10 * time.Millisecond) // more than what counts as slow
		s.end(nil)
		if got := fmt.Sprint(c.Receive()); got != "OK" {
			t.Fatalf("SET gives %s", got)
		}
	}
}

func TestEverysecRepliesDoNotWait(t *testing.T) {
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			s := &stall{}
			n := startLogged(t, vfs.Faults(vfs.Mem(), s.rule), nil, "network", driver, "appendfsync", "everysec")
			defer stop(t, n)
			c := dial(t, n)
			s.begin()
			expect(t, c, "OK", "SET", "k", "v")
			eventually(t, "a sync begins", func() bool { return s.hit.Load() > 0 })
			expect(t, c, "v", "GET", "k")
			s.end(nil)
			eventually(t, "it is durable", func() bool { return n.space.Shards()[0].Durable() == 1 })
			// The setting is followed at once.
			expect(t, c, "OK", "CONFIG", "SET", "appendfsync", "always")
			expect(t, c, "OK", "SET", "k", "w")
			if last, durable := n.space.Shards()[0].Last(), n.space.Shards()[0].Durable(); durable != last {
				t.Errorf("after a reply %d of %d records are durable", durable, last)
			}
		})
	}
}

func TestFailedSyncEndsTheNodeAndReleasesNoReply(t *testing.T) {
	for _, driver := range drivers {
		t.Run(driver, func(t *testing.T) {
			s, failed := &stall{}, make(chan error, 1)
			n := startLogged(t, vfs.Faults(vfs.Mem(), s.rule), func(err error) { failed <- err }, "network", driver)
			c := dial(t, n)
			expect(t, c, "OK", "SET", "k", "v")
			s.begin()
			c.Write(redistest.Encode("SET", "k", "w"))
			eventually(t, "a sync begins", func() bool { return s.hit.Load() > 0 })
			s.end(vfs.ErrIO)
			select {
			case err := <-failed:
				if !errors.Is(err, vfs.ErrIO) {
					t.Errorf("the node ends with %v", err)
				}
			case <-time.After(patience):
				t.Fatal("the node goes on")
			}
			silence(t, "the writer", c.Net())
			if l := n.durable.state(); !l.On || !l.Failing {
				t.Error("INFO tells nothing of it")
			}
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			if err := n.Stop(ctx); !errors.Is(err, vfs.ErrIO) {
				t.Errorf("Stop gives %v", err)
			}
		})
	}
}

func TestFullDiskRefusesWritesUntilThereIsRoom(t *testing.T) {
	const refused = "MISCONF Errors writing to the AOF file: No space left on device"
	for _, fsync := range []string{"always", "everysec"} {
		t.Run(fsync, func(t *testing.T) {
			disk := vfs.Mem()
			n := startLogged(t, disk, nil, "appendfsync", fsync)
			c, other := dial(t, n), dial(t, n)
			expect(t, c, "OK", "SET", "k", "v")
			eventually(t, "it is durable", func() bool { return n.space.Shards()[0].Durable() == 1 })
			disk.SetCapacity(300 << 10)
			// Much more than what is free; the replies to the last ones may wait for room.
			for range 20 {
				other.Write(redistest.Encode("SET", "fill", strings.Repeat("x", 20<<10)))
			}
			eventually(t, "writes are refused", n.durable.full.Load)
			expect(t, c, refused, "SET", "fill", "") // at once, though the key is not durable
			expect(t, c, "v", "GET", "k")
			expect(t, c, "OK", "MULTI")
			expect(t, c, refused, "SET", "k", "w")
			expect(t, c, "EXECABORT Transaction discarded because of previous errors.", "EXEC")
			if got := infoField(t, c, "aof_last_write_status"); got != "err" {
				t.Errorf("aof_last_write_status is %s", got)
			}
			disk.SetCapacity(1 << 30)
			eventually(t, "writes are taken again", func() bool { return fmt.Sprint(c.Do("SET", "k", "w")) == "OK" })
			for range 20 {
				if got := fmt.Sprint(other.Receive()); got != "OK" && got != refused {
					t.Errorf("the other client gets %s", got)
				}
			}
			want := c.Do("DEBUG", "DIGEST")
			stop(t, n)
			n = startLogged(t, disk, nil)
			if got := dial(t, n).Do("DEBUG", "DIGEST"); got != want {
				t.Errorf("digest %v, want %v", got, want)
			}
			stop(t, n)
		})
	}
}

func TestANodeOnAFullDiskStartsForReads(t *testing.T) {
	disk := vfs.Mem()
	n := startLogged(t, disk, nil)
	expect(t, dial(t, n), "OK", "SET", "k", "v")
	stop(t, n)
	disk.SetCapacity(1)
	n = startLogged(t, disk, nil)
	c := dial(t, n)
	expect(t, c, "v", "GET", "k")
	expect(t, c, "MISCONF Errors writing to the AOF file: No space left on device", "SET", "k", "w")
	disk.SetCapacity(1 << 30)
	eventually(t, "writes are taken", func() bool { return fmt.Sprint(c.Do("SET", "k", "w")) == "OK" })
	crash := disk.Crash(1)
	stop(t, n)
	n = startLogged(t, crash, nil)
	expect(t, dial(t, n), "w", "GET", "k")
	stop(t, n)
}

// tryTwoShards starts a node of two shards.
func tryTwoShards(t *testing.T, disk vfs.FS) (*Node, error) {
	t.Helper()
	listeners, err := ListenLoopback(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	addr := listeners[0].Addr().(*net.TCPAddr)
	id := topology.NodeID("1111111111111111111111111111111111111111")
	m, err := topology.Parse(fmt.Appendf(nil, "version 1\ngroup g slots 0-8000@0,8001-16383@1\n  member %s 127.0.0.1:%d primary\n", id, addr.Port))
	if err != nil {
		t.Fatal(err)
	}
	return Start(Options{
		Config:  settings(t, "appendonly", "yes", "appendfsync", "always", "dir", "/data", "wal-segment-size", "64kb", "enable-debug-command", "yes", "save", ""),
		Version: "test", Log: slog.New(slog.DiscardHandler), Listeners: listeners, Files: disk, Map: m, NodeID: id,
	})
}

func startTwoShards(t *testing.T, disk vfs.FS) *Node {
	t.Helper()
	n, err := tryTwoShards(t, disk)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCommandsOnEverythingStayInTheirShard restarts a node of two shards: what
// empties one of them must not do so after later writes to the other.
func TestCommandsOnEverythingStayInTheirShard(t *testing.T) {
	disk := vfs.Mem()
	n := startTwoShards(t, disk)
	c := dial(t, n)
	for i := range 50 {
		expect(t, c, "OK", "SET", fmt.Sprint("k", i), "v")
	}
	expect(t, c, "OK", "FLUSHALL")
	expect(t, c, "OK", "MULTI") // DBSIZE locks everything, so the record is in both logs
	expect(t, c, "QUEUED", "APPEND", "a", "x")
	expect(t, c, "QUEUED", "DBSIZE")
	expect(t, c, "[1 1]", "EXEC")
	for i := range 50 {
		expect(t, c, "1", "INCR", fmt.Sprint("k", i))
	}
	want := c.Do("DEBUG", "DIGEST")
	stop(t, n)
	n = startTwoShards(t, disk)
	c = dial(t, n)
	if got := c.Do("DEBUG", "DIGEST"); got != want || fmt.Sprint(c.Do("DBSIZE")) != "51" {
		t.Errorf("digest %v, want %v; %v keys", got, want, c.Do("DBSIZE"))
	}
	expect(t, c, "x", "GET", "a")
	stop(t, n)
}
