package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestGeneratedFilesAreUpToDate fails when the JSON was changed without go
// generate, or a generated file by hand.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	const path = "../../../testdata/commands.json"
	f, err := readFile(path)
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := f.encode()
	if err != nil {
		t.Fatal(err)
	}
	compare(t, path, canonical)
	files, err := render(f)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		compare(t, filepath.Join("..", name), text)
	}
}

func compare(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: run go generate ./internal/command", path)
	}
}

func TestConstNames(t *testing.T) {
	for _, c := range []struct{ prefix, word, want string }{
		{"ID", "get", "IDGet"},
		{"ID", "client|no-evict", "IDClientNoEvict"},
		{"Flag", "no_async_loading", "FlagNoAsyncLoading"},
		{"Key", "RW", "KeyRW"},
		{"Key", "not_key", "KeyNotKey"},
		{"", "working", "Working"},
	} {
		if got := constName(c.prefix, c.word); got != c.want {
			t.Errorf("%q with %q is %s, want %s", c.word, c.prefix, got, c.want)
		}
	}
}

func TestRowsAreChecked(t *testing.T) {
	good := row{Name: "a", Arity: 1, Group: "g", Since: "1.0.0", Summary: "s", Locks: "none", State: "planned"}
	if err := (&file{Commands: []*row{&good}}).check(); err != nil {
		t.Fatal(err)
	}
	for rule, spoil := range map[string]func(*row){
		"no summary":       func(r *row) { r.Summary = "" },
		"no arity":         func(r *row) { r.Arity = 0 },
		"half a key range": func(r *row) { r.Keys = []int{1} },
		"no reason":        func(r *row) { r.State = "refused" },
		"reason for none":  func(r *row) { r.Reason = "why" },
	} {
		bad := good
		spoil(&bad)
		if (&file{Commands: []*row{&bad}}).check() == nil {
			t.Errorf("%s: accepted", rule)
		}
	}
	if (&file{Commands: []*row{&good, &good}}).check() == nil {
		t.Error("the same name twice: accepted")
	}
}
