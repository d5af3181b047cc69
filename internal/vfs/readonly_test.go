package vfs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAFileThatMayOnlyBeReadIsOpened(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("content"), 0o400); err != nil {
		t.Fatal(err)
	}
	if f, err := os.OpenFile(name, os.O_RDWR, 0); err == nil {
		f.Close()
		t.Skip("this user may write every file")
	}
	f, err := OS().Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 7)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "content" {
		t.Errorf("read %q, %v", b, err)
	}
	if _, err := f.WriteAt(b, 0); err == nil {
		t.Error("it was written")
	}
}
