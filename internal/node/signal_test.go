package node

import (
	"errors"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/vfs"
)

// A signal stops a node whose data is safe, or when the setting says that it may be lost.
func TestAStopByASignalSavesFirst(t *testing.T) {
	for _, test := range []struct {
		words, points string
		broken        bool // no file can be written
		stops, saved  bool
	}{
		{"default", "3600 1", false, true, true},
		{"default", "3600 1", true, false, false},
		{"now", "3600 1", true, false, false},
		{"force", "3600 1", true, true, false},
		{"now force", "3600 1", true, true, false},
		{"nosave", "3600 1", true, true, false},
		{"nosave", "3600 1", false, true, false},
		{"default", "", true, true, false},
		{"save", "", false, true, true},
		{"save", "", true, false, false},
		{"save force", "", true, true, false},
	} {
		disk := vfs.Mem()
		var broken atomic.Bool
		broken.Store(test.broken)
		files := vfs.Faults(disk, func(op vfs.Op) vfs.Fault {
			if op.Kind == vfs.OpCreate && broken.Load() {
				return vfs.Fault{Err: fs.ErrPermission}
			}
			return vfs.Fault{}
		})
		n, err := startFiles(t, files, "dir", "/data", "save", test.points, "shutdown-on-sigterm", test.words, "stop-writes-on-bgsave-error", "no")
		if err != nil {
			t.Fatal(err)
		}
		expect(t, dial(t, n), "OK", "SET", "a", "1")
		err = n.PrepareStop(config.ShutdownOnSigterm)
		if stops := err == nil; stops != test.stops {
			t.Errorf("%+v: %v", test, err)
		}
		if err != nil { // and goes on
			expect(t, dial(t, n), "OK", "SET", "a", "2")
			broken.Store(false)
			if err := n.PrepareStop(config.ShutdownOnSigterm); err != nil {
				t.Errorf("%+v, when there is room again: %v", test, err)
			}
		}
		stop(t, n)
		file, err := disk.Open("/data/dump.rdb")
		if saved := err == nil; saved != (test.saved || !test.stops) {
			t.Errorf("%+v: the file: %v", test, err)
		}
		if err == nil {
			file.Close()
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// What a signal interrupts is the start. Later its channel is closed, and the node may go on.
func TestALoadAfterASignalIsNotGivenUp(t *testing.T) {
	listeners, err := ListenLoopback(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	interrupt := make(chan struct{})
	n, err := Start(Options{
		Config: settings(t, "dir", "/data", "enable-debug-command", "yes"), Log: slog.New(slog.DiscardHandler), Listeners: listeners, Files: vfs.Mem(), Interrupt: interrupt,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, n)
	close(interrupt)
	c := dial(t, n)
	expect(t, c, "OK", "SET", "a", "1")
	expect(t, c, "OK", "DEBUG", "RELOAD")
	expect(t, c, "1", "GET", "a")
}
