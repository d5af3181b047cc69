package node

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/internal/vfs"
)

// TestALogOfRedisIsNotPassedOver: its data would seem to be gone.
func TestALogOfRedisIsNotPassedOver(t *testing.T) {
	for _, name := range []string{"appendonlydir", "appendonly.aof"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			rc := redistest.Start(t, "--dir", dir, "--appendonly", "yes", "--save", "").Dial(t)
			expect(t, rc, "OK", "SET", "a", "1")
			path := filepath.Join(dir, name)
			if name == "appendonly.aof" { // as Redis before 7 has it
				err := errors.Join(os.RemoveAll(filepath.Join(dir, "appendonlydir")), os.WriteFile(path, nil, 0o600))
				if err != nil {
					t.Fatal(err)
				}
			}
			_, err := tryLogged(t, nil, nil, "dir", dir)
			var redisLog *redisLogError
			if !errors.As(err, &redisLog) || redisLog.path != path {
				t.Fatalf("the start gives %v", err)
			}
			expect(t, rc, "OK", "SAVE")
			if err := os.Rename(path, path+".old"); err != nil {
				t.Fatal(err)
			}
			n := startLogged(t, nil, nil, "dir", dir)
			expect(t, dial(t, n), "1", "GET", "a")
			stop(t, n)
			stop(t, startLogged(t, nil, nil, "dir", dir))
		})
	}
}

// Without a log of its own a node loads the snapshot beside it, as Redis does, and says so.
func TestALogOfRedisIsToldOfByANodeWithoutOne(t *testing.T) {
	const told = "a log of Redis is not read"
	for _, test := range []struct {
		name     string
		files    []string
		settings []string
		refused  bool
		warning  string // "": none
	}{
		{"a log alone", []string{"appendonlydir/appendonly.aof.manifest"}, nil, true, ""},
		{"an old log alone", []string{"appendonly.aof"}, nil, true, ""},
		{"beside a snapshot", []string{"appendonlydir/appendonly.aof.manifest", "dump.rdb"}, nil, false, told},
		{"an old log beside a snapshot", []string{"appendonly.aof", "dump.rdb"}, nil, false, told},
		{"no log", []string{"dump.rdb"}, nil, false, ""},
		{"an empty folder", []string{"appendonlydir/other"}, nil, false, ""},
		{"in memory", []string{"appendonly.aof"}, []string{"durability", "memory"}, false, "what an earlier run has left is not loaded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			disk := vfs.Mem()
			for _, name := range test.files {
				write(t, disk, "/data/"+name)
			}
			var lines strings.Builder
			listeners, err := ListenLoopback(1, 0)
			if err != nil {
				t.Fatal(err)
			}
			n, err := Start(Options{
				Config: settings(t, append([]string{"dir", "/data"}, test.settings...)...), Listeners: listeners, Files: disk,
				Log: slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelWarn})),
			})
			var redisLog *redisLogError
			if refused := errors.As(err, &redisLog); refused != test.refused || !refused && err != nil {
				t.Fatalf("the start gives %v", err)
			}
			if n != nil {
				stop(t, n)
			}
			if got := lines.String(); !strings.Contains(got, test.warning) || test.warning == "" && got != "" {
				t.Errorf("logged %q, want %q", got, test.warning)
			}
		})
	}
}

// write makes a file: an empty snapshot, or an empty one of any other kind.
func write(t *testing.T, disk vfs.FS, name string) {
	t.Helper()
	if err := disk.MkdirAll(filepath.Dir(name)); err != nil {
		t.Fatal(err)
	}
	file, err := disk.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if filepath.Ext(name) != ".rdb" {
		return
	}
	if err := rdb.NewWriter(io.NewOffsetWriter(file, 0), 9).Close(); err != nil {
		t.Fatal(err)
	}
}
