package command

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// names maps full names in lower case to rows, the slow way.
func names() map[string]*Spec {
	m := map[string]*Spec{}
	for s := range All() {
		m[s.Name] = s
	}
	return m
}

// anyCase gives a word in random case.
func anyCase(t *rapid.T, word string) string {
	b := []byte(word)
	for i := range b {
		if rapid.Bool().Draw(t, "upper") {
			b[i] = bytes.ToUpper(b[i : i+1])[0]
		}
	}
	return string(b)
}

func TestLookupFindsEveryNameInAnyCase(t *testing.T) {
	all := names()
	rapid.Check(t, func(t *rapid.T) {
		s := Get(ID(rapid.IntRange(0, Count-1).Draw(t, "id")))
		container, sub, isSub := strings.Cut(s.Name, "|")
		args := [][]byte{[]byte(anyCase(t, container))}
		if isSub {
			args = append(args, []byte(anyCase(t, sub)))
		}
		if got := FindAny(args); got != s {
			t.Fatalf("%q finds %v", args, got)
		}
		// A name with one byte more, less or other is another name.
		name := []byte(container)
		switch at := rapid.IntRange(0, len(name)-1).Draw(t, "at"); rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			name[at] ^= byte(1 << rapid.IntRange(0, 7).Draw(t, "bit"))
		case 1:
			name = append(name[:at], name[at+1:]...)
		case 2:
			name = append(name, rapid.Byte().Draw(t, "more"))
		}
		checkLookup(t, all, name)
	})
}

type fataler interface{ Fatalf(string, ...any) }

func checkLookup(t fataler, all map[string]*Spec, name []byte) {
	want := all[asciiLower(name)]
	if bytes.IndexByte(name, '|') >= 0 {
		want = nil // a full name is no word of a request
	}
	if got := LookupAny(name); got != want {
		t.Fatalf("LookupAny(%q) is %v, want %v", name, got, want)
	}
	if want != nil && want.State != Working {
		want = nil
	}
	if got := Lookup(name); got != want {
		t.Fatalf("Lookup(%q) is %v, want %v", name, got, want)
	}
}

func asciiLower(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, string(b))
}

func FuzzLookup(f *testing.F) {
	all := names()
	for _, s := range []string{"", "g", "GET", "config|get", "GeoRadiusByMember_RO", "gEt\x00", "\xc7ET", "@ET", "[et"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, name []byte) { checkLookup(t, all, name) })
}

func TestLower8(t *testing.T) {
	for c := range 256 {
		var x uint64
		for range 8 {
			x = x<<8 | uint64(c)
		}
		if got, want := byte(lower8(x)), lowerByte(byte(c)); got != want {
			t.Errorf("lower8(%#x) is %#x, want %#x", c, got, want)
		}
	}
}

func TestFindTellsContainersAndSubcommands(t *testing.T) {
	for _, c := range []struct{ request, want string }{
		{"get a", "get"}, {"GET", "get"}, {"config get x", "config|get"}, {"Config GET", "config|get"},
		{"config", "config"}, {"command", "command"}, {"config nosuch", ""}, {"nosuch get", ""},
		{"client import-source", ""}, {"function", ""}, {"get get", "get"}, {"get|x", ""}, {"config|get", ""},
	} {
		got := ""
		if s := Find(toArgs(strings.Fields(c.request))); s != nil {
			got = s.Name
		}
		if got != c.want {
			t.Errorf("%q finds %q, want %q", c.request, got, c.want)
		}
	}
	if Find(nil) != nil || Get(IDGet).Subcommand([]byte("get")) != nil {
		t.Error("found something in nothing")
	}
}

func TestLookupsAllocateNothing(t *testing.T) {
	get, args := []byte("GeT"), toArgs([]string{"config", "GET", "x"})
	long := []byte("GEORADIUSBYMEMBER_RO")
	var s *Spec
	if n := testing.AllocsPerRun(100, func() {
		s = Lookup(get)
		s = LookupAny(long)
		s = Find(args)
	}); n != 0 || s == nil {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLookup(b *testing.B) {
	for _, name := range []string{"GET", "mset", "INCRBYFLOAT", "georadiusbymember_ro", "nosuch"} {
		b.Run(name, func(b *testing.B) {
			word := []byte(name)
			for b.Loop() {
				LookupAny(word)
			}
		})
	}
}

func BenchmarkFindSubcommand(b *testing.B) {
	args := toArgs([]string{"CLUSTER", "COUNTKEYSINSLOT", "1"})
	for b.Loop() {
		Find(args)
	}
}
