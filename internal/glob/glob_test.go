package glob

import (
	"slices"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"**", "", false}, {"*", "a", true}, {"?", "", false},
		{"h?llo", "hello", true}, {"h?llo", "hllo", false}, {"h*llo", "heeeello", true}, {"h*llo", "hllo", true},
		{"h[ae]llo", "hallo", true}, {"h[ae]llo", "hillo", false}, {"h[^e]llo", "hello", false}, {"h[^e]llo", "hbllo", true},
		{"h[a-b]llo", "hbllo", true}, {"h[a-b]llo", "hcllo", false}, {"[b-a]", "a", true}, {"[b-a]", "c", false},
		{"a*", "a", true}, {"a***", "a", true}, {"*a", "ba", true}, {"*a", "ab", false}, {"a*b*c", "axxbyyc", true}, {"a*b*c", "axxbyy", false},
		{"*ab", "aab", true}, {"*a?b", "aaxb", true}, {"**a**", "bab", true},
		{`\*`, "*", true}, {`\*`, "a", false}, {`a\`, `a\`, true}, {`\a`, "a", true}, {`\\`, `\`, true}, {`\[a]`, "[a]", true},
		{"[", "a", false}, {"[", "[", false}, {"[a", "a", true}, {"[abc", "c", true}, {"[^", "x", true}, {"[^a", "a", false}, {"[^a", "b", true},
		{"[]", "a", false}, {"[^]", "a", true}, {"[]a]", "]", false}, {`[\]]`, "]", true}, {`[\`, `\`, true}, {`[a\-z]`, "-", true},
		{"[a-]", "a", true}, {"[a-]", "]", true}, {"[a-]", "-", false}, {"[a-", "-", true}, {"[--a]", "0", true}, {"[a-c-e]", "-", true}, {"[a-c-e]", "d", false},
		{"A", "a", false}, {"[A-Z]", "q", false}, {"\xff?", "\xff\x00", true}, {"?", "é", false},
	} {
		if got := Match([]byte(c.pattern), []byte(c.s)); got != c.want {
			t.Errorf("Match(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}

func TestMatchFoldTakesCasesAsEqual(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"MAX*", "maxmemory", true}, {"max*", "MAXMEMORY", true}, {"[A-C]", "b", true}, {"[a-c]", "B", true},
		{"[^A]", "a", false}, {"[@", "`", false}, {"É", "é", false}, {"[Z-a]", "m", false},
	} {
		if got := MatchFold([]byte(c.pattern), []byte(c.s)); got != c.want {
			t.Errorf("MatchFold(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}

// naive tries every run for every '*'; it shares with the package only the
// reading of a single item.
func naive(pattern, s []byte, fold bool) bool {
	switch {
	case len(pattern) == 0:
		return len(s) == 0
	case pattern[0] == '*':
		return naive(pattern[1:], s, fold) || len(s) > 0 && naive(pattern, s[1:], fold)
	case len(s) == 0:
		return false
	}
	next, ok := matchOne(pattern, 0, s[0], fold)
	return ok && naive(pattern[next:], s[1:], fold)
}

func FuzzMatch(f *testing.F) {
	for _, seed := range [][2]string{{"a*b?c", "axxbyc"}, {"[a-", "-"}, {"[^]", "]"}, {`\`, `\`}, {"*a*a*b", "aaaa"}, {"[a-]", "a"}} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, pattern, s []byte) {
		if len(pattern) > 12 || len(s) > 16 || len(s) == 0 {
			Match(pattern, s)
			return // the naive matcher would take too long
		}
		for _, fold := range []bool{false, true} {
			if got, want := match(pattern, s, fold), naive(pattern, s, fold); got != want {
				t.Fatalf("match(%q, %q, %v) = %v, want %v", pattern, s, fold, got, want)
			}
		}
	})
}

func TestManyStarsTakeBoundedWork(t *testing.T) {
	pattern := []byte(strings.Repeat("a*", 2000) + "b")
	text := []byte(strings.Repeat("a", 20000))
	if Match(pattern, text) { // an exponential matcher would never come back
		t.Error("matched")
	}
	n := testing.AllocsPerRun(10, func() { MatchFold(pattern[:20], text[:200]) })
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// words returns all texts of up to n bytes out of alphabet.
func words(alphabet string, n int) []string {
	all, last := []string{""}, []string{""}
	for range n {
		var longer []string
		for _, w := range last {
			for _, c := range []byte(alphabet) {
				longer = append(longer, w+string(c))
			}
		}
		all, last = append(all, longer...), longer
	}
	return all
}

func TestMatchAgreesWithRedis(t *testing.T) {
	c := redistest.Start(t).Dial(t)
	texts := append(words(`a]-\^[`, 2), words("abB*?", 3)...)
	for _, s := range texts {
		c.Do("SET", s, "1")
	}
	patterns := append(words(`[]^a-\*`, 4), words("*?ab", 4)...)
	patterns = append(patterns, "[a-c]b", "[^a-b]*", `[\]-a]`, "[]-a]", "[a-b-c]", `[^\]]`, "[a-]b]", "[^^]", "[^-a]", `*\`, `[a\`)
	for _, pattern := range patterns {
		var got []string
		for _, v := range c.Do("KEYS", pattern).([]any) {
			got = append(got, v.(string))
		}
		var want []string
		for _, s := range texts {
			if Match([]byte(pattern), []byte(s)) {
				want = append(want, s)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if want = slices.Compact(want); !slices.Equal(got, want) {
			t.Errorf("KEYS %q: redis finds %q, Match %q", pattern, got, want)
		}
	}
}

func TestMatchFoldAgreesWithRedis(t *testing.T) {
	c := redistest.Start(t).Dial(t)
	var names []string
	all := c.Do("CONFIG", "GET", "*").([]any)
	for i := 0; i < len(all); i += 2 {
		names = append(names, all[i].(string))
	}
	slices.Sort(names)
	for _, pattern := range []string{"MAX*", "[A-M]*", "[^A-m]*", "*[S-a]*", "?I[M-Z]*", "*_*", "[H]Z", `\H\z*`, "*[9-@]*"} {
		var got, want []string
		reply := c.Do("CONFIG", "GET", pattern).([]any)
		for i := 0; i < len(reply); i += 2 {
			got = append(got, reply[i].(string))
		}
		for _, name := range names {
			if MatchFold([]byte(pattern), []byte(name)) {
				want = append(want, name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("CONFIG GET %q: redis finds %q, MatchFold %q", pattern, got, want)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	pattern, s := []byte("user:*:session:[a-f]*"), []byte("user:12345678:session:cafe")
	for b.Loop() {
		Match(pattern, s)
	}
}
