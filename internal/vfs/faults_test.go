package vfs

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestFaultsOfEveryOperation(t *testing.T) {
	var fault map[OpKind]Fault
	var seen []Op
	m := Mem()
	f := Faults(m, func(op Op) Fault {
		seen = append(seen, op)
		return fault[op.Kind]
	})
	file := create(t, f, "/a", "12345")
	fault = map[OpKind]Fault{}
	for kind := OpCreate; kind <= OpAllocate; kind++ {
		fault[kind] = Fault{Err: ErrIO, Done: 2}
	}
	seen = nil
	b := []byte("abc")
	n, err := file.WriteAt(b, 1)
	if n != 2 {
		t.Errorf("a short write says %d bytes", n)
	}
	all := []error{err}
	_, err = file.ReadAt(b, 0)
	all = append(all, err, file.Sync(), file.Truncate(1), file.Allocate(100))
	_, err = f.Create("/b")
	all = append(all, err)
	_, err = f.Open("/a")
	all = append(all, err, f.Rename("/a", "/b"), f.Remove("/a"), f.MkdirAll("/d"), f.SyncDir("/"))
	_, err = f.List("/")
	all = append(all, err)
	_, err = f.Space("/")
	all = append(all, err)
	for i, err := range all {
		if !errors.Is(err, ErrIO) {
			t.Errorf("operation %d gives %v", i, err)
		}
	}
	kinds := map[OpKind]bool{}
	for _, op := range seen {
		kinds[op.Kind] = true
	}
	if len(kinds) != int(OpAllocate)+1 || len(seen) != len(all) {
		t.Errorf("the rule was asked about %d operations of %d kinds", len(seen), len(kinds))
	}
	if seen[0] != (Op{OpWrite, "/a", 1, 3}) {
		t.Errorf("the write was told as %+v", seen[0])
	}
	fault = nil
	if got := content(t, file); got != "1ab45" {
		t.Errorf("the file holds %q", got)
	}
	if names, err := f.List("/"); err != nil || len(names) != 1 {
		t.Errorf("names are %q, %v", names, err)
	}
}

func TestRuleThatBlocksIsAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Faults(Mem(), func(op Op) Fault {
			if op.Kind == OpSync {
				time.Sleep(time.Minute)
			}
			return Fault{}
		})
		file := create(t, f, "/a", "x")
		before := time.Now()
		must(t, file.Sync())
		if took := time.Since(before); took != time.Minute {
			t.Errorf("the sync took %v", took)
		}
	})
}
