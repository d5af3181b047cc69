// Gen keeps the command table: it renders internal/command/table.go and ids.go
// from testdata/commands.json.
//
//	go run ./gen                  render, as go generate does
//	go run ./gen -from host:port  first take the facts of commands that the file
//	                              lacks from a live server (a path names a socket),
//	                              and print where known ones differ
//
// New rows come without a summary, which must be written by hand: the next run
// asks for it. It never changes a row that is there.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	from := flag.String("from", "", "address or socket path of a server to take missing rows from")
	root := flag.String("root", "../..", "root of the repository")
	flag.Parse()
	if err := run(*root, *from, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(root, from string, out io.Writer) error {
	path := filepath.Join(root, "testdata", "commands.json")
	f, err := readFile(path)
	if err != nil {
		return err
	}
	if from != "" {
		if err := f.merge(from, out); err != nil {
			return err
		}
	}
	text, err := f.encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	files, err := render(f)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, "internal", "command", name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// render gives the generated Go files by name.
func render(f *file) (map[string][]byte, error) {
	ids, err := emitIDs(f)
	if err != nil {
		return nil, fmt.Errorf("render ids.go: %w", err)
	}
	table, err := emitTable(f)
	if err != nil {
		return nil, fmt.Errorf("render table.go: %w", err)
	}
	return map[string][]byte{"ids.go": ids, "table.go": table}, nil
}
