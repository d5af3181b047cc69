// Gen renders what the client knows of commands from testdata/commands.json: which
// arguments are keys, which commands only read, which are sent to every node and how
// the replies are put together; and a typed method for each, with the table of results
// in results.go.
//
//	go run ./gen    in the folder of the client, as go generate does
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", "..", "root of the repository")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	files, err := render(root)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// render gives the generated files by their path from the root.
func render(root string) (map[string][]byte, error) {
	rows, err := readRows(filepath.Join(root, "testdata", "commands.json"))
	if err != nil {
		return nil, err
	}
	table, err := emitTable(rows)
	if err != nil {
		return nil, fmt.Errorf("render the key table: %w", err)
	}
	methods, err := emitMethods(rows)
	if err != nil {
		return nil, fmt.Errorf("render the typed methods: %w", err)
	}
	coverage, err := emitCoverage(rows)
	if err != nil {
		return nil, fmt.Errorf("render the list of methods: %w", err)
	}
	return map[string][]byte{
		"client/table.go":               table,
		"client/methods.go":             methods,
		"testdata/command_methods.json": coverage,
	}, nil
}

// row is what the client takes from a row of the file. The words are explained there.
type row struct {
	Name     string    `json:"name"`
	Flags    []string  `json:"flags"`
	KeySpecs []keySpec `json:"key_specs"`
	KeyFunc  string    `json:"key_func"`
	Tips     []string  `json:"tips"`
	Summary  string    `json:"summary"`

	Arguments []argument `json:"arguments"`
}

type argument struct {
	Name      string     `json:"name"`
	Type      string     `json:"type"`
	Token     string     `json:"token"`
	Flags     []string   `json:"flags"`
	Arguments []argument `json:"arguments"`
}

type keySpec struct {
	Begin struct {
		Type      string `json:"type"`
		Index     int    `json:"index"`
		Keyword   string `json:"keyword"`
		StartFrom int    `json:"start_from"`
	} `json:"begin"`
	Find struct {
		Type     string `json:"type"`
		LastKey  int    `json:"last_key"`
		KeyStep  int    `json:"key_step"`
		Limit    int    `json:"limit"`
		KeynumAt int    `json:"keynum_at"`
		FirstKey int    `json:"first_key"`
	} `json:"find"`
}

func readRows(path string) ([]row, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f struct {
		Commands []row `json:"commands"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return f.Commands, nil
}
