package node

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/vfs"
	"github.com/bowline-kv/bowline/internal/wal"
)

// edit changes the bytes of a file from an offset on.
func edit(t *testing.T, disk vfs.FS, path string, off int64, change func(b []byte)) {
	t.Helper()
	f, err := disk.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 5000)
	n, err := f.ReadAt(b, off)
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	change(b[:n])
	if _, err := f.WriteAt(b[:n], off); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
}

// placeOf finds the record of a key in the log.
func placeOf(t *testing.T, disk vfs.FS, key string) (path string, off int64) {
	t.Helper()
	names, err := disk.List("/data/appendonlydir")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path = "/data/appendonlydir/" + name
		if !strings.HasSuffix(name, ".wal") {
			continue
		}
		f, err := disk.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		size, _ := f.Size()
		b := make([]byte, size)
		f.ReadAt(b, 0)
		f.Close()
		if i := bytes.Index(b, []byte(key)); i >= 0 {
			return path, int64(i)
		}
	}
	t.Fatalf("%s is not in the log", key)
	return "", 0
}

// harms are kinds of damage to a segment, at a record of it.
var harms = map[string]func(t *testing.T, disk *vfs.MemFS, path string, off int64){
	"a bit": func(t *testing.T, disk *vfs.MemFS, path string, off int64) {
		edit(t, disk, path, off, func(b []byte) { b[0] ^= 1 })
	},
	"a page": func(t *testing.T, disk *vfs.MemFS, path string, off int64) {
		edit(t, disk, path, off-off%4096, func(b []byte) { clear(b[:4096]) })
	},
	"the header": func(t *testing.T, disk *vfs.MemFS, path string, _ int64) {
		edit(t, disk, path, 0, func(b []byte) { b[20]++ })
	},
	"the file": func(t *testing.T, disk *vfs.MemFS, path string, _ int64) {
		if err := disk.Remove(path); err != nil {
			t.Fatal(err)
		}
	},
}

// TestDamageWhereASnapshotHasItLosesNothing harms the log before and behind what the two
// snapshots have, each time with both of them, with the older and with none. A start either
// has everything, or it is refused; then a repair keeps what is before the damage.
func TestDamageWhereASnapshotHasItLosesNothing(t *testing.T) {
	settings := []string{"wal-history-size", "10mb", "wal-segment-size", "32kb"}
	whole := vfs.Mem()
	n := startLogged(t, whole, nil, settings...)
	c := dial(t, n)
	const before, between, behind = 30, 90, 150 // in the middle of what they lack
	fill(t, c, 0, 60)
	expect(t, c, "OK", "SAVE")
	fill(t, c, 60, 120)
	expect(t, c, "OK", "SAVE")
	fill(t, c, 120, 180)
	digest := digestOf(c)
	stop(t, n)
	for kind, harm := range harms {
		for _, key := range []int{before, between, behind} {
			for snapshots, has := range []int{0, 60, 120} {
				t.Run(fmt.Sprintf("%s at %d with %d", kind, key, has), func(t *testing.T) {
					disk := whole.Crash(0)
					path, off := placeOf(t, disk, fmt.Sprintf("k%d", key))
					harm(t, disk, path, off)
					if snapshots < 2 {
						damage(t, disk, "/data/dump.rdb")
					}
					if snapshots < 1 {
						damage(t, disk, "/data/dump.rdb.previous")
					}
					if has > key+15 {
						startsWhole(t, disk, 180, digest, settings)
					} else {
						isRepaired(t, disk, key, 180, settings)
					}
				})
			}
		}
	}
}

// startsWhole checks that a start passes over damage, and so do those after.
func startsWhole(t *testing.T, disk *vfs.MemFS, last int, digest string, settings []string) {
	t.Helper()
	d, err := repair(disk, "/data/appendonlydir", "/data/dump.rdb", true)
	if err != nil || d.Found != nil || len(d.Passed) != 1 || int(d.Last[0]) != last {
		t.Fatalf("repair: %+v, %v", d, err)
	}
	for range 2 {
		n := startLogged(t, disk, nil, settings...)
		c := dial(t, n)
		if got := digestOf(c); got != digest {
			t.Fatalf("%v keys of %d are there, or others", c.Do("DBSIZE"), last)
		}
		expect(t, c, "OK", "SET", "more", "1")
		digest = digestOf(c)
		stop(t, n)
	}
}

// isRepaired checks that a start is refused, and that a repair keeps everything before the
// damage at a key.
func isRepaired(t *testing.T, disk *vfs.MemFS, key, seen int, settings []string) {
	t.Helper()
	var corrupt *wal.CorruptError
	if _, err := tryLogged(t, disk, nil, settings...); !errors.As(err, &corrupt) {
		t.Fatalf("the start gives %v", err)
	}
	look, err := repair(disk, "/data/appendonlydir", "/data/dump.rdb", false)
	if err != nil || look.Found == nil || int(look.Seen[0]) != seen || int(look.Last[0]) > key {
		t.Fatalf("a look: %+v, %v", look, err)
	}
	d, err := repair(disk, "/data/appendonlydir", "/data/dump.rdb", true)
	if err != nil || fmt.Sprint(d) != fmt.Sprint(look) || int(d.Last[0]) < key-12 {
		t.Fatalf("repair: %+v, %v", d, err)
	}
	goesOn(t, disk, int(d.Last[0]), settings)
}

// goesOn checks that a repaired log has so many keys, and is written on by two starts.
func goesOn(t *testing.T, disk *vfs.MemFS, keys int, settings []string) {
	t.Helper()
	for more := range 2 {
		n := startLogged(t, disk, nil, settings...)
		c := dial(t, n)
		expect(t, c, fmt.Sprint(keys+more), "DBSIZE")
		expect(t, c, "OK", "SET", "more", "1")
		stop(t, n)
	}
}

// copyFile copies a file from one disk to another.
func copyFile(t *testing.T, from, to vfs.FS, path string) {
	t.Helper()
	f, err := from.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, _ := f.Size()
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	g, err := to.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if _, err := g.WriteAt(b, 0); err != nil {
		t.Fatal(err)
	}
}

// cutFiles cuts a file of the log, to nothing if off is 0, and removes those with a suffix
// that come after it.
func cutFiles(t *testing.T, disk vfs.FS, path string, off int64, suffix string) {
	t.Helper()
	f, err := disk.Open(path)
	if err == nil {
		err = errors.Join(f.Truncate(off), f.Close())
	}
	names, _ := disk.List("/data/appendonlydir")
	for _, name := range names {
		name = "/data/appendonlydir/" + name
		if strings.HasSuffix(name, suffix) && (name > path || off == 0 && name == path) {
			err = errors.Join(err, disk.Remove(name))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestALogThatLacksItsEndIsRefused: the newest segments are gone, or the log is of before
// the snapshot. What the snapshot has, and what is left, is there after a repair.
func TestALogThatLacksItsEndIsRefused(t *testing.T) {
	settings := []string{"wal-segment-size", "32kb", "wal-history-size", "10mb"}
	disk := vfs.Mem()
	n := startLogged(t, disk, nil, settings...)
	fill(t, dial(t, n), 0, 60)
	stop(t, n)
	older := disk.Crash(0)
	n = startLogged(t, disk, nil, settings...)
	c := dial(t, n)
	fill(t, c, 60, 120)
	expect(t, c, "OK", "SAVE")
	fill(t, c, 120, 180)
	stop(t, n)
	path, _ := placeOf(t, disk, "k179")
	for name, c := range map[string]struct {
		harm func(disk *vfs.MemFS)
		says string
		left int
	}{
		"the newest segments are gone": {func(disk *vfs.MemFS) { cutFiles(t, disk, path, 0, ".wal") }, "the segment is missing", 0},
		"the end is gone, and the mark": {func(disk *vfs.MemFS) {
			key := 100
			path, off := placeOf(t, disk, fmt.Sprint("k", key))
			for ; off < 3*4096; key++ {
				path, off = placeOf(t, disk, fmt.Sprint("k", key))
			}
			cutFiles(t, disk, path, off, "")
		}, "the end of the log is missing", 120},
		"an older log": {func(disk *vfs.MemFS) {
			names, _ := disk.List("/data/appendonlydir")
			for _, name := range names {
				disk.Remove("/data/appendonlydir/" + name)
			}
			names, _ = older.List("/data/appendonlydir")
			for _, name := range names {
				copyFile(t, older, disk, "/data/appendonlydir/"+name)
			}
		}, "the end of the log is missing", 120},
	} {
		t.Run(name, func(t *testing.T) {
			disk := disk.Crash(0)
			c.harm(disk)
			var damaged *damagedError
			if _, err := tryLogged(t, disk, nil, settings...); !errors.As(err, &damaged) || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("the start gives %v", err)
			}
			d, err := repair(disk, "/data/appendonlydir", "/data/dump.rdb", true)
			if err != nil || d.Found == nil || d.Last[0] < 120 || c.left > 0 && int(d.Last[0]) != c.left {
				t.Fatalf("repair: %+v, %v", d, err)
			}
			goesOn(t, disk, int(d.Last[0]), settings)
		})
	}
}

// TestALogWithoutRecordsFitsAnyNumberOfShards: the first write of a log was torn, or a repair
// left nothing of it, so that it does not tell how many shards it is of.
func TestALogWithoutRecordsFitsAnyNumberOfShards(t *testing.T) {
	const first = "/data/appendonlydir/0000000001.wal"
	for name, c := range map[string]struct {
		keys int
		harm func(t *testing.T, disk *vfs.MemFS)
	}{
		"torn": {0, func(t *testing.T, disk *vfs.MemFS) {
			edit(t, disk, first, 4096+24+20, func(b []byte) { clear(b[:4000]) })
		}},
		"the first is gone":  {20, func(t *testing.T, disk *vfs.MemFS) { edit(t, disk, first, 0, func(b []byte) { b[20]++ }) }},
		"but for one record": {20, func(t *testing.T, disk *vfs.MemFS) { edit(t, disk, first, 4096+24+20, func(b []byte) { b[0]++ }) }},
	} {
		t.Run(name, func(t *testing.T) {
			disk := vfs.Mem()
			n := startTwoShards(t, disk)
			conn := dial(t, n)
			for i := range c.keys {
				expect(t, conn, "OK", "SET", fmt.Sprint("k", i), "v")
			}
			stop(t, n)
			c.harm(t, disk)
			if c.keys > 0 {
				if _, err := tryTwoShards(t, disk); err == nil {
					t.Fatal("the node has started")
				}
				d, err := repair(disk, "/data/appendonlydir", "/data/dump.rdb", true)
				if err != nil || d.Found == nil {
					t.Fatalf("repair: %+v, %v", d, err)
				}
			}
			for i := range 2 {
				n := startTwoShards(t, disk)
				conn := dial(t, n)
				expect(t, conn, fmt.Sprint(2*i), "DBSIZE")
				expect(t, conn, "OK", "SET", fmt.Sprint("a", i), "v")
				expect(t, conn, "OK", "SET", fmt.Sprint("b", i), "v")
				stop(t, n)
			}
		})
	}
}

// TestARepairTellsThatRecordsAreMissing between what is left of the snapshots and the log.
func TestARepairTellsThatRecordsAreMissing(t *testing.T) {
	settings := []string{"wal-segment-size", "32kb", "wal-history-size", "0"}
	disk := vfs.Mem()
	n := startLogged(t, disk, nil, settings...)
	c := dial(t, n)
	for i := range 3 {
		fill(t, c, 60*i, 60*i+60)
		expect(t, c, "OK", "SAVE")
	}
	stop(t, n)
	damage(t, disk, "/data/dump.rdb")
	if d, err := repair(disk, "/data/appendonlydir", "/data/dump.rdb", false); err != nil || d.Found != nil {
		t.Errorf("with the older snapshot: %+v, %v", d, err)
	}
	damage(t, disk, "/data/dump.rdb.previous")
	var missing *wal.MissingError
	if d, err := repair(disk, "/data/appendonlydir", "/data/dump.rdb", false); !errors.As(err, &missing) || missing.After != 0 || missing.Last == 0 {
		t.Errorf("without a snapshot: %+v, %v", d, err)
	}
}

// TestDamageIsPassedOverWithTheOlderSnapshot when that has what was there, and the newer one is
// so damaged that it says something else of the log. Where it says nothing of it, a person has
// to move it away.
func TestDamageIsPassedOverWithTheOlderSnapshot(t *testing.T) {
	settings := []string{"wal-history-size", "10mb", "wal-segment-size", "32kb"}
	whole := vfs.Mem()
	n := startLogged(t, whole, nil, settings...)
	c := dial(t, n)
	fill(t, c, 0, 60)
	expect(t, c, "OK", "SAVE")
	expect(t, c, "OK", "SAVE")
	fill(t, c, 60, 120)
	digest := digestOf(c)
	stop(t, n)
	path, off := placeOf(t, whole, "k30")
	harms["a page"](t, whole, path, off)
	for _, says := range []bool{true, false} {
		disk := whole.Crash(0)
		edit(t, disk, "/data/dump.rdb", 0, func(b []byte) {
			i := bytes.Index(b, []byte(auxHistory))
			if says { // that there was another writer
				i += bytes.IndexByte(b[i:], ':')
				i += bytes.IndexAny(b[i:], "0123456789")
			}
			b[i] ^= 1
		})
		if !says {
			var foreign *foreignError
			if _, err := tryLogged(t, disk, nil, settings...); !errors.As(err, &foreign) {
				t.Fatalf("the start gives %v", err)
			}
			if err := disk.Remove("/data/dump.rdb"); err != nil {
				t.Fatal(err)
			}
		}
		startsWhole(t, disk, 120, digest, settings)
	}
}
