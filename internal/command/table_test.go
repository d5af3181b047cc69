package command

import (
	"encoding/json"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryJSONRowIsGenerated(t *testing.T) {
	b, err := os.ReadFile("../../testdata/commands.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Commands []struct {
			Name  string
			State string
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	states := map[string]State{"planned": Planned, "working": Working, "refused": Refused}
	var inFile, inTable []string
	for _, r := range file.Commands {
		inFile = append(inFile, r.Name)
		if s := findAnyName(r.Name); s != nil && s.State != states[r.State] {
			t.Errorf("%s is %s in the file, %v in the table", r.Name, r.State, s.State)
		}
	}
	for s := range All() {
		inTable = append(inTable, s.Name)
	}
	if diff := cmp.Diff(inFile, inTable); diff != "" {
		t.Errorf("file (-) and table (+):\n%s", diff)
	}
	if !sort.StringsAreSorted(inTable) || len(inTable) != Count {
		t.Errorf("%d rows, or not sorted", len(inTable))
	}
}

// TestRowsAreConsistent holds what must be true of every row, whichever server
// its facts came from.
func TestRowsAreConsistent(t *testing.T) {
	for s := range All() {
		check := func(ok bool, rule string) {
			t.Helper()
			if !ok {
				t.Errorf("%s: %s", s.Name, rule)
			}
		}
		has := s.Flags.Has
		in := s.Categories.Has
		check(Get(s.ID) == s, "its ID is its place")
		check(!(has(FlagWrite) && has(FlagReadonly)), "a command writes or only reads")
		check(!has(FlagWrite) || in(CategoryWrite), "what writes is in @write")
		check(has(FlagFast) == in(CategoryFast) && in(CategoryFast) != in(CategorySlow), "either fast or slow")
		check(!has(FlagAdmin) || in(CategoryAdmin|CategoryDangerous), "what is for operators is in @admin and @dangerous")
		check(!has(FlagPubsub) || in(CategoryPubsub), "pubsub is in @pubsub")
		check(!has(FlagBlocking) || in(CategoryBlocking), "blocking is in @blocking")
		check(s.Arity != 0 && s.Group != "" && s.Since != "" && s.Summary != "", "says arity, group, since and a summary")
		check(len(s.Summary) < 100 && !strings.HasSuffix(s.Summary, "."), "the summary is one short line")
		check((s.State == Refused) == (s.Reason != ""), "refused with a reason")
		check((s.DeprecatedSince != "") == slices.Contains(s.DocFlags, "deprecated"), "deprecated since a version")
		check(s.Locks != LocksKeys || s.HasKeys(), "locks its keys, so it has some")
		check(s.Parent == nil || s.Arity >= 2 || s.Arity <= -2, "a subcommand has two words")
		check(s.Parent == nil || s.State != Working || s.Parent.State == Working, "a working subcommand is in a working container")
		check(s.Parent == nil || slices.Contains(s.Parent.Subcommands, s), "its container knows it")
		checkKeySpecs(check, s)
	}
}

func checkKeySpecs(check func(bool, string), s *Spec) {
	plain := true
	for i := range s.KeySpecs {
		k := &s.KeySpecs[i]
		plain = plain && k.Begin == BeginIndex && k.Find == FindRange && k.Limit <= 1
		check(k.Find == FindUnknown || k.KeyStep >= 1, "a step of at least one")
		check(k.Begin != BeginIndex || k.Index >= 1 && (s.Parent == nil || k.Index >= 2), "keys come after the name")
		check(k.Find != FindUnknown && k.Begin != BeginUnknown && !k.Flags.Has(KeyIncomplete) || s.KeyFunc != KeyFuncNone,
			"what the specifications cannot say needs a function")
		check(!k.Flags.Has(KeyVariableFlags) || s.KeyFunc != KeyFuncNone, "variable flags need a function")
		kinds := 0
		for _, f := range []KeyFlags{KeyRO, KeyRW, KeyOW, KeyRM} {
			if k.Flags.Has(f) {
				kinds++
			}
		}
		check(kinds == 1 || k.Flags.Has(KeyNotKey), "exactly one of RO, RW, OW and RM")
		// PFCOUNT counts as a read, but may store the count it has computed.
		check(!s.Flags.Has(FlagReadonly) || k.Flags.Has(KeyRO) || s.ID == IDPfcount, "a command that only reads reads its keys")
	}
	check(s.FirstKey == 0 || len(s.KeySpecs) > 0, "a legacy range has a specification")
	check(plain || s.Flags.Has(FlagMovablekeys), "keys that move are marked")
}

func TestCheckArity(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		want bool
	}{
		{"get", 1, false}, {"get", 2, true}, {"get", 3, false},
		{"del", 1, false}, {"del", 2, true}, {"del", 9, true},
		{"ping", 1, true}, {"zrank", 4, true}, {"config|get", 2, false}, {"config|get", 4, true},
	} {
		if got := findAnyName(c.name).CheckArity(c.n); got != c.want {
			t.Errorf("%s with %d arguments: %v", c.name, c.n, got)
		}
	}
}
