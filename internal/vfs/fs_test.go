package vfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// each runs a test on every file system that must behave the same.
func each(t *testing.T, test func(t *testing.T, f FS, dir string)) {
	t.Run("os", func(t *testing.T) { test(t, OS(), t.TempDir()) })
	t.Run("mem", func(t *testing.T) { test(t, madeDir(t, Mem(), "/data"), "/data") })
	t.Run("faults", func(t *testing.T) {
		f := Faults(Mem(), func(Op) Fault { return Fault{} })
		test(t, madeDir(t, f, "data"), "data")
	})
}

func madeDir(t *testing.T, f FS, dir string) FS {
	t.Helper()
	if err := f.MkdirAll(dir); err != nil {
		t.Fatal(err)
	}
	return f
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func create(t testing.TB, f FS, name string, content string) File {
	t.Helper()
	file, err := f.Create(name)
	must(t, err)
	_, err = file.WriteAt([]byte(content), 0)
	must(t, err)
	return file
}

func content(t testing.TB, file File) string {
	t.Helper()
	size, err := file.Size()
	must(t, err)
	b := make([]byte, size)
	if _, err := file.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return string(b)
}

func TestFilesKeepWhatIsWritten(t *testing.T) {
	each(t, func(t *testing.T, f FS, dir string) {
		name := filepath.Join(dir, "a")
		file := create(t, f, name, "hello")
		_, err := file.WriteAt([]byte("!"), 7)
		must(t, err)
		must(t, file.Sync())
		if got := content(t, file); got != "hello\x00\x00!" {
			t.Errorf("after a write behind the end: %q", got)
		}
		must(t, file.Truncate(2))
		must(t, file.Truncate(4))
		must(t, file.Close())
		file, err = f.Open(name)
		must(t, err)
		if got := content(t, file); got != "he\x00\x00" {
			t.Errorf("after Truncate: %q", got)
		}
		b := make([]byte, 3)
		if n, err := file.ReadAt(b, 2); n != 2 || err != io.EOF {
			t.Errorf("a read over the end: %d, %v", n, err)
		}
		if n, err := file.ReadAt(b, 9); n != 0 || err != io.EOF {
			t.Errorf("a read behind the end: %d, %v", n, err)
		}
		if _, err := file.WriteAt(b, -1); err == nil {
			t.Error("a write before the start is accepted")
		}
		must(t, file.Close())
		if err := file.Sync(); err == nil {
			t.Error("Sync of a closed file is accepted")
		}
		if _, err := file.WriteAt(b, 0); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("a write to a closed file: %v", err)
		}
		if err := file.Close(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("second Close: %v", err)
		}
	})
}

func TestRoomIsZerosAndNeverShrinks(t *testing.T) {
	for name, room := range map[string]func(File, int64) error{"Allocate": File.Allocate, "Reserve": File.Reserve} {
		each(t, func(t *testing.T, f FS, dir string) {
			file := create(t, f, filepath.Join(dir, "a"), "abc")
			defer file.Close()
			must(t, room(file, 3<<20+5))
			want := append([]byte("abc"), make([]byte, 3<<20+2)...)
			if got := content(t, file); got != string(want) {
				t.Errorf("%s: the file is not what it was, and zeros", name)
			}
			must(t, room(file, 10))
			if size, _ := file.Size(); size != 3<<20+5 {
				t.Errorf("%s of less made it %d bytes", name, size)
			}
		})
	}
}

func TestNamesOfADirectory(t *testing.T) {
	each(t, func(t *testing.T, f FS, dir string) {
		at := func(name string) string { return filepath.Join(dir, name) }
		for _, name := range []string{"c", "a", "b"} {
			must(t, create(t, f, at(name), name).Close())
		}
		must(t, f.MkdirAll(at("sub/deep")))
		must(t, f.MkdirAll(at("sub/deep")))
		must(t, f.Rename(at("a"), at("b")))
		must(t, f.Remove(at("c")))
		must(t, f.SyncDir(dir))
		if names, err := f.List(dir); err != nil || !slices.Equal(names, []string{"b", "sub"}) {
			t.Errorf("names are %q, %v", names, err)
		}
		file, err := f.Open(at("b"))
		must(t, err)
		if got := content(t, file); got != "a" {
			t.Errorf("the renamed file holds %q", got)
		}
		must(t, f.Remove(at("b")))
		if got := content(t, file); got != "a" {
			t.Errorf("a removed file that is open holds %q", got)
		}
		must(t, file.Close())
		for what, err := range map[string]error{
			"Open":    func() error { _, err := f.Open(at("b")); return err }(),
			"Create":  func() error { _, err := f.Create(at("none/x")); return err }(),
			"Rename":  f.Rename(at("b"), at("d")),
			"Remove":  f.Remove(at("b")),
			"List":    func() error { _, err := f.List(at("none")); return err }(),
			"SyncDir": f.SyncDir(at("none")),
		} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s of what is not there: %v", what, err)
			}
		}
		if err := f.Remove(at("sub")); err == nil {
			t.Error("a directory that is not empty was removed")
		}
		if err := f.Rename(at("sub/deep"), at("deep")); err == nil {
			t.Error("a rename into another directory is accepted")
		}
	})
}

func TestSpaceIsThere(t *testing.T) {
	each(t, func(t *testing.T, f FS, dir string) {
		s, err := f.Space(dir)
		if err != nil || s.Total == 0 || s.Free > s.Total {
			t.Errorf("space is %+v, %v", s, err)
		}
	})
}

// model is a directory as a map, with operations that rapid draws.
type model struct {
	fs    FS
	dir   string
	files map[string][]byte
}

var modelName = rapid.SampledFrom([]string{"a", "b", "c"})

func (m *model) at(name string) string { return filepath.Join(m.dir, name) }

// with runs an operation on a file, in both, when the model has it.
func (m *model) with(t *rapid.T, do func(f File, b []byte) ([]byte, error)) {
	name := modelName.Draw(t, "name")
	b, there := m.files[name]
	f, err := m.fs.Open(m.at(name))
	if there != (err == nil) {
		t.Fatalf("open %s: %v, there: %t", name, err, there)
	}
	if !there {
		return
	}
	defer f.Close()
	if m.files[name], err = do(f, b); err != nil {
		t.Fatal(err)
	}
}

func (m *model) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"create": func(t *rapid.T) {
			name := modelName.Draw(t, "name")
			f, err := m.fs.Create(m.at(name))
			if err != nil {
				t.Fatal(err)
			}
			m.files[name] = nil
			f.Close()
		},
		"write": func(t *rapid.T) {
			off, n := rapid.IntRange(0, 10000).Draw(t, "off"), rapid.IntRange(0, 9000).Draw(t, "n")
			m.with(t, func(f File, b []byte) ([]byte, error) {
				b = append(b, make([]byte, max(off+n-len(b), 0))...)
				copy(b[off:], bytes.Repeat([]byte{byte(n)}, n))
				_, err := f.WriteAt(bytes.Repeat([]byte{byte(n)}, n), int64(off))
				if n == 0 { // which extends nothing
					size, _ := f.Size()
					b = b[:size]
				}
				return b, err
			})
		},
		"truncate": func(t *rapid.T) {
			n := rapid.IntRange(0, 20000).Draw(t, "n")
			m.with(t, func(f File, b []byte) ([]byte, error) {
				b = append(b[:min(n, len(b)):min(n, len(b))], make([]byte, max(n-len(b), 0))...)
				return b, f.Truncate(int64(n))
			})
		},
		"sync": func(t *rapid.T) {
			m.with(t, func(f File, b []byte) ([]byte, error) { return b, f.Sync() })
		},
		"rename": func(t *rapid.T) {
			from, to := modelName.Draw(t, "from"), modelName.Draw(t, "to")
			b, there := m.files[from]
			if err := m.fs.Rename(m.at(from), m.at(to)); there != (err == nil) {
				t.Fatalf("rename %s: %v, there: %t", from, err, there)
			}
			if there {
				delete(m.files, from)
				m.files[to] = b
			}
		},
		"remove": func(t *rapid.T) {
			name := modelName.Draw(t, "name")
			_, there := m.files[name]
			if err := m.fs.Remove(m.at(name)); there != (err == nil) {
				t.Fatalf("remove %s: %v, there: %t", name, err, there)
			}
			delete(m.files, name)
		},
		"": func(t *rapid.T) { m.check(t, m.fs) },
	}
}

func (m *model) check(t *rapid.T, f FS) {
	names, err := f.List(m.dir)
	if want := slices.Sorted(maps.Keys(m.files)); err != nil || !slices.Equal(names, want) {
		t.Fatalf("names are %q, %v, want %q", names, err, want)
	}
	for _, name := range names {
		file, err := f.Open(m.at(name))
		if err != nil {
			t.Fatal(err)
		}
		size, _ := file.Size()
		b := make([]byte, size)
		if _, err := file.ReadAt(b, 0); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		if !bytes.Equal(b, m.files[name]) {
			t.Fatalf("%s has %d bytes that are not the %d written", name, len(b), len(m.files[name]))
		}
		file.Close()
	}
}

func TestRandomOperationsLeaveWhatAModelHas(t *testing.T) {
	each(t, func(t *testing.T, f FS, dir string) {
		n := 0
		rapid.Check(t, func(t *rapid.T) {
			n++
			m := &model{fs: f, dir: filepath.Join(dir, "run", string(rune('A'+n%26)), string(rune('A'+n/26))), files: map[string][]byte{}}
			if err := f.MkdirAll(m.dir); err != nil {
				t.Fatal(err)
			}
			t.Repeat(m.actions())
			for name := range m.files {
				f.Remove(m.at(name))
			}
		})
	})
}
