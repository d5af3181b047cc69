package main

import (
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// TestLiveServerAddsNothing: every command of the server is in the file, and a
// file that lacks one gets it with its facts.
func TestLiveServerAddsNothing(t *testing.T) {
	srv := redistest.Start(t)
	f, err := readFile("../../../testdata/commands.json")
	if err != nil {
		t.Fatal(err)
	}
	before := len(f.Commands)
	var get *row
	for i, r := range f.Commands {
		if r.Name == "get" {
			get = r
			f.Commands = append(f.Commands[:i], f.Commands[i+1:]...)
			break
		}
	}
	var out strings.Builder
	if err := f.merge(srv.Addr, &out); err != nil {
		t.Fatal(err)
	}
	if len(f.Commands) != before {
		t.Fatalf("%d rows after, %d before:\n%s", len(f.Commands), before, &out)
	}
	added := f.Commands[len(f.Commands)-1]
	out.Reset()
	if printDiff(&out, get, added); out.Len() > 0 || added.Locks != get.Locks || added.Since != get.Since {
		t.Errorf("GET comes back as %+v, was %+v\n%s", added, get, &out)
	}
}
