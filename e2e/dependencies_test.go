package e2e

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/dependencies.md has a reason for every module, and for no other.
func TestEveryDependencyHasItsReason(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page := read("../docs/dependencies.md")
	ours, rest, found := strings.Cut(page, "\n## In e2e\n")
	e2e, bench, both := strings.Cut(rest, "\n## In bench/client\n")
	if !found || !both {
		t.Fatal("docs/dependencies.md lacks the section \"In e2e\" or \"In bench/client\"")
	}
	required := regexp.MustCompile(`(?m)^\s+(\S+\.\S+/\S+) v\S+`)
	row := regexp.MustCompile(`(?m)^\| (\S+\.\S+/\S+) \| .{5,} \|$`)
	for file, part := range map[string]string{"../go.mod": ours, "go.mod": e2e, "../bench/client/go.mod": bench} {
		if want, got := firsts(required, read(file)), firsts(row, part); !slices.Equal(want, got) {
			t.Errorf("%s requires\n  %q\nexplained are\n  %q", file, want, got)
		}
	}
}

func firsts(pattern *regexp.Regexp, text string) []string {
	set := map[string]bool{}
	for _, found := range pattern.FindAllStringSubmatch(text, -1) {
		set[found[1]] = true
	}
	return slices.Sorted(maps.Keys(set))
}
