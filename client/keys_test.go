package client

import (
	"strings"
	"testing"
)

func TestFindSpecKnowsEveryNameInAnyCase(t *testing.T) {
	for i := range table {
		for _, name := range []string{table[i].name, strings.ToLower(table[i].name)} {
			q := newCall()
			q.fill(strings.Fields(name)...)
			if q.spec != &table[i] {
				t.Errorf("%s is taken for %q", name, q.spec.name)
			}
		}
	}
	for _, name := range []string{"", "NOSUCH", "GETX", "GE", "G\x00T", "\x00GET", strings.Repeat("X", 100)} {
		q := newCall()
		q.fill(name)
		if q.spec != unknownCommand {
			t.Errorf("%q is taken for %q", name, q.spec.name)
		}
	}
	q := newCall()
	q.fill("CONFIG", "nosuch")
	if q.spec.name != "CONFIG" {
		t.Errorf("an unknown subcommand is taken for %q", q.spec.name)
	}
}
