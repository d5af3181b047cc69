package slot

import (
	"slices"
	"strings"
	"testing"
)

func TestAssignmentsRoundTrip(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "",
		"0-100@0,200@1":      "0-100@0,200@1",
		"7":                  "7@0",
		"300-400@16383,0-1":  "300-400@16383,0-1@0",
		"0-5460@0,5461@0007": "0-5460@0,5461@7",
	} {
		list, err := ParseAssignments(text)
		if err != nil {
			t.Errorf("ParseAssignments(%q): %v", text, err)
			continue
		}
		if got := FormatAssignments(list); got != want {
			t.Errorf("ParseAssignments(%q) prints %q, want %q", text, got, want)
		}
	}
}

func TestAssignmentsRefuse(t *testing.T) {
	for text, reason := range map[string]string{
		"0-100@0,100@1":  "slot 100 is assigned twice",
		"5@0,0-9@0":      "slot 5 is assigned twice",
		"0@":             "shard",
		"0@-1":           "shard",
		"0@16384":        "shard",
		"0@1@2":          "shard",
		"@0":             "not a number",
		"0@0,":           "not a number",
		"16384@0":        "not in 0-16383",
		"9-1@0":          "backwards",
		"0-100@0 ,101@0": "shard",
	} {
		list, err := ParseAssignments(text)
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("ParseAssignments(%q) = %v, %v; want an error with %q", text, list, err, reason)
		}
	}
}

func FuzzParseAssignments(f *testing.F) {
	for _, seed := range []string{"", "0-100@0,200@1", "0@16383", "1@1,1@1", "@", "5-4@0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseAssignments(text)
		if err != nil {
			return
		}
		back, err := ParseAssignments(FormatAssignments(list))
		if err != nil || !slices.Equal(back, list) {
			t.Fatalf("%q is %v, which parses back to %v, %v", text, list, back, err)
		}
	})
}
