package player

import (
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/command"
)

// Generator makes random commands from the command table.
type Generator struct {
	specs   []*command.Spec
	version string // options that came later don't take part; "": all do
}

// excludedGroups have commands that are about the connection or the process.
var excludedGroups = map[string]bool{"connection": true, "server": true, "cluster": true, "pubsub": true, "scripting": true, "transactions": true}

// included are commands of those groups that are about keys after all.
var included = map[string]bool{"dbsize": true, "flushdb": true, "flushall": true, "swapdb": true}

// excluded commands are played elsewhere, or change data by chance.
var excluded = map[string]bool{"scan": true, "dump": true, "restore": true, "sort": true, "sort_ro": true, "spop": true}

// differs70 are commands that Debian's server has in another form, and differsNewer
// those whose differences from newer servers programs can't keep away from.
var (
	differs70    = map[string]bool{"zrank": true, "zrevrank": true}
	differsNewer = map[string]bool{"lset": true}
)

// DebianVersion is that of Debian's redis-server.
const DebianVersion = "7.0"

// NewGenerator takes part with every working command on keys that a version of Redis has.
func NewGenerator(version string) *Generator {
	g, differs := &Generator{version: version}, differsNewer
	if version == DebianVersion {
		differs = differs70
	}
	for s := range command.All() {
		// Commands that wait are played elsewhere: nobody is there to end the wait.
		if s.Flags&command.FlagBlocking == 0 && s.State == command.Working && s.Parent == nil && s.Subcommands == nil && !excluded[s.Name] && !differs[s.Name] &&
			(!excludedGroups[s.Group] || included[s.Name]) && !s.SinceValkey && upTo(s.Since, version) {
			g.specs = append(g.specs, s)
		}
	}
	return g
}

// upTo says whether a version has what came with another; "" has all.
func upTo(since, version string) bool {
	if version == "" {
		return true
	}
	a, b := majorMinor(since), majorMinor(version)
	return slices.Compare(a[:], b[:]) <= 0
}

func majorMinor(version string) (numbers [2]int) {
	for i, digits := range strings.SplitN(version+".", ".", 3)[:2] {
		numbers[i], _ = strconv.Atoi(digits) // what has no digits is 0
	}
	return numbers
}

// Names lists the commands that take part.
func (g *Generator) Names() []string {
	names := make([]string, len(g.specs))
	for i, s := range g.specs {
		names[i] = s.Name
	}
	return names
}

// Values that commands are made of. Few keys and fields, so that commands meet; numbers at
// the edges; texts that look like numbers or options.
var (
	someKeys    = []string{"a", "b", "c", "{t}x", "", "k\x00\xff"}
	someFields  = []string{"", "v", "f", "10", "k\x00\xff", "hello"}
	someStrings = []string{"", "v", "\xff\xff\x0f", "hello", "10", "-3", "9223372036854775807", "-9223372036854775808", "007", "1.5", "3.0e2", " 1", "\r\n\x00"}
	someInts    = []string{"0", "1", "-1", "7", "12", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "x", "", "1.0"}
	someDoubles = []string{"0", "1.5", "-2.25", "3.0e3", "1e400", "inf", "-inf", "nan", "0.1", "0x1p3", "x", "", "10.000000000000000001"}
	someEnds    = []string{"0", "-1", "1", "2", "(1", "-inf", "+inf", "-", "+", "[1", "(v", "[hello", "x", ""}
	someGlobs   = []string{"*", "?", "[a-b]", "\\a", "{t}*", "k*", "[^a]", "x*y"}
	// Times are over already or far away, so that no reply depends on when a
	// command runs.
	someSpans  = []string{"100000", "2000000", "0", "-1", "9223372036854775807", "9223372036854775", "x"}
	someStamps = []string{"1", "33177117420", "33177117420000", "0", "-5", "9223372036854775807", "x"}
	// Arguments that take few values, by name and type.
	someValues = map[string][]string{
		"bit integer":            {"0", "1", "1", "2", "x"},
		"db integer":             {"0", "1", "2", "3", "16", "-1", "99999999999", "x"},
		"destination-db integer": {"0", "1", "2", "3", "16", "-1", "99999999999", "x"},
		"encoding string":        {"i8", "u8", "i64", "u63", "i1", "u1", "i5", "u13", "i33", "u64", "i0", "x", ""},
		"index1 integer":         {"0", "1", "2", "16", "x"},
		"index2 integer":         {"0", "1", "2", "-1", "99999999999"},
		// Since 7.2 others are refused.
		"cursor integer":    {"0", "0", "1", "7", "12", "18446744073709551616", "x"},
		"numfields integer": {"1", "2", "3", "1", "2", "0", "x"},
		"numkeys integer":   {"1", "2", "3", "1", "2", "3", "0", "-1", "x"},
		"field string":      someFields,
		// Members are short, so that sorted sets stay packed: in large ones, ranges of
		// members depend on chance unless all scores are equal.
		"member string":    someStrings,
		"min string":       someEnds,
		"max string":       someEnds,
		"start string":     someEnds,
		"stop string":      someEnds,
		"min double":       someEnds,
		"max double":       someEnds,
		"operation string": {"AND", "OR", "XOR", "NOT", "and", "foo"},
		"offset integer":   {"0", "1", "5", "7", "8", "31", "64", "100", "#0", "#1", "#3", "-1", "9223372036854775807", "x", ""},
	}
	someNoise = []string{"NX", "XX", "GET", "KEEPTTL", "GT", "foo", "", "-1"}
)

// Programs generates programs of up to n commands, 36 or more; about that many on
// average. They are made of parts: single slices would have some six commands
// only, whatever n.
func (g *Generator) Programs(n int) *rapid.Generator[[][]string] {
	const most = 6
	part := rapid.SliceOfN(rapid.Custom(g.command), 1, n/most)
	return rapid.Map(rapid.SliceOfN(part, 1, most), func(parts [][][]string) [][]string { return slices.Concat(parts...) })
}

// command draws one command: usually a well-formed one, sometimes with an
// argument too many, too few or out of place.
func (g *Generator) command(t *rapid.T) []string {
	s := rapid.SampledFrom(g.specs).Draw(t, "command")
	args := []string{s.Name}
	for i := range s.Arguments {
		if upTo(s.Arguments[i].Since, g.version) {
			args = g.appendArgument(t, args, &s.Arguments[i])
		}
	}
	switch rapid.IntRange(0, 19).Draw(t, "damage") {
	case 0:
		args = append(args, rapid.SampledFrom(someNoise).Draw(t, "extra"))
	case 1:
		if len(args) > 1 {
			args = args[:len(args)-1]
		}
	case 2:
		if len(args) > 1 {
			args[rapid.IntRange(1, len(args)-1).Draw(t, "at")] = rapid.SampledFrom(someNoise).Draw(t, "noise")
		}
	}
	return args
}

func (g *Generator) appendArgument(t *rapid.T, args []string, a *command.Argument) []string {
	times := 1
	for _, f := range a.Flags {
		switch f {
		case "optional":
			if rapid.IntRange(0, 2).Draw(t, "optional") == 0 {
				times = 0
			}
		case "multiple", "multiple_token":
			times *= rapid.IntRange(1, 3).Draw(t, "times")
		}
	}
	for range times {
		if a.Token != "" {
			args = append(args, a.Token)
		}
		args = g.appendValue(t, args, a)
	}
	return args
}

func (g *Generator) appendValue(t *rapid.T, args []string, a *command.Argument) []string {
	pick := func(from []string) []string { return append(args, rapid.SampledFrom(from).Draw(t, a.Name)) }
	if values := someValues[a.Name+" "+a.Type]; values != nil {
		return pick(values)
	}
	switch a.Type {
	case "pure-token":
		return args
	case "oneof":
		known := make([]*command.Argument, 0, len(a.Arguments))
		for i := range a.Arguments {
			if upTo(a.Arguments[i].Since, g.version) {
				known = append(known, &a.Arguments[i])
			}
		}
		return g.appendArgument(t, args, rapid.SampledFrom(known).Draw(t, a.Name))
	case "block":
		for i := range a.Arguments {
			args = g.appendArgument(t, args, &a.Arguments[i])
		}
		return args
	case "key":
		return pick(someKeys)
	case "integer":
		if a.Name == "seconds" || a.Name == "milliseconds" {
			return pick(someSpans)
		}
		return pick(someInts)
	case "double":
		return pick(someDoubles)
	case "unix-time":
		return pick(someStamps)
	case "pattern":
		return pick(someGlobs)
	}
	if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
		return append(args, string(make([]byte, rapid.IntRange(0, 5000).Draw(t, "length"))))
	}
	return pick(someStrings)
}

// Quote writes a command for people.
func Quote(args []string) string {
	var b []byte
	for i, a := range args {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendQuote(b, a)
	}
	return string(b)
}

// Session makes the commands of one of several connections: ordinary ones, and
// those of transactions.
func (g *Generator) Session(n int) *rapid.Generator[[]Turn] {
	turn := rapid.Custom(func(t *rapid.T) Turn {
		who := rapid.IntRange(0, 2).Draw(t, "connection")
		switch rapid.IntRange(0, 11).Draw(t, "kind") {
		case 0, 1:
			return Turn{who, []string{"MULTI"}}
		case 2, 3:
			return Turn{who, []string{"EXEC"}}
		case 4:
			return Turn{who, []string{"DISCARD"}}
		case 5, 6:
			return Turn{who, []string{"WATCH", rapid.SampledFrom(someKeys).Draw(t, "key"), rapid.SampledFrom(someKeys).Draw(t, "key")}}
		case 7:
			return Turn{who, []string{"UNWATCH"}}
		}
		return Turn{who, g.command(t)}
	})
	return rapid.SliceOfN(turn, 1, n)
}

// Turn is a command of one of several connections.
type Turn struct {
	Connection int
	Args       []string
}
