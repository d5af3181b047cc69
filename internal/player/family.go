package player

import (
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/command"
)

// besides are commands that programs of every family are mixed with.
var besides = map[string]bool{
	"copy": true, "del": true, "exists": true, "move": true, "pexpireat": true, "persist": true, "rename": true, "set": true, "type": true,
}

// NewFamily takes part with every working command of one group ("hash") that a version
// of Redis has, which come often, and some that treat keys of all types.
func NewFamily(version, group string) *Generator { return NewGenerator(version).family(group) }

// NewWholeFamily is NewFamily with the commands and options that redis-server does
// not have, or that change data by chance.
func NewWholeFamily(group string) *Generator {
	all := &Generator{}
	for s := range command.All() {
		if s.State == command.Working && s.Parent == nil && s.Subcommands == nil {
			all.specs = append(all.specs, s)
		}
	}
	return all.family(group)
}

func (all *Generator) family(group string) *Generator {
	g, others := &Generator{version: all.version}, &Generator{}
	for _, s := range all.specs {
		if s.Group == group {
			g.specs = append(g.specs, s)
		} else if besides[s.Name] {
			others.specs = append(others.specs, s)
		}
	}
	const often = 3
	own := g.specs
	for len(g.specs) < often*len(others.specs) {
		g.specs = append(g.specs, own...)
	}
	g.specs = append(g.specs, others.specs...)
	return g
}

// Settings mixes commands with CONFIG SET of settings, each with its values: those
// that decide about forms.
func Settings(programs *rapid.Generator[[][]string], settings map[string][]string) *rapid.Generator[[][]string] {
	if len(settings) == 0 {
		return programs
	}
	names := slices.Sorted(maps.Keys(settings))
	return rapid.Custom(func(t *rapid.T) [][]string {
		var mixed [][]string
		for _, args := range programs.Draw(t, "program") {
			if rapid.IntRange(0, 9).Draw(t, "set") == 0 {
				name := rapid.SampledFrom(names).Draw(t, "setting")
				mixed = append(mixed, []string{"CONFIG", "SET", name, rapid.SampledFrom(settings[name]).Draw(t, "value")})
			}
			mixed = append(mixed, args)
		}
		return mixed
	})
}
