package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/topology"
	"github.com/bowline-kv/bowline/internal/vfs"
	"github.com/bowline-kv/bowline/internal/wal"
)

// TestDamagedLogStopsTheStartUntilItIsRepaired flips a bit in the middle of a log.
func TestDamagedLogStopsTheStartUntilItIsRepaired(t *testing.T) {
	dir := t.TempDir()
	n := startLogged(t, nil, nil, "dir", dir)
	c := dial(t, n)
	for i := range 100 {
		expect(t, c, "OK", "SET", fmt.Sprint("k", i), strings.Repeat("v", 2000))
	}
	stop(t, n)
	repair := RepairOptions{Dir: dir, Name: "appendonlydir", Snapshot: "dump.rdb"}
	if d, err := Repair(repair); err != nil || d.Found != nil || fmt.Sprint(d.Last) != "[100]" {
		t.Fatalf("a log that is whole: %+v, %v", d, err)
	}
	segments, err := filepath.Glob(filepath.Join(dir, "appendonlydir", "*"))
	if err != nil || len(segments) < 3 {
		t.Fatalf("files %v, %v", segments, err)
	}
	content, err := os.ReadFile(segments[1])
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(segments[1], content, 0o600); err != nil {
		t.Fatal(err)
	}

	_, err = tryLogged(t, nil, nil, "dir", dir)
	var corrupt *wal.CorruptError
	var hint interface{ Hint() string }
	if !errors.As(err, &corrupt) || corrupt.File != segments[1] || corrupt.Offset == 0 {
		t.Fatalf("the start gives %v", err)
	}
	if !errors.As(err, &hint) || !strings.Contains(hint.Hint(), "bowline repair --dir "+dir+" --appenddirname appendonlydir") {
		t.Errorf("no hint in %#v", err)
	}
	for _, accept := range []bool{false, true} {
		repair.Accept = accept
		d, err := Repair(repair)
		if err != nil || !errors.As(d.Found, &corrupt) || corrupt.File != segments[1] || d.Lost == 0 || d.Seen[0] != 100 || len(d.Last) != 1 || d.Last[0] == 0 || d.Last[0] >= 100 {
			t.Fatalf("repair, accepting the loss: %v: %+v, %v", accept, d, err)
		}
		n, err := tryLogged(t, nil, nil, "dir", dir)
		switch {
		case !accept && !errors.As(err, &corrupt):
			t.Fatalf("a look has repaired it: %v", err)
		case !accept:
			continue
		case err != nil:
			t.Fatal(err)
		}
		expect(t, dial(t, n), fmt.Sprint(d.Last[0]), "DBSIZE")
		stop(t, n)
	}
}

func TestTornEndIsCutOff(t *testing.T) {
	disk := vfs.Mem()
	n := startLogged(t, disk, nil)
	c := dial(t, n)
	expect(t, c, "OK", "SET", "a", "1")
	expect(t, c, "OK", "SET", "b", "1")
	names, err := disk.List("/data/appendonlydir")
	if err != nil {
		t.Fatal(err)
	}
	stop(t, n)
	f, err := disk.Open("/data/appendonlydir/" + names[0])
	if err != nil {
		t.Fatal(err)
	}
	size, _ := f.Size()
	block := make([]byte, size)
	f.ReadAt(block, 0)
	end := len(strings.TrimRight(string(block), "\x00"))
	if _, err := f.WriteAt([]byte("x"), int64(end-1)); err != nil { // in the last record
		t.Fatal(err)
	}
	f.Close()
	n = startLogged(t, disk, nil)
	c = dial(t, n)
	expect(t, c, "1", "GET", "a")
	expect(t, c, "<nil>", "GET", "b")
	stop(t, n)
}

func TestOneNodeAtATimeHasALog(t *testing.T) {
	dir := t.TempDir()
	n := startLogged(t, nil, nil, "dir", dir)
	if _, err := tryLogged(t, nil, nil, "dir", dir); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("a second node: %v", err)
	}
	if _, err := tryLogged(t, nil, nil, "dir", dir, "appendonly", "no"); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("a second node, which would write over the snapshots of the first: %v", err)
	}
	if _, err := Repair(RepairOptions{Dir: dir, Name: "appendonlydir"}); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("a repair meanwhile: %v", err)
	}
	stop(t, n)
	n = startLogged(t, nil, nil, "dir", dir)
	stop(t, n)
}

// TestOtherNumberOfShardsIsRefused, but a snapshot alone has no number of them.
func TestOtherNumberOfShardsIsRefused(t *testing.T) {
	disk := vfs.Mem()
	n := startLogged(t, disk, nil)
	c := dial(t, n)
	expect(t, c, "OK", "SET", "a", "1")
	expect(t, c, "OK", "SAVE")
	stop(t, n)
	withShards := func(shards int) (*Node, error) {
		members := []topology.Member{{ID: topology.NodeIDOf("n"), Host: Loopback, Port: 1}}
		m, err := topology.Even(members, shards)
		if err != nil {
			t.Fatal(err)
		}
		listeners, err := ListenLoopback(1, 0)
		if err != nil {
			t.Fatal(err)
		}
		return Start(Options{Config: n.cfg, Version: "test", Log: quiet(), Listeners: listeners, Files: disk, Map: m, NodeID: members[0].ID})
	}
	if _, err := withShards(2); err == nil || !strings.Contains(err.Error(), "it is of 1 shards, this node has 2") {
		t.Errorf("got %v", err)
	}
	if err := wal.Discard(disk, "/data/appendonlydir"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		n, err := withShards(2)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, dial(t, n), "1", "GET", "a")
		stop(t, n)
	}
}

// TestKeysWhoseTimeIsOverExpireAfterTheStart: the log says nothing of what would
// have happened meanwhile.
func TestKeysWhoseTimeIsOverExpireAfterTheStart(t *testing.T) {
	disk := vfs.Mem()
	n := startLogged(t, disk, nil, "hz", "1")
	c := dial(t, n)
	expect(t, c, "OK", "SET", "k", "old", "PX", "1")
	eventually(t, "it is over", func() bool { return c.Do("EXISTS", "k") == int64(0) })
	expect(t, c, "OK", "SET", "k", "new")
	expect(t, c, "OK", "SET", "short", "v", "PX", "1")
	stop(t, n)
	n = startLogged(t, disk, nil, "hz", "500")
	c = dial(t, n)
	expect(t, c, "new", "GET", "k")
	expect(t, c, "<nil>", "GET", "short")
	eventually(t, "it is gone", func() bool { return c.Do("DBSIZE") == int64(1) })
	stop(t, n)
}
