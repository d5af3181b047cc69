package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/vfs"
	"github.com/bowline-kv/bowline/internal/wal"
)

// segments counts the segments of a log.
func segments(t *testing.T, disk vfs.FS) int {
	t.Helper()
	names, err := disk.List("/data/appendonlydir")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range names {
		if strings.HasSuffix(name, ".wal") && !strings.HasPrefix(name, "spare") {
			n++
		}
	}
	return n
}

// damage flips a bit in the middle of a file.
func damage(t *testing.T, disk vfs.FS, path string) {
	t.Helper()
	f, err := disk.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, _ := f.Size()
	b := make([]byte, 1)
	f.ReadAt(b, size/2)
	b[0] ^= 1
	if _, err := f.WriteAt(b, size/2); err != nil {
		t.Fatal(err)
	}
}

func fill(t *testing.T, c *redistest.Conn, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		expect(t, c, "OK", "SET", fmt.Sprint("k", i), strings.Repeat("v", 3000))
	}
}

// saved waits until no snapshot is under way or wanted.
func saved(t *testing.T, c *redistest.Conn) {
	t.Helper()
	eventually(t, "the snapshot is written", func() bool {
		return infoField(t, c, "aof_rewrite_in_progress") == "0" && infoField(t, c, "aof_rewrite_scheduled") == "0" && infoField(t, c, "rdb_bgsave_in_progress") == "0"
	})
}

func TestTheLogGoesOnFromTheSnapshot(t *testing.T) {
	disk := vfs.Mem()
	settings := []string{"wal-history-size", "0"}
	n := startLogged(t, disk, nil, settings...)
	c := dial(t, n)
	for _, command := range everyType() {
		c.Do(command...)
	}
	fill(t, c, 0, 100)
	before := segments(t, disk)
	expect(t, c, "OK", "SAVE")
	if got := segments(t, disk); got < before {
		t.Errorf("after one snapshot there are %d segments, there were %d", got, before)
	}
	expect(t, c, "OK", "SET", "k0", "behind the first")
	expect(t, c, "OK", "SAVE")
	if got := segments(t, disk); got >= before/2 {
		t.Errorf("after two snapshots there are %d segments, there were %d", got, before)
	}
	expect(t, c, "OK", "SET", "k1", "behind the second")
	for round := range 3 {
		digest := digestOf(c)
		keys := c.Do("DBSIZE")
		stop(t, n)
		n = startLogged(t, disk, nil, settings...)
		c = dial(t, n)
		if got := digestOf(c); got != digest || fmt.Sprint(c.Do("DBSIZE")) != fmt.Sprint(keys) {
			t.Fatalf("round %d: other data after the start", round)
		}
		if got := infoField(t, c, "rdb_last_load_keys_loaded"); got == "0" {
			t.Error("the snapshot was not loaded")
		}
		expect(t, c, "OK", "SET", "k2", fmt.Sprint("round ", round))
		if round == 1 {
			expect(t, c, "OK", "SAVE")
		}
	}
	stop(t, n)
}

// TestAKeyThatWasToExpireLivesOnWhenTheLogSaysSo: at the time of the start the
// snapshot alone would say that it is over.
func TestAKeyThatWasToExpireLivesOnWhenTheLogSaysSo(t *testing.T) {
	disk := vfs.Mem()
	n := startLogged(t, disk, nil)
	c := dial(t, n)
	kept := func(millis string) bool {
		c.Do("SET", "key", "v", "PX", millis)
		c.Do("HSET", "hash", "f", "v")
		c.Do("HPEXPIRE", "hash", millis, "FIELDS", "1", "f")
		expect(t, c, "OK", "SAVE")
		return fmt.Sprint(c.Do("PERSIST", "key"), c.Do("HPERSIST", "hash", "FIELDS", "1", "f")) == "1 [1]"
	}
	life := 100 * time.Millisecond
	for !kept(fmt.Sprint(life.Milliseconds())) { // the machine is slower than that
		life *= 2
	}
	time.Sleep(life)
	stop(t, n)
	n = startLogged(t, disk, nil)
	c = dial(t, n)
	expect(t, c, "v", "GET", "key")
	expect(t, c, "v", "HGET", "hash", "f")
	stop(t, n)
}

func TestADamagedSnapshotIsMadeUpForByTheOneBefore(t *testing.T) {
	disk := vfs.Mem()
	n := startLogged(t, disk, nil, "wal-history-size", "0")
	c := dial(t, n)
	fill(t, c, 0, 50)
	expect(t, c, "OK", "SAVE")
	fill(t, c, 50, 100)
	expect(t, c, "OK", "SAVE")
	fill(t, c, 100, 150)
	digest := digestOf(c)
	stop(t, n)
	damage(t, disk, "/data/dump.rdb")
	n = startLogged(t, disk, nil, "wal-history-size", "0")
	if c = dial(t, n); digestOf(c) != digest {
		t.Errorf("%v keys of 150 are there, or others", c.Do("DBSIZE"))
	}
	stop(t, n)

	damage(t, disk, "/data/dump.rdb.previous")
	if _, err := tryLogged(t, disk, nil, "wal-history-size", "0"); err == nil || !strings.Contains(err.Error(), "dump.rdb.previous") {
		t.Errorf("without a snapshot the start gives %v", err)
	}
	if err := errors.Join(disk.Remove("/data/dump.rdb"), disk.Remove("/data/dump.rdb.previous")); err != nil {
		t.Fatal(err)
	}
	var missing *wal.MissingError
	if _, err := tryLogged(t, disk, nil, "wal-history-size", "0"); !errors.As(err, &missing) || !strings.Contains(err.Error(), "/data/dump.rdb") {
		t.Errorf("without the files the start gives %v", err)
	}
}

func TestAWholeLogNeedsNoSnapshot(t *testing.T) {
	disk := vfs.Mem()
	n := startLogged(t, disk, nil)
	c := dial(t, n)
	fill(t, c, 0, 20)
	expect(t, c, "OK", "SAVE")
	digest := digestOf(c)
	stop(t, n)
	damage(t, disk, "/data/dump.rdb")
	n = startLogged(t, disk, nil)
	if c = dial(t, n); digestOf(c) != digest {
		t.Errorf("%v keys of 20 are there, or others", c.Do("DBSIZE"))
	}
	stop(t, n)
}

// TestALogIsBegunBehindASnapshot of another server, and of a node whose log was
// removed.
func TestALogIsBegunBehindASnapshot(t *testing.T) {
	dir := t.TempDir()
	rc := redistest.Start(t, "--dir", dir).Dial(t)
	fillAll(rc)
	expect(t, rc, "OK", "SAVE")
	n := startLogged(t, nil, nil, "dir", dir)
	c := dial(t, n)
	digest := digestOf(rc)
	if digestOf(c) != digest {
		t.Fatal("the data of another server is not there")
	}
	expect(t, c, "OK", "SET", "more", "1")
	digest = digestOf(c)
	stop(t, n)
	if err := os.RemoveAll(filepath.Join(dir, "appendonlydir")); err != nil {
		t.Fatal(err)
	}
	n = startLogged(t, nil, nil, "dir", dir) // with what the snapshot has alone
	c = dial(t, n)
	expect(t, c, "0", "EXISTS", "more")
	expect(t, c, "OK", "SET", "more", "1")
	for range 2 {
		if digestOf(c) != digest {
			t.Fatal("other data")
		}
		stop(t, n)
		n = startLogged(t, nil, nil, "dir", dir)
		c = dial(t, n)
	}
	stop(t, n)
}

func TestASnapshotOfAnotherLogIsRefused(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	for _, dir := range dirs {
		n := startLogged(t, nil, nil, "dir", dir)
		c := dial(t, n)
		expect(t, c, "OK", "SET", "in", dir)
		expect(t, c, "OK", "SAVE")
		stop(t, n)
	}
	dump := filepath.Join(dirs[0], "dump.rdb")
	if err := os.Rename(filepath.Join(dirs[1], "dump.rdb"), dump); err != nil {
		t.Fatal(err)
	}
	_, err := tryLogged(t, nil, nil, "dir", dirs[0])
	var hint interface{ Hint() string }
	if !errors.Is(err, errForeignSnapshot) || !errors.As(err, &hint) || !strings.Contains(hint.Hint(), dump) {
		t.Fatalf("the start gives %v", err)
	}
	if err := os.Remove(dump); err != nil {
		t.Fatal(err)
	}
	n := startLogged(t, nil, nil, "dir", dirs[0])
	expect(t, dial(t, n), dirs[0], "GET", "in")
	stop(t, n)
}

func TestTheLogIsMadeShorter(t *testing.T) {
	disk := vfs.Mem()
	n := startLogged(t, disk, nil, "wal-history-size", "0", "auto-aof-rewrite-percentage", "0", "hz", "100")
	c := dial(t, n)
	for range 5 {
		fill(t, c, 0, 100)
	}
	before := segments(t, disk)
	expect(t, c, "Background append only file rewriting started", "BGREWRITEAOF")
	saved(t, c)
	expect(t, c, "OK", "CONFIG", "SET", "auto-aof-rewrite-min-size", "100kb", "auto-aof-rewrite-percentage", "10")
	fill(t, c, 0, 100)
	eventually(t, "the log is made shorter by itself", func() bool { return infoField(t, c, "aof_rewrites") >= "2" && segments(t, disk) < before })
	saved(t, c)
	for field, want := range map[string]string{"aof_last_bgrewrite_status": "ok", "aof_rewrites_consecutive_failures": "0", "aof_current_rewrite_time_sec": "-1"} {
		if got := infoField(t, c, field); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
	if got := infoField(t, c, "aof_base_size"); got < "1" {
		t.Errorf("aof_base_size is %s", got)
	}
	stop(t, n)
}

func TestTheLogBeginsAndEndsWhileTheNodeRuns(t *testing.T) {
	disk := vfs.Mem()
	n := startLogged(t, disk, nil, "appendonly", "no", "hz", "100")
	c := dial(t, n)
	expect(t, c, "OK", "SET", "before", "1")
	expect(t, c, "OK", "CONFIG", "SET", "appendonly", "yes")
	saved(t, c)
	if got := infoField(t, c, "aof_enabled"); got != "1" {
		t.Fatalf("aof_enabled is %s", got)
	}
	expect(t, c, "OK", "SET", "after", "1")
	crash := disk.Crash(1)
	expect(t, c, "OK", "CONFIG", "SET", "appendonly", "no")
	eventually(t, "the log has ended", func() bool { return infoField(t, c, "aof_enabled") == "0" })
	expect(t, c, "OK", "SET", "unlogged", "1")
	expect(t, c, "OK", "CONFIG", "SET", "appendonly", "yes")
	saved(t, c)
	expect(t, c, "OK", "SET", "last", "1")
	stop(t, n)
	for want, disk := range map[string]vfs.FS{"2": crash, "4": disk} {
		n = startLogged(t, disk, nil)
		c = dial(t, n)
		expect(t, c, want, "DBSIZE")
		expect(t, c, "1", "GET", "after")
		stop(t, n)
	}
}

// TestASnapshotSinceTheLogWasLeftCounts, and without one the log.
func TestASnapshotSinceTheLogWasLeftCounts(t *testing.T) {
	for want, save := range map[string]bool{"without": true, "with": false} {
		disk := vfs.Mem()
		n := startLogged(t, disk, nil)
		c := dial(t, n)
		expect(t, c, "OK", "SAVE")
		expect(t, c, "OK", "SET", "log", "with")
		expect(t, c, "OK", "CONFIG", "SET", "appendonly", "no")
		eventually(t, "the log has ended", func() bool { return infoField(t, c, "aof_enabled") == "0" })
		expect(t, c, "OK", "SET", "log", "without")
		if save {
			expect(t, c, "OK", "SAVE")
		}
		stop(t, n)
		for range 2 {
			n = startLogged(t, disk, nil)
			expect(t, dial(t, n), want, "GET", "log")
			stop(t, n)
		}
	}
}

// TestALogIsKeptWhenTheSnapshotSinceItWasLeftIsDamaged: without that it is all that there is.
func TestALogIsKeptWhenTheSnapshotSinceItWasLeftIsDamaged(t *testing.T) {
	disk := vfs.Mem()
	n := startLogged(t, disk, nil)
	c := dial(t, n)
	fill(t, c, 0, 20)
	expect(t, c, "OK", "CONFIG", "SET", "appendonly", "no")
	eventually(t, "the log has ended", func() bool { return infoField(t, c, "aof_enabled") == "0" })
	expect(t, c, "OK", "SET", "more", "1")
	expect(t, c, "OK", "SAVE")
	stop(t, n)
	damage(t, disk, "/data/dump.rdb")
	if _, err := tryLogged(t, disk, nil); !errors.Is(err, rdb.ErrCorrupt) || !strings.Contains(err.Error(), "/data/dump.rdb") {
		t.Fatalf("the start gives %v", err)
	}
	if err := disk.Remove("/data/dump.rdb"); err != nil {
		t.Fatal(err)
	}
	n = startLogged(t, disk, nil)
	expect(t, dial(t, n), "20", "DBSIZE")
	stop(t, n)
}

// TestALogWithoutASnapshotIsOfNoUse: until there is one the snapshot from before
// is what a start finds.
func TestALogWithoutASnapshotIsOfNoUse(t *testing.T) {
	disk := vfs.Mem()
	n := startLogged(t, disk, nil, "appendonly", "no", "save", "3600 1", "hz", "1")
	c := dial(t, n)
	expect(t, c, "OK", "SET", "k", "saved")
	expect(t, c, "OK", "SAVE")
	expect(t, c, "OK", "SET", "k", "not saved")
	expect(t, c, "OK", "DEBUG", "PAUSE-CRON", "1") // so no snapshot is begun
	expect(t, c, "OK", "CONFIG", "SET", "appendonly", "yes")
	eventually(t, "it is written", func() bool { return infoField(t, c, "aof_enabled") == "1" })
	if got := infoField(t, c, "aof_rewrite_in_progress"); got != "1" {
		t.Errorf("aof_rewrite_in_progress is %s", got)
	}
	expect(t, c, "OK", "SET", "k", "logged")
	crash := disk.Crash(1)
	stop(t, n)
	n = startLogged(t, crash, nil)
	c = dial(t, n)
	expect(t, c, "saved", "GET", "k")
	expect(t, c, "OK", "SET", "k", "logged")
	stop(t, n)
	n = startLogged(t, crash, nil)
	expect(t, dial(t, n), "logged", "GET", "k")
	stop(t, n)
}

func TestDebugLoadsTheLog(t *testing.T) {
	disk := vfs.Mem()
	n := startLogged(t, disk, nil)
	c := dial(t, n)
	for _, command := range everyType() {
		c.Do(command...)
	}
	digest := digestOf(c)
	expect(t, c, "OK", "DEBUG", "LOADAOF")
	expect(t, c, digest, "DEBUG", "DIGEST")
	expect(t, c, "OK", "SAVE")
	expect(t, c, "OK", "SET", "behind", "1")
	digest = digestOf(c)
	for range 2 {
		expect(t, c, "OK", "DEBUG", "LOADAOF")
		expect(t, c, digest, "DEBUG", "DIGEST")
	}
	expect(t, c, "OK", "DEBUG", "RELOAD", "NOSAVE") // back to the snapshot
	expect(t, c, "0", "EXISTS", "behind")
	expect(t, c, "OK", "SET", "more", "1")
	digest = digestOf(c)
	expect(t, c, "OK", "DEBUG", "LOADAOF")
	expect(t, c, digest, "DEBUG", "DIGEST")
	stop(t, n)
	n = startLogged(t, disk, nil)
	expect(t, dial(t, n), digest, "DEBUG", "DIGEST")
	stop(t, n)
}

// TestNothingIsLostWhenTheDiskFailsOrThePowerDuringASnapshot lets each operation of
// two snapshots, and of the trimming behind them, be the last one.
func TestNothingIsLostWhenTheDiskFailsOrThePowerDuringASnapshot(t *testing.T) {
	for cut := int64(0); ; cut++ {
		disk := vfs.Mem()
		var ops atomic.Int64
		var counting atomic.Bool
		faulty := vfs.Faults(disk, func(op vfs.Op) vfs.Fault {
			if counting.Load() && (strings.Contains(op.Name, "dump.rdb") || op.Kind == vfs.OpRemove) && ops.Add(1) > cut {
				return vfs.Fault{Err: vfs.ErrIO}
			}
			return vfs.Fault{}
		})
		n := startLogged(t, faulty, nil, "wal-history-size", "0")
		c := dial(t, n)
		fill(t, c, 0, 30)
		expect(t, c, "OK", "SAVE")
		counting.Store(true)
		fill(t, c, 30, 60)
		c.Do("SAVE")
		expect(t, c, "OK", "SET", "k0", "last")
		counting.Store(false)
		digest := digestOf(c)
		crashed := []vfs.FS{disk.Crash(1), disk.Crash(2)}
		stop(t, n)
		for _, disk := range append(crashed, disk) {
			n := startLogged(t, disk, nil, "wal-history-size", "0")
			if c := dial(t, n); digestOf(c) != digest {
				t.Fatalf("after %d operations %v keys of 60 are there, or others", cut, c.Do("DBSIZE"))
			}
			stop(t, n)
		}
		if ops.Load() <= cut {
			break
		}
	}
}

func TestHeaderOfASnapshot(t *testing.T) {
	histories := []wal.History{{{Epoch: 1, ID: 0xfeed, First: 1}, {Epoch: 2, ID: 1 << 63, First: 7}}, {{Epoch: 1, ID: 3, First: 4}}}
	text := historiesText(histories)
	got, err := parseHistories(text)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(histories) {
		t.Errorf("%q is read as %v, %v", text, got, err)
	}
	for _, bad := range []string{"x", "1:2", "1:2:3,1:2:3", "1:zz:3", "-1:2:3", "1:2:3,", ","} {
		if got, err := parseHistories(bad); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
	cut, err := parseCut("0 18446744073709551615")
	if err != nil || fmt.Sprint(cut) != fmt.Sprint([]shard.Sequence{0, 1<<64 - 1}) {
		t.Errorf("got %v, %v", cut, err)
	}
	if got, err := parseCut("1 -"); err == nil {
		t.Errorf("got %v", got)
	}
}

// FuzzHeaderOfASnapshot reads what other programs may have put into the file: it is
// refused, or is what is written again.
func FuzzHeaderOfASnapshot(f *testing.F) {
	f.Add("0 18446744073709551615", "1:000000000000feed:1,2:8000000000000000:7 1:0000000000000003:4")
	f.Add("1 -", "1:2:3,1:2:3")
	f.Add("", ",:")
	f.Fuzz(func(t *testing.T, cutField, historyField string) {
		if cut, err := parseCut(cutField); err == nil {
			again, err := parseCut(cutText(cut))
			if err != nil || !slices.Equal(again, cut) {
				t.Errorf("%q is read as %v, and that as %v, %v", cutField, cut, again, err)
			}
		}
		if histories, err := parseHistories(historyField); err == nil {
			again, err := parseHistories(historiesText(histories))
			if err != nil || !slices.EqualFunc(again, histories, slices.Equal[wal.History]) {
				t.Errorf("%q is read as %v, and that as %v, %v", historyField, histories, again, err)
			}
		}
	})
}
