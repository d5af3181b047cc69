package resp

import (
	"slices"
	"testing"
)

// inlineCases are lines and their words; not ok: the quotes are unbalanced.
var inlineCases = []struct {
	line  string
	words []string
	ok    bool
}{
	{"", nil, true},
	{" \t\v\f\r ", nil, true},
	{"GET key", []string{"GET", "key"}, true},
	{"  GET \t key  ", []string{"GET", "key"}, true},
	{"a\rb", []string{"a", "b"}, true},
	{`"a b" 'c d'`, []string{"a b", "c d"}, true},
	{`"" ''`, []string{"", ""}, true},
	{`"\x41\x4a\x4A\xff"`, []string{"AJJ\xff"}, true},
	{`"\n\r\t\b\a\\\"\q"`, []string{"\n\r\t\b\a\\\"q"}, true},
	{`"\x4" "\xZZ" "\x4G" "\x"`, []string{"x4", "xZZ", "x4G", "x"}, true},
	{`'\n\x41\' \\ '`, []string{`\n\x41' \\ `}, true},
	{`'\\'`, nil, false}, // only the quote can be escaped: this one is
	{`'a"b' "a'b"`, []string{`a"b`, `a'b`}, true},
	// A quote may begin inside a word, but must end it.
	{`pre"fix ed"`, []string{"prefix ed"}, true},
	{`pre'fix ed' x`, []string{"prefix ed", "x"}, true},
	{`"a"b`, nil, false},
	{`'a'b`, nil, false},
	{`"a""b"`, nil, false},
	{`"a"` + "\v" + `b`, []string{"a", "b"}, true},
	// Vertical tab and form feed are space before a word, and content in it.
	{"\va\vb\f c", []string{"a\vb\f", "c"}, true},
	{`"a`, nil, false},
	{`'a`, nil, false},
	{`"a\"`, nil, false},
	{`'a\'`, nil, false},
	{`"a\`, nil, false},
	{`"a\x4`, nil, false},
	{`a\b \"`, nil, false},
	{`a\b`, []string{`a\b`}, true},
}

func TestInlineWords(t *testing.T) {
	for _, c := range inlineCases {
		got, ok := splitLine([]byte(c.line), nil)
		if ok != c.ok || ok && !slices.Equal(asStrings(got), c.words) {
			t.Errorf("%q: %q %v, want %q %v", c.line, got, ok, c.words, c.ok)
		}
		naive, naiveOK := naiveSplit(c.line)
		if naiveOK != c.ok || c.ok && !slices.Equal(naive, c.words) {
			t.Errorf("naive: %q: %q %v, want %q %v", c.line, naive, naiveOK, c.words, c.ok)
		}
	}
}
