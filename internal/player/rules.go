package player

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/redistest"
)

// Comparison says how the replies to one command are compared.
type Comparison uint8

// The comparisons.
const (
	// Exact: every byte.
	Exact Comparison = iota
	// Unordered: an array whose elements come in any order.
	Unordered
	// NearSeconds and NearMillis: integers that depend on when the command ran.
	NearSeconds
	NearMillis
	// CodeOnly: errors need to have the same code only, as texts are our own.
	CodeOnly
	// HelloMap: errors exactly, else both are the same type with as many fields.
	HelloMap
	// SameKind: both replies are null or neither is, and of the same type.
	SameKind
	// StricterError: ours may be an error where the other is none, or another one.
	StricterError
	// Shape: errors exactly, else the same type, with as many elements.
	Shape
	// ErrorsOnly: errors exactly, else anything of the same type.
	ErrorsOnly
	// Doubles: as numbers, where they are numbers.
	Doubles
	// Ignored: replies that can't be the same.
	Ignored
)

// comparisons are the words of testdata/differences.json.
var comparisons = map[string]Comparison{
	"unordered": Unordered, "near-seconds": NearSeconds, "near-milliseconds": NearMillis, "code-only": CodeOnly,
	"hello": HelloMap, "same-kind": SameKind, "stricter-error": StricterError, "ignored": Ignored,
	"shape": Shape, "errors-only": ErrorsOnly, "doubles": Doubles,
	"avoided": Exact, // the programs keep away from where they differ
}

// rules are how the replies to commands, in lower case, are compared that are not
// compared exactly.
type rules struct {
	debian map[string]Comparison // with Debian's server
	newer  map[string]Comparison // with newer ones
}

var readRules = sync.OnceValues(func() (*rules, error) {
	d, err := redistest.ReadDifferences()
	if err != nil {
		return nil, err
	}
	r := &rules{debian: map[string]Comparison{}, newer: map[string]Comparison{}}
	for _, row := range d.Replies {
		if err := addRule(r.debian, row); err != nil {
			return nil, err
		}
	}
	for _, row := range d.Newer {
		if err := addRule(r.newer, row); err != nil {
			return nil, err
		}
	}
	for _, row := range d.Replies {
		if _, own := r.newer[row.Command]; !own && !row.Only70 {
			r.newer[row.Command] = comparisons[row.Compare]
		}
	}
	for s := range command.All() { // a row of a group is for those without another
		if _, own := r.newer[s.Name]; !own {
			r.newer[s.Name] = r.newer["@"+s.Group]
		}
	}
	return r, nil
})

func addRule(all map[string]Comparison, row redistest.ReplyDifference) error {
	c, known := comparisons[row.Compare]
	if !known {
		return fmt.Errorf("differences of %s: there is no comparison %q", row.Command, row.Compare)
	}
	if _, twice := all[row.Command]; twice || row.Command[0] != '@' && command.ByName(row.Command) == nil || row.Reason == "" {
		return fmt.Errorf("differences of %s: no such command, no reason, or a second row", row.Command)
	}
	all[row.Command] = c
	return nil
}

// Rule says how the replies to a command are compared, by its name in any case.
// The exceptions stand in testdata/differences.json; a mistake in it is a bug.
func Rule(name string) Comparison { return mustRules().debian[strings.ToLower(name)] }

// rule is [Rule] for the server that the pair has.
func (p Pair) rule(name string) Comparison {
	if p.Newer {
		return mustRules().newer[strings.ToLower(name)]
	}
	return Rule(name)
}

func mustRules() *rules {
	all, err := readRules()
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return all
}

// nearMillis is how much later one server may run a command than the other.
const nearMillis = 5000

// Same compares two raw replies.
func (c Comparison) Same(want, got []byte) bool {
	switch c {
	case Ignored:
		return true
	case NearSeconds:
		return near(want, got, nearMillis/1000)
	case NearMillis:
		return near(want, got, nearMillis)
	case Doubles:
		return sameDoubles(want, got)
	case Unordered:
		return slices.Equal(sortedLines(want), sortedLines(got))
	case HelloMap:
		if want[0] != '-' && got[0] != '-' {
			return bytes.Equal(firstLine(want), firstLine(got))
		}
	case SameKind:
		return want[0] == got[0] && bytes.HasPrefix(want, []byte("$-1")) == bytes.HasPrefix(got, []byte("$-1"))
	case Shape:
		if want[0] == '*' || want[0] == '~' {
			return bytes.Equal(firstLine(want), firstLine(got))
		}
		if want[0] == '$' {
			return SameKind.Same(want, got)
		}
	case ErrorsOnly:
		// Since 7.2 cursors that are no plain numbers are refused.
		if want[0] != '-' || bytes.HasPrefix(got, []byte("-ERR invalid cursor")) {
			return want[0] == got[0] || bytes.HasPrefix(got, []byte("-ERR invalid cursor"))
		}
	case StricterError:
		if got[0] == '-' {
			return true
		}
	case CodeOnly:
		if want[0] == '-' && got[0] == '-' {
			return code(want) == code(got)
		}
	}
	return bytes.Equal(want, got)
}

// near compares integers, and those in arrays.
func near(want, got []byte, distance int64) bool {
	a, b := strings.Split(string(want), "\r\n"), strings.Split(string(got), "\r\n")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		m, errA := integer(a[i])
		n, errB := integer(b[i])
		if a[i] != b[i] && (errA != nil || errB != nil || m < 0 || n < 0 || m-n > distance || n-m > distance) {
			return false
		}
	}
	return true
}

// sameDoubles compares lines as texts or numbers; lengths of texts that are numbers
// may differ.
func sameDoubles(want, got []byte) bool {
	a, b := strings.Split(string(want), "\r\n"), strings.Split(string(got), "\r\n")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] == b[i] || strings.HasPrefix(a[i], "$") && strings.HasPrefix(b[i], "$") {
			continue
		}
		m, errA := strconv.ParseFloat(strings.TrimPrefix(a[i], ","), 64)
		n, errB := strconv.ParseFloat(strings.TrimPrefix(b[i], ","), 64)
		if errA != nil || errB != nil || m != n {
			return false
		}
	}
	return true
}

func integer(line string) (int64, error) {
	return strconv.ParseInt(strings.TrimPrefix(line, ":"), 10, 64)
}

func sortedLines(reply []byte) []string {
	lines := strings.Split(string(reply), "\r\n")
	slices.Sort(lines)
	return lines
}

func firstLine(reply []byte) []byte {
	first, _, _ := bytes.Cut(reply, []byte("\r\n"))
	return first
}

func code(reply []byte) string {
	first, _, _ := strings.Cut(string(reply), " ")
	return first
}
