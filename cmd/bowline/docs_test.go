package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/topology"
)

// The two files that the configuration page shows say the same, and its map is one.
func TestExamplesOfTheConfigurationPageAreRead(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := func(begin string) []byte {
		_, rest, found := strings.Cut(string(text), "\n"+begin)
		content, _, closed := strings.Cut(rest, "\n```")
		if !found || !closed {
			t.Fatalf("no block begins with %q", begin)
		}
		return []byte(begin + content + "\n")
	}
	read := func(name string) string {
		cfg := config.New()
		if err := cfg.LoadFile(name, func(string) ([]byte, error) { return block("# " + name), nil }); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(cfg.Get("*"))
	}
	conf, toml := read("node.conf"), read("node.toml")
	if conf != toml || conf == fmt.Sprint(config.New().Get("*")) {
		t.Errorf("node.conf gives\n%s\nnode.toml\n%s", conf, toml)
	}
	if _, err := topology.Parse(block("version 7")); err != nil {
		t.Error(err)
	}
}
