package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestGeneratedFilesAreUpToDate fails when testdata/commands.json was changed without
// go generate ./client, or a generated file by hand.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	const root = "../.."
	files, err := render(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./client", name)
		}
	}
}

func TestCamel(t *testing.T) {
	if got := camel("response", "agg_logical_and"); got != "responseAggLogicalAnd" {
		t.Errorf("got %s", got)
	}
}
