package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func TestLockKeepsOthersOut(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, err := Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(name); !errors.Is(err, ErrLocked) {
		t.Errorf("the second one gets %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
	again, err := Lock(name)
	if err != nil {
		t.Fatalf("when it was given back: %v", err)
	}
	again.Close()
}

// A folder may be removed and made again while its lock is held.
func TestALockLeavesTheFileOfAnotherAlone(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, err := Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Skip("open files can't be removed here:", err)
	}
	second, err := Lock(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Lock(name); !errors.Is(err, ErrLocked) {
		t.Errorf("the file of the second one is gone: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}

// Of many that come and go, one at a time has the lock.
func TestALockIsHeldByOneAtATime(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	var held, taken atomic.Int64
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for range 200 {
				l, err := Lock(name)
				if err != nil {
					continue
				}
				taken.Add(1)
				if held.Add(1) > 1 {
					t.Error("two have it")
				}
				held.Add(-1)
				l.Close()
			}
		})
	}
	running.Wait()
	if taken.Load() == 0 {
		t.Error("nobody ever had it")
	}
}
