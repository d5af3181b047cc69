package vfs

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// outcomes crashes a disk with many seeds and counts what a look at it tells.
func outcomes(m *MemFS, look func(*MemFS) string) map[string]int {
	seen := map[string]int{}
	for seed := range uint64(400) {
		seen[look(m.Crash(seed))]++
	}
	return seen
}

func expectExactly(t *testing.T, seen map[string]int, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, want) {
		t.Errorf("after crashes there are %q, want %q", got, want)
	}
}

func contentAfter(t *testing.T, name string) func(*MemFS) string {
	return func(m *MemFS) string {
		f, err := m.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return "none"
		}
		must(t, err)
		defer f.Close()
		return content(t, f)
	}
}

func page(c string) string { return strings.Repeat(c, PageSize) }

// brief writes a content as a letter for a sector of one byte.
func brief(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i += sectorSize {
		if c := s[i]; c == 0 {
			b.WriteByte('0')
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func TestCrashKeepsLosesOrZeroesEachPageByItself(t *testing.T) {
	m := Mem()
	f := create(t, m, "/a", page("x")+page("y")+page("z"))
	must(t, f.Sync())
	must(t, m.SyncDir("/"))
	_, err := f.WriteAt([]byte(page("A")), 0)
	must(t, err)
	_, err = f.WriteAt([]byte(page("B")), 2*PageSize)
	must(t, err)
	_, err = f.WriteAt([]byte(page("C")), 2*PageSize)
	must(t, err)
	combined, torn := map[string]bool{}, false
	for s := range outcomes(m, contentAfter(t, "/a")) {
		pages := []string{brief(s[:PageSize]), brief(s[PageSize : 2*PageSize]), brief(s[2*PageSize:])}
		if pages[1] != "yyyyyyyy" {
			t.Fatalf("a page that was not written became %q", pages[1])
		}
		for i, two := range []string{"Ax", "", "Cz"} {
			if i == 2 && pages[i] == "BBBBBBBB" {
				continue
			}
			if two != "" && strings.Trim(strings.TrimLeft(pages[i], two[:1]), two[1:]) != "" && pages[i] != "00000000" {
				t.Fatalf("page %d became %q", i, pages[i])
			}
		}
		torn = torn || strings.Contains(pages[0], "Ax")
		combined[pages[0][:1]+pages[2][:1]] = true
	}
	if len(combined) != 12 || !torn {
		t.Errorf("only %v were seen, torn: %t", combined, torn)
	}
	must(t, f.Sync())
	expectExactly(t, outcomes(m, contentAfter(t, "/a")), page("A")+page("y")+page("C"))
}

func TestCrashMayUndoTruncate(t *testing.T) {
	m := Mem()
	f := create(t, m, "/a", "abc")
	must(t, f.Sync())
	must(t, m.SyncDir("/"))
	must(t, f.Truncate(1))
	seen := outcomes(m, contentAfter(t, "/a"))
	for _, want := range []string{"a", "abc", "a\x00\x00"} {
		if seen[want] == 0 {
			t.Errorf("%q was never seen, only %v", want, seen)
		}
	}
	must(t, f.Sync())
	expectExactly(t, outcomes(m, contentAfter(t, "/a")), "a")
}

func TestCrashUndoesTheLastChangesOfADirectory(t *testing.T) {
	m := Mem()
	must(t, m.MkdirAll("/d"))
	must(t, m.SyncDir("/"))
	for _, name := range []string{"/d/1", "/d/2"} {
		must(t, create(t, m, name, "").Close())
	}
	must(t, m.SyncDir("/d"))
	must(t, create(t, m, "/d/3", "").Close())
	must(t, m.Rename("/d/1", "/d/2"))
	must(t, m.Remove("/d/3"))
	names := func(m *MemFS) string {
		names, err := m.List("/d")
		must(t, err)
		return strings.Join(names, " ")
	}
	expectExactly(t, outcomes(m, names), "1 2", "1 2 3", "2 3", "2")
	must(t, m.SyncDir("/d"))
	expectExactly(t, outcomes(m, names), "2")
}

func TestCrashForgetsADirectoryWhoseParentWasNotSynced(t *testing.T) {
	m := Mem()
	must(t, m.MkdirAll("/d"))
	f := create(t, m, "/d/1", "x")
	must(t, f.Sync())
	must(t, m.SyncDir("/d"))
	expectExactly(t, outcomes(m, contentAfter(t, "/d/1")), "none", "x")
	must(t, m.SyncDir("/"))
	expectExactly(t, outcomes(m, contentAfter(t, "/d/1")), "x")
}

func TestCrashOfRandomOperationsKeepsWhatWasSynced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{fs: Mem(), dir: "/", files: map[string][]byte{}}
		actions := m.actions()
		t.Repeat(actions)
		for name := range m.files {
			f, err := m.fs.Open(m.at(name))
			if err == nil {
				err = errors.Join(f.Sync(), f.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := m.fs.SyncDir("/"); err != nil {
			t.Fatal(err)
		}
		safe := maps.Clone(m.files)
		for name, b := range safe {
			safe[name] = bytes.Clone(b)
		}
		m.check(t, m.fs.(*MemFS).Crash(rapid.Uint64().Draw(t, "seed")))
		// What is not synced changes nothing of the disk that is left from before.
		before := m.fs.(*MemFS).Crash(1)
		t.Repeat(actions)
		m.files = safe
		m.check(t, before)
	})
}

func TestDiskInMemoryGetsFull(t *testing.T) {
	m := Mem()
	m.SetCapacity(10)
	f := create(t, m, "/a", "12345")
	if _, err := f.WriteAt([]byte("123456"), 5); !IsNoSpace(err) {
		t.Errorf("a write over the capacity: %v", err)
	}
	if err := f.Allocate(11); !IsNoSpace(err) {
		t.Errorf("Allocate over the capacity: %v", err)
	}
	if got := content(t, f); got != "12345" {
		t.Errorf("the file holds %q", got)
	}
	must(t, m.Remove("/a"))
	if s, _ := m.Space("/"); s.Free != 5 {
		t.Errorf("free while the removed file is open: %d", s.Free)
	}
	must(t, f.Close())
	if s, _ := m.Space("/"); s.Free != 10 {
		t.Errorf("free after Close: %d", s.Free)
	}
}
