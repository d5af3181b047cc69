package node

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/value"
	"github.com/bowline-kv/bowline/internal/vfs"
)

// startFiles starts a node on a file system.
func startFiles(t *testing.T, files vfs.FS, pairs ...string) (*Node, error) {
	t.Helper()
	listeners, err := ListenLoopback(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	return Start(Options{
		Config: settings(t, append([]string{"enable-debug-command", "yes"}, pairs...)...), Version: "test",
		Log: slog.New(slog.DiscardHandler), Listeners: listeners, Files: files,
	})
}

// fillAll makes keys of every type that redis-server 7.0 has too, in both forms.
func fillAll(c *redistest.Conn) {
	many := func(command string, scored, paired bool) {
		for _, n := range []int{3, 1500} {
			args := []string{command, command + strconv.Itoa(n)}
			for i := range n {
				if scored {
					args = append(args, strconv.FormatFloat(float64(i)/3, 'g', -1, 64))
				}
				args = append(args, "member:"+strconv.Itoa(i))
				if paired {
					args = append(args, strings.Repeat("v", i%90))
				}
			}
			c.Do(args...)
		}
	}
	many("RPUSH", false, false)
	many("SADD", false, false)
	many("HSET", false, true)
	many("ZADD", true, false)
	c.Do("SADD", "ints", "1", "-5", "70000")
	c.Do("SET", "number", "12345")
	c.Do("SET", "text", strings.Repeat("compressible ", 30))
	c.Do("SET", "long", strings.Repeat("0123456789abcdef", 20000), "EX", "1000")
	c.Do("RPUSH", "plain", strings.Repeat("x", 100000))
	c.Do("SELECT", "9")
	for i := range 2000 {
		c.Do("SET", "key:"+strconv.Itoa(i), "v", "PX", "100000000")
	}
	c.Do("SELECT", "0")
}

func digestOf(c *redistest.Conn) string { return fmt.Sprint(c.Do("DEBUG", "DIGEST")) }

func TestRedisLoadsASnapshotOfOurs(t *testing.T) {
	for _, checksum := range []string{"yes", "no"} {
		dir := t.TempDir()
		n, err := startFiles(t, nil, "dir", dir, "dbfilename", "ours.rdb", "rdbchecksum", checksum)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stop(t, n) })
		c := dial(t, n)
		fillAll(c)
		expect(t, c, "OK", "SAVE")
		redis := redistest.Start(t, "--dir", dir, "--dbfilename", "ours.rdb", "--logfile", "").Dial(t)
		if want, got := digestOf(c), digestOf(redis); got != want {
			t.Errorf("redis-server loaded %s, want %s", got, want)
		}
		expect(t, redis, "[db0 db9]", "EVAL", `local a = {} for d in string.gmatch(redis.call('INFO', 'keyspace'), '(db%d+):') do a[#a+1] = d end return a`, "0")
	}
}

func TestANodeStartsFromASnapshotOfRedis(t *testing.T) {
	dir := t.TempDir()
	redis := redistest.Start(t, "--dir", dir, "--logfile", "").Dial(t)
	fillAll(redis)
	expect(t, redis, "OK", "DEBUG", "SET-ACTIVE-EXPIRE", "0")
	expect(t, redis, "OK", "SET", "short", "1", "PX", "1")
	expect(t, redis, "OK", "SAVE")
	eventually(t, "its time is over", func() bool { return redis.Do("GET", "short") == nil })
	want := digestOf(redis)
	n, err := startFiles(t, nil, "dir", dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, n) })
	c := dial(t, n)
	if got := digestOf(c); got != want {
		t.Errorf("loaded %s, want %s", got, want)
	}
	if text := fmt.Sprint(c.Do("INFO", "persistence")); !strings.Contains(text, "rdb_last_load_keys_loaded:2013\r\n") || !strings.Contains(text, "keys_expired:1\r\n") || !strings.Contains(text, "loading:0\r\n") {
		t.Errorf("%s", text)
	}
}

func TestANodeKeepsItsDataOverAStop(t *testing.T) {
	disk := vfs.Mem()
	run := func(pairs []string, f func(c *redistest.Conn)) {
		t.Helper()
		n, err := startFiles(t, disk, append([]string{"dir", "/data"}, pairs...)...)
		if err != nil {
			t.Fatal(err)
		}
		f(dial(t, n))
		stop(t, n)
		select {
		case <-n.Done():
		default:
		}
	}
	run(nil, func(c *redistest.Conn) { expect(t, c, "OK", "SET", "a", "1") })
	run(nil, func(c *redistest.Conn) {
		expect(t, c, "1", "GET", "a")
		expect(t, c, "2", "INCR", "a")
		c.Send("SHUTDOWN", "NOSAVE")
		if got, err := c.TryReceive(); err == nil {
			t.Errorf("got %v", got)
		}
	})
	run([]string{"save", ""}, func(c *redistest.Conn) {
		expect(t, c, "1", "GET", "a")
		expect(t, c, "2", "INCR", "a")
	})
	run([]string{"save", ""}, func(c *redistest.Conn) {
		expect(t, c, "1", "GET", "a")
		expect(t, c, "2", "INCR", "a")
		c.Send("SHUTDOWN", "SAVE")
		if got, err := c.TryReceive(); err == nil {
			t.Errorf("got %v", got)
		}
	})
	run([]string{"durability", "memory"}, func(c *redistest.Conn) { expect(t, c, "<nil>", "GET", "a") })
	run([]string{"durability", "snapshot"}, func(c *redistest.Conn) { expect(t, c, "2", "GET", "a") })
}

func TestNothingIsWrittenUnlessTheSettingsSaySo(t *testing.T) {
	var asked atomic.Int64
	files := vfs.Faults(vfs.Mem(), func(op vfs.Op) vfs.Fault {
		if op.Kind != vfs.OpOpen && op.Kind != vfs.OpList { // it looks whether there is something that it leaves alone
			asked.Add(1)
		}
		return vfs.Fault{}
	})
	n, err := startFiles(t, files)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, dial(t, n), "OK", "SET", "a", "1")
	stop(t, n)
	if asked.Load() != 0 {
		t.Errorf("%d operations on files", asked.Load())
	}
}

func TestClientsAreToldWhileTheNodeLoads(t *testing.T) {
	for _, logged := range []string{"no", "yes"} {
		t.Run("appendonly "+logged, func(t *testing.T) { toldWhileLoading(t, logged) })
	}
}

func toldWhileLoading(t *testing.T, logged string) {
	disk := vfs.Mem()
	n, err := startFiles(t, disk, "dir", "/data", "appendonly", logged)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, dial(t, n), "OK", "SET", "a", "1")
	stop(t, n)
	reading, goOn := make(chan struct{}), make(chan struct{})
	var once atomic.Bool
	files := vfs.Faults(disk, func(op vfs.Op) vfs.Fault {
		if op.Kind == vfs.OpRead && once.CompareAndSwap(false, true) {
			close(reading)
			<-goOn
		}
		return vfs.Fault{}
	})
	listeners, err := ListenLoopback(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	addr := listeners[0].Addr().String()
	started := make(chan *Node)
	go func() {
		n, err := Start(Options{Config: settings(t, "dir", "/data", "appendonly", logged), Version: "test", Log: slog.New(slog.DiscardHandler), Listeners: listeners, Files: files})
		if err != nil {
			t.Error(err)
		}
		started <- n
	}()
	<-reading
	c := redistest.Dial(t, "tcp", addr)
	const loading = "LOADING Redis is loading the dataset in memory"
	expect(t, c, loading, "GET", "a")
	expect(t, c, loading, "PING")
	expect(t, c, loading, "BGSAVE")
	expect(t, c, "OK", "MULTI")
	expect(t, c, loading, "SET", "a", "2")
	expect(t, c, "EXECABORT Transaction discarded because of previous errors.", "EXEC")
	if text := fmt.Sprint(c.Do("INFO", "persistence")); !strings.Contains(text, "loading:1\r\n") {
		t.Errorf("%s", text)
	}
	close(goOn)
	n = <-started
	defer stop(t, n)
	expect(t, c, "1", "GET", "a")
}

func TestACorruptSnapshotStopsTheStart(t *testing.T) {
	dir := t.TempDir()
	n, err := startFiles(t, nil, "dir", dir)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, dial(t, n), "OK", "SET", "the-key", strings.Repeat("v", 5000)+"end")
	stop(t, n)
	path := filepath.Join(dir, "dump.rdb")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"cut": whole[:len(whole)-20], "changed": append(whole[:len(whole)-12:len(whole)-12], append([]byte{whole[len(whole)-12] ^ 1}, whole[len(whole)-11:]...)...)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := startFiles(t, nil, "dir", dir)
		if err == nil {
			stop(t, n)
			t.Fatalf("%s: the node has started", name)
		}
		if !errors.Is(err, rdb.ErrCorrupt) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "offset") || name == "cut" && !strings.Contains(err.Error(), `"the-key"`) {
			t.Errorf("%s: %v", name, err)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != string(content) {
			t.Errorf("%s: the file was changed, %v", name, err)
		}
	}
}

func TestAFailedSnapshotLeavesTheOldOne(t *testing.T) {
	disk := vfs.Mem()
	var fail atomic.Int64 // the kind of operation that fails
	fail.Store(-1)
	files := vfs.Faults(disk, func(op vfs.Op) vfs.Fault {
		if int64(op.Kind) == fail.Load() {
			return vfs.Fault{Err: vfs.ErrNoSpace, Done: op.Size / 2}
		}
		return vfs.Fault{}
	})
	n, err := startFiles(t, files, "dir", "/data")
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, n)
	c := dial(t, n)
	expect(t, c, "OK", "SET", "a", "1")
	expect(t, c, "OK", "SAVE")
	for i, kind := range []vfs.OpKind{vfs.OpCreate, vfs.OpWrite, vfs.OpSync, vfs.OpRename} {
		expect(t, c, "OK", "SET", "a", "new")
		fail.Store(int64(kind))
		expect(t, c, "ERR", "SAVE")
		if got := fmt.Sprint(c.Do("SET", "a", "2")); !strings.HasPrefix(got, "MISCONF ") {
			t.Errorf("fault %d: %s", i, got)
		}
		fail.Store(-1)
		if names, err := disk.List("/data"); err != nil || fmt.Sprint(names) != "[dump.rdb]" {
			t.Errorf("fault %d leaves %v, %v", i, names, err)
		}
		expect(t, c, "OK", "DEBUG", "RELOAD", "NOSAVE")
		expect(t, c, "1", "GET", "a")
		expect(t, c, "OK", "SAVE")
	}
}

// TestNoCrashLeavesAPartOfASnapshot cuts the power at each operation.
func TestNoCrashLeavesAPartOfASnapshot(t *testing.T) {
	space := shard.NewSpace(shard.Options{})
	tx := space.NewTx()
	write := func(fs vfs.FS, v string) error {
		tx.LockAll()
		tx.SetString([]byte("a"), []byte(strings.Repeat(v, 9000)), 0)
		tx.Unlock()
		s := space.BeginSnapshot(shard.SnapshotOptions{})
		defer s.Close()
		f := &snapshots{fs: fs, cfg: settings(t, "dir", "/data"), log: slog.New(slog.DiscardHandler), now: time.Now, durable: new(durable)}
		return f.Write(s, func() bool { return false })
	}
	read := func(fs vfs.FS) string {
		got := shard.NewSpace(shard.Options{})
		f := &snapshots{fs: fs, cfg: settings(t, "dir", "/data"), log: slog.New(slog.DiscardHandler), now: time.Now, ended: func() bool { return false }}
		if err := f.load("/data/dump.rdb", got.NewLoader(1, value.Limits{})); err != nil {
			return err.Error()
		}
		tx := got.NewTx()
		tx.LockAll()
		defer tx.Unlock()
		e, _ := tx.Find([]byte("a"))
		return string(e.Value)
	}
	var disk *vfs.MemFS
	for cut := 0; ; cut++ {
		disk = vfs.Mem()
		if err := disk.MkdirAll("/data"); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(disk.SyncDir("/"), write(disk, "o")); err != nil {
			t.Fatal(err)
		}
		ops := 0
		err := write(vfs.Faults(disk, func(vfs.Op) vfs.Fault {
			if ops++; ops > cut {
				return vfs.Fault{Err: vfs.ErrIO}
			}
			return vfs.Fault{}
		}), "n")
		for seed := range uint64(20) {
			got := read(disk.Crash(seed))
			switch {
			case err == nil && got == strings.Repeat("n", 9000), err != nil && (got == strings.Repeat("o", 9000) || got == strings.Repeat("n", 9000)):
			default:
				t.Fatalf("a crash after %d operations (%v) leaves %.40q", cut, err, got)
			}
		}
		if err == nil {
			break
		}
	}
}
