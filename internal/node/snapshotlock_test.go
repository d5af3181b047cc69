package node

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bowline-kv/bowline/internal/vfs"
)

// namesIn gives the names of what is in a folder of this machine.
func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	names, err := vfs.OS().List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestASnapshotFileIsOfOneNode(t *testing.T) {
	for _, test := range []struct {
		name          string
		first, second []string
		refused       bool
	}{
		{"both save", nil, nil, true},
		{"both keep logs of other names", []string{"appendonly", "yes"}, []string{"appendonly", "yes", "appenddirname", "other"}, true},
		{"one keeps a log", []string{"appendonly", "yes"}, nil, true},
		{"other names", nil, []string{"dbfilename", "other.rdb"}, false},
		{"one only reads", nil, []string{"save", ""}, false},
		{"both only read", []string{"save", ""}, []string{"save", ""}, false},
		{"one is in memory", nil, []string{"durability", "memory"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			first, err := startFiles(t, nil, append([]string{"dir", dir}, test.first...)...)
			if err != nil {
				t.Fatal(err)
			}
			second, err := startFiles(t, nil, append([]string{"dir", dir}, test.second...)...)
			if refused := errors.Is(err, vfs.ErrLocked); refused != test.refused || !refused && err != nil {
				t.Fatalf("the second start: %v", err)
			}
			if second != nil {
				stop(t, second)
			}
			stop(t, first)
			if second, err = startFiles(t, nil, append([]string{"dir", dir}, test.second...)...); err != nil {
				t.Fatalf("after the end of the first: %v", err)
			}
			stop(t, second)
			for _, name := range namesIn(t, dir) {
				if filepath.Ext(name) == ".lock" {
					t.Errorf("%s is left", name)
				}
			}
		})
	}
}

func TestANodeInMemoryTakesTheFileWithItsFirstSave(t *testing.T) {
	dir := t.TempDir()
	start := func() *Node {
		n, err := startFiles(t, nil, "dir", dir, "durability", "memory")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	first, second := start(), start()
	defer stop(t, second)
	expect(t, dial(t, first), "OK", "SAVE")
	expect(t, dial(t, second), "ERR", "SAVE")
	expect(t, dial(t, first), "OK", "SAVE")
	stop(t, first)
	expect(t, dial(t, second), "OK", "SAVE")
}

func TestDbfilenameOfAnotherNodeIsRefused(t *testing.T) {
	dir := t.TempDir()
	start := func(file string) *Node {
		n, err := startFiles(t, nil, "dir", dir, "dbfilename", file, "enable-protected-configs", "yes")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	first, second := start("a"), start("b")
	defer stop(t, second)
	defer stop(t, first)
	c := dial(t, first)
	if err, ok := c.Do("CONFIG", "SET", "dbfilename", "b").(error); !ok {
		t.Errorf("got %v", err)
	}
	expect(t, c, "OK", "CONFIG", "SET", "dbfilename", "c")
	expect(t, c, "OK", "SAVE")
	want := []string{"b.lock", "c", "c.lock"}
	if got := namesIn(t, dir); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	expect(t, dial(t, second), "OK", "CONFIG", "SET", "dbfilename", "a")
}

func TestRepairLeavesTheFilesOfARunningNodeAlone(t *testing.T) {
	dir := t.TempDir()
	n, err := startFiles(t, nil, "dir", dir)
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, n)
	if err := os.Mkdir(filepath.Join(dir, "log"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Repair(RepairOptions{Dir: dir, Name: "log", Snapshot: "dump.rdb"}); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("got %v", err)
	}
}
