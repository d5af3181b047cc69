package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// The compatibility matrix is made from the table: run the test with -rewrite
// after a change of a command's state.
const (
	matrixJSON = "../../docs/compatibility-matrix.json"
	matrixPage = "../../docs/compatibility.md"
)

// matrixRow is what the matrix says of a command.
type matrixRow struct {
	Command string `json:"command"`
	Group   string `json:"group"`
	Since   string `json:"since"`
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"`
}

var stateNames = map[State]string{Planned: "planned", Working: "working", Refused: "refused"}

func matrix() []matrixRow {
	var rows []matrixRow
	for s := range All() {
		since := "Redis " + s.Since
		if s.SinceValkey {
			since = "Valkey " + s.Since
		}
		name := strings.ToUpper(strings.ReplaceAll(s.Name, "|", " "))
		rows = append(rows, matrixRow{name, s.Group, since, stateNames[s.State], s.Reason})
	}
	return rows
}

func matrixText(rows []matrixRow) []byte {
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, r := range rows {
		line, _ := json.Marshal(r) // strings only: it can't fail
		b.Write(line)
		if i < len(rows)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	return b.Bytes()
}

func matrixMarkdown(rows []matrixRow, d *redistest.Differences) []byte {
	var b bytes.Buffer
	count := map[string]int{}
	byGroup := map[string][]matrixRow{}
	var groups []string
	for _, r := range rows {
		count[r.State]++
		if byGroup[r.Group] == nil {
			groups = append(groups, r.Group)
		}
		byGroup[r.Group] = append(byGroup[r.Group], r)
	}
	slices.Sort(groups)
	fmt.Fprintf(&b, "# Compatibility\n\nEvery command of Redis 7.4 and Valkey 8, with its subcommands: %d work, %d are planned, %d are refused.\n"+
		"A command that is planned is unknown to clients until then. The same as data: `compatibility-matrix.json`.\n",
		count["working"], count["planned"], count["refused"])
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n\n", g)
		for _, state := range []string{"working", "planned", "refused"} {
			var names []string
			for _, r := range byGroup[g] {
				if r.State != state {
					continue
				}
				name := "`" + r.Command + "`"
				if r.Reason != "" {
					name += " (" + r.Reason + ")"
				}
				names = append(names, name)
			}
			if len(names) > 0 {
				fmt.Fprintf(&b, "- %s: %s\n", state, strings.Join(names, ", "))
			}
		}
	}
	writeDifferences(&b, d)
	return b.Bytes()
}

// writeDifferences writes the part of the page that testdata/differences.json is
// the source of.
func writeDifferences(b *bytes.Buffer, d *redistest.Differences) {
	b.WriteString("\n## Differences from redis-server 7.0.15\n\n" +
		"The tests run commands on both and compare every byte of the replies, but for what follows. The same as data: `testdata/differences.json`.\n")
	row := func(r redistest.ReplyDifference) {
		fmt.Fprintf(b, "- `%s` (%s): %s\n", strings.ToUpper(r.Command), r.Compare, r.Reason)
	}
	section := func(title string) { fmt.Fprintf(b, "\n%s\n\n", title) }
	section("Replies:")
	for _, r := range d.Replies {
		row(r)
	}
	section("What `COMMAND INFO` says:")
	for _, r := range d.Commands {
		fmt.Fprintf(b, "- `%s` (%s): %s\n", strings.ToUpper(strings.ReplaceAll(r.Command, "|", " ")), strings.Join(r.Fields, ", "), r.Reason)
	}
	section("The keys of a request:")
	for _, r := range d.Keys {
		fmt.Fprintf(b, "- `%s`: %s\n", r.Request, r.Reason)
	}
	section("Parameters that Redis does not have:")
	for _, r := range d.Parameters {
		fmt.Fprintf(b, "- `%s`: %s\n", r.Name, r.Reason)
	}
	section("What `CONFIG SET` accepts:")
	for _, r := range d.Values {
		which := "`" + strings.Join(r.Names, "`, `") + "`"
		switch {
		case r.Effect != "":
			which = "parameters that need a restart"
		case r.Kind != "":
			which = "parameters of bytes"
		}
		if len(r.Values) > 0 {
			which += " (" + strings.Join(r.Values, ", ") + ")"
		}
		fmt.Fprintf(b, "- %s: %s\n", which, r.Reason)
	}
	b.WriteString("\n## Differences from Redis 8.0 and Valkey 8.1\n\n" +
		"What came after Redis 7.0 is compared with these: `make newer` fetches both from Debian trixie, without installing them, and runs the tests " +
		"named `Newer`. To run them with other binaries, name these in `BOWLINE_REDIS8` and `BOWLINE_VALKEY8`: `go test -run Newer ./internal/...`. " +
		"Without the variables the tests are skipped.\n\nBeside the differences in replies above:\n\n")
	for _, r := range d.Newer {
		row(r)
	}
}

func TestMatrixIsThatOfTheTable(t *testing.T) {
	rows := matrix()
	for path, want := range map[string][]byte{matrixJSON: matrixText(rows), matrixPage: matrixMarkdown(rows, differences(t))} {
		if *rewrite {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not up to date (%v): run this test with -rewrite", path, err)
		}
	}
}
