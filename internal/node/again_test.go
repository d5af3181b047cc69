package node

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bowline-kv/bowline/internal/vfs"
)

// TestALogBehindDataThatNoLogHasNeedsItsSnapshot: with the log alone, a start would
// lack all that was there before.
func TestALogBehindDataThatNoLogHasNeedsItsSnapshot(t *testing.T) {
	begin := map[string]func(t *testing.T, disk vfs.FS) *Node{
		"at a start": func(t *testing.T, disk vfs.FS) *Node { return startLogged(t, disk, nil) },
		"by CONFIG SET": func(t *testing.T, disk vfs.FS) *Node {
			n := startLogged(t, disk, nil, "appendonly", "no", "hz", "100")
			c := dial(t, n)
			expect(t, c, "OK", "CONFIG", "SET", "appendonly", "yes")
			eventually(t, "the log is begun", func() bool { return infoField(t, c, "aof_enabled") == "1" })
			saved(t, c)
			return n
		},
		"by DEBUG RELOAD": func(t *testing.T, disk vfs.FS) *Node {
			n := startLogged(t, disk, nil)
			expect(t, dial(t, n), "OK", "DEBUG", "RELOAD")
			return n
		},
	}
	for name, begin := range begin {
		t.Run(name, func(t *testing.T) {
			disk := vfs.Mem()
			n := startLogged(t, disk, nil, "appendonly", "no")
			c := dial(t, n)
			expect(t, c, "OK", "SET", "before", "1")
			expect(t, c, "OK", "SAVE")
			stop(t, n)
			n = begin(t, disk)
			c = dial(t, n)
			expect(t, c, "OK", "SET", "behind", "1")
			stop(t, n)
			n = startLogged(t, disk, nil)
			expect(t, dial(t, n), "2", "DBSIZE")
			stop(t, n)
			damage(t, disk, "/data/dump.rdb")
			if _, err := tryLogged(t, disk, nil); err == nil || !strings.Contains(err.Error(), "dump.rdb") {
				t.Errorf("with a damaged snapshot the start gives %v", err)
			}
			if err := disk.Remove("/data/dump.rdb"); err != nil {
				t.Fatal(err)
			}
			if _, err := tryLogged(t, disk, nil); err == nil || !strings.Contains(err.Error(), "dump.rdb") {
				t.Errorf("without the snapshot the start gives %v", err)
			}
		})
	}
}

const noLog = "ERR DEBUG LOADAOF needs a log: appendonly yes"

// TestDebugLoadAOFKeepsTheDataWithoutALogThatHasIt: the log may have just been left,
// or begun.
func TestDebugLoadAOFKeepsTheDataWithoutALogThatHasIt(t *testing.T) {
	n := startLogged(t, vfs.Mem(), nil, "hz", "1")
	c := dial(t, n)
	expect(t, c, "OK", "SET", "a", "1")
	for _, on := range []string{"no", "yes"} {
		expect(t, c, "OK", "CONFIG", "SET", "appendonly", on)
		c.Do("DEBUG", "LOADAOF") // it works or not
		expect(t, c, "1", "GET", "a")
	}
	expect(t, c, "OK", "DEBUG", "PAUSE-CRON", "1") // so no snapshot is begun
	expect(t, c, "OK", "CONFIG", "SET", "appendonly", "no")
	eventually(t, "the log is left", func() bool { return infoField(t, c, "aof_enabled") == "0" })
	expect(t, c, noLog, "DEBUG", "LOADAOF")
	expect(t, c, "OK", "CONFIG", "SET", "appendonly", "yes")
	eventually(t, "the log is begun", func() bool { return infoField(t, c, "aof_enabled") == "1" })
	expect(t, c, noLog, "DEBUG", "LOADAOF")
	expect(t, c, "1", "GET", "a")
	stop(t, n)
}

// TestTheNodeEndsWhenDebugLoadAOFFails, so that no snapshot of a part of the data is
// written.
func TestTheNodeEndsWhenDebugLoadAOFFails(t *testing.T) {
	disk := vfs.Mem()
	var failed atomic.Bool
	n := startLogged(t, disk, func(error) { failed.Store(true) }, "wal-history-size", "0", "save", "3600 1")
	c := dial(t, n)
	fill(t, c, 0, 50)
	expect(t, c, "OK", "SAVE")
	fill(t, c, 50, 100)
	expect(t, c, "OK", "SAVE")
	whole := digestOf(c)
	damaged := disk.Crash(1)
	damage(t, disk, "/data/dump.rdb")
	damage(t, disk, "/data/dump.rdb.previous")
	expect(t, c, "ERR Error trying to load the AOF files, check server logs.", "DEBUG", "LOADAOF")
	if !failed.Load() {
		t.Error("the node goes on")
	}
	n.Stop(context.Background())
	n = startLogged(t, damaged, nil)
	expect(t, dial(t, n), whole, "DEBUG", "DIGEST")
	stop(t, n)
}

// TestAnErrorThatChangesNothingDoesNotKeepANodeFromItsLastSnapshot.
func TestAnErrorThatChangesNothingDoesNotKeepANodeFromItsLastSnapshot(t *testing.T) {
	disk := vfs.Mem()
	n := startLogged(t, disk, nil, "appendonly", "no", "save", "3600 1")
	c := dial(t, n)
	expect(t, c, "OK", "SET", "k", "v")
	expect(t, c, noLog, "DEBUG", "LOADAOF")
	stop(t, n)
	n = startLogged(t, disk, nil, "appendonly", "no", "save", "3600 1")
	expect(t, dial(t, n), "v", "GET", "k")
	stop(t, n)
}
