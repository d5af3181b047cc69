package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/google/go-cmp/cmp"
)

const vectorPath = "../../testdata/key_vectors.json"

var rewrite = flag.Bool("rewrite", false, "write the files that these tests compare with: key vectors, compatibility matrix")

// vector is one row of testdata/key_vectors.json. To add one, write its args,
// run the tests with -rewrite, and let TestKeyVectorsMatchLiveServer confirm it.
type vector struct {
	Args  []string   `json:"args"`
	Keys  []string   `json:"keys,omitempty"`
	Flags [][]string `json:"flags,omitempty"`
	Error string     `json:"error,omitempty"`
}

type vectorFile struct {
	About   []string `json:"about"`
	Vectors []vector `json:"vectors"`
}

func readVectors(t *testing.T) vectorFile {
	t.Helper()
	b, err := os.ReadFile(vectorPath)
	if err != nil {
		t.Fatal(err)
	}
	var f vectorFile
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// solve fills a vector in by the table.
func solve(t *testing.T, args []string) vector {
	t.Helper()
	v := vector{Args: args}
	s := FindAny(toArgs(args))
	if s == nil {
		t.Fatalf("%q is in no row", args)
	}
	refs, err := s.Keys(toArgs(args), nil)
	switch {
	case errors.Is(err, ErrNoKeys):
		v.Error = "none"
	case errors.Is(err, ErrInvalidArgs):
		v.Error = "invalid"
	}
	for _, r := range refs {
		v.Keys = append(v.Keys, args[r.Index])
		v.Flags = append(v.Flags, r.Flags.Names())
	}
	return v
}

func TestKeyVectors(t *testing.T) {
	f := readVectors(t)
	if *rewrite {
		for i := range f.Vectors {
			f.Vectors[i] = solve(t, f.Vectors[i].Args)
		}
		writeVectors(t, f)
		return
	}
	if len(f.Vectors) < 150 {
		t.Errorf("only %d vectors", len(f.Vectors))
	}
	for _, v := range f.Vectors {
		if diff := cmp.Diff(v, solve(t, v.Args)); diff != "" {
			t.Errorf("%q: file (-) and table (+):\n%s", v.Args, diff)
		}
	}
}

// TestKeyVectorsCoverEveryRule sees that no kind of rule lacks an example.
func TestKeyVectorsCoverEveryRule(t *testing.T) {
	type kind struct {
		begin BeginKind
		find  FindKind
		fn    KeyFunc
		multi bool
	}
	missing := map[kind]string{}
	kinds := func(s *Spec) (out []kind) {
		for _, k := range s.KeySpecs {
			out = append(out, kind{k.Begin, k.Find, s.KeyFunc, len(s.KeySpecs) > 1})
		}
		return out
	}
	for s := range All() {
		for _, k := range kinds(s) {
			missing[k] = s.Name
		}
	}
	for _, v := range readVectors(t).Vectors {
		for _, k := range kinds(FindAny(toArgs(v.Args))) {
			delete(missing, k)
		}
	}
	for k, name := range missing {
		t.Errorf("no vector for rules like %+v, as in %s", k, name)
	}
}

func writeVectors(t *testing.T, f vectorFile) {
	t.Helper()
	line := func(v any) []byte {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		return bytes.TrimSpace(b.Bytes())
	}
	var b bytes.Buffer
	b.WriteString("{\"about\": ")
	b.Write(line(f.About))
	b.WriteString(",\n\"vectors\": [\n")
	for i, v := range f.Vectors {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.Write(line(v))
	}
	b.WriteString("\n]}\n")
	if err := os.WriteFile(vectorPath, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestKeyVectorsMatchLiveServer(t *testing.T) {
	conn := redistest.Start(t).Dial(t)
	differ := map[string]string{}
	for _, row := range differences(t).Keys {
		differ[row.Request] = row.Reason
	}
	for _, v := range readVectors(t).Vectors {
		got := liveVector(t, conn, v.Args)
		if got == nil {
			continue
		}
		if reason := differ[strings.Join(v.Args, " ")]; reason != "" {
			if cmp.Equal(v, *got) {
				t.Errorf("%q is no difference any more: %s", v.Args, reason)
			}
			continue
		}
		want := v
		if slices.ContainsFunc(want.Flags, func(f []string) bool { return slices.Contains(f, "not_key") }) {
			want = vector{Args: v.Args, Error: "none"} // COMMAND GETKEYS knows no channels
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%q: file (-) and server (+):\n%s", v.Args, diff)
		}
	}
}

// liveVector asks the server; nil when it knows the command in no such form.
func liveVector(t *testing.T, conn *redistest.Conn, args []string) *vector {
	t.Helper()
	v := &vector{Args: args}
	switch reply := conn.Do(append([]string{"COMMAND", "GETKEYSANDFLAGS"}, args...)...).(type) {
	case redistest.Error:
		switch reply {
		case "ERR Invalid command specified", "ERR Invalid number of arguments specified for command",
			"ERR wrong number of arguments for 'command|getkeysandflags' command":
			return nil
		case "ERR The command has no key arguments":
			v.Error = "none"
		case "ERR Invalid arguments specified for command":
			v.Error = "invalid"
		default:
			t.Fatalf("%q: %s", args, reply)
		}
	case []any:
		for _, e := range reply {
			pair := e.([]any)
			v.Keys = append(v.Keys, pair[0].(string))
			v.Flags = append(v.Flags, simpleStrings(pair[1]))
		}
	}
	return v
}

func simpleStrings(v any) []string {
	out := []string{}
	list, ok := v.([]any)
	if set, isSet := v.(redistest.Set); isSet {
		list, ok = set, true
	}
	if !ok {
		return nil
	}
	for _, e := range list {
		switch e := e.(type) {
		case redistest.Simple:
			out = append(out, string(e))
		case string:
			out = append(out, e)
		}
	}
	return out
}

func toArgs(args []string) [][]byte {
	out := make([][]byte, len(args))
	for i, a := range args {
		out[i] = []byte(a)
	}
	return out
}
