package vfs

import (
	"errors"
	"path/filepath"
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
	again, err := Lock(name)
	if err != nil {
		t.Fatalf("when it was given back: %v", err)
	}
	again.Close()
}
