package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sort"
)

// file is testdata/commands.json.
type file struct {
	About    []string `json:"about"`
	Commands []*row   `json:"commands"`
}

// row is one command or subcommand, in the words of the JSON file. What the
// fields mean is said at command.Spec.
type row struct {
	Name            string     `json:"name"`
	Arity           int        `json:"arity"`
	Flags           []string   `json:"flags,omitempty"`
	Keys            []int      `json:"keys,omitempty"` // first, last, step
	KeySpecs        []keySpec  `json:"key_specs,omitempty"`
	KeyFunc         string     `json:"key_func,omitempty"`
	Categories      []string   `json:"categories,omitempty"`
	Tips            []string   `json:"tips,omitempty"`
	Group           string     `json:"group"`
	Since           string     `json:"since"`
	Valkey          bool       `json:"valkey,omitempty"` // since is a version of Valkey
	Summary         string     `json:"summary"`
	Complexity      string     `json:"complexity,omitempty"`
	DocFlags        []string   `json:"doc_flags,omitempty"`
	DeprecatedSince string     `json:"deprecated_since,omitempty"`
	ReplacedBy      string     `json:"replaced_by,omitempty"`
	Locks           string     `json:"locks"`
	State           string     `json:"state"`
	Reason          string     `json:"reason,omitempty"`
	Arguments       []argument `json:"arguments,omitempty"`
}

type keySpec struct {
	Flags []string `json:"flags"`
	Begin begin    `json:"begin"`
	Find  find     `json:"find"`
}

type begin struct {
	Type      string `json:"type"` // index, keyword, unknown
	Index     int    `json:"index,omitempty"`
	Keyword   string `json:"keyword,omitempty"`
	StartFrom int    `json:"start_from,omitempty"`
}

type find struct {
	Type     string `json:"type"` // range, keynum, unknown
	LastKey  int    `json:"last_key,omitempty"`
	KeyStep  int    `json:"key_step,omitempty"`
	Limit    int    `json:"limit,omitempty"`
	KeynumAt int    `json:"keynum_at,omitempty"`
	FirstKey int    `json:"first_key,omitempty"`
}

type argument struct {
	Name            string     `json:"name"`
	Type            string     `json:"type"`
	KeySpec         *int       `json:"key_spec,omitempty"`
	Token           string     `json:"token,omitempty"`
	Since           string     `json:"since,omitempty"`
	DeprecatedSince string     `json:"deprecated_since,omitempty"`
	Flags           []string   `json:"flags,omitempty"`
	Arguments       []argument `json:"arguments,omitempty"`
}

func readFile(path string) (*file, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	f := new(file)
	if err := dec.Decode(f); err != nil {
		return nil, fmt.Errorf("decode %s: %w", path, err)
	}
	return f, f.check()
}

// check holds what a row must say for the generator to take it.
func (f *file) check() error {
	names := map[string]bool{}
	for _, r := range f.Commands {
		switch {
		case names[r.Name]:
			return fmt.Errorf("command %q is there twice", r.Name)
		case r.Arity == 0 || r.Group == "" || r.Since == "" || r.Summary == "":
			return fmt.Errorf("command %q lacks its arity, group, since or summary", r.Name)
		case len(r.Keys) != 0 && len(r.Keys) != 3:
			return fmt.Errorf("command %q: keys are first, last and step", r.Name)
		case (r.State == "refused") != (r.Reason != ""):
			return fmt.Errorf("command %q: a reason belongs to refused rows, and to them only", r.Name)
		}
		names[r.Name] = true
	}
	return nil
}

// encode writes the file in its canonical form: rows by name, a container
// before its subcommands, one line each, so that a change shows as a line.
func (f *file) encode() ([]byte, error) {
	sort.SliceStable(f.Commands, func(i, j int) bool { return f.Commands[i].Name < f.Commands[j].Name })
	var b bytes.Buffer
	about, err := encodeLine(f.About)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, "{\"about\": %s,\n\"commands\": [\n", about)
	for i, r := range f.Commands {
		line, err := encodeLine(r)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", r.Name, err)
		}
		if i > 0 {
			b.WriteString(",\n")
		}
		b.Write(line)
	}
	b.WriteString("\n]}\n")
	return b.Bytes(), nil
}

// encodeLine is json.Marshal without the escapes meant for web pages.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
