package acl

import (
	"slices"
	"strings"

	"github.com/bowline-kv/bowline/internal/command"
)

// commandSet has a bit for every row of the command table, subcommands included.
type commandSet [(command.Count + 63) / 64]uint64

func (c *commandSet) has(id command.ID) bool { return c[id/64]&(1<<(id%64)) != 0 }

func (c *commandSet) set(id command.ID, on bool) {
	if on {
		c[id/64] |= 1 << (id % 64)
	} else {
		c[id/64] &^= 1 << (id % 64)
	}
}

// startFrom makes it all commands, or none.
func (s *selector) startFrom(all bool) {
	s.allCommands, s.future = all, all
	s.rules, s.firstArgs = nil, nil
	for i := range s.commands {
		s.commands[i] = 0
		if all {
			s.commands[i] = ^uint64(0)
		}
	}
}

// applyCommand reads what follows '+' or '-': a command, a subcommand, a command
// with a first argument, a category.
func (s *selector) applyCommand(text string, allow bool) error {
	if strings.HasPrefix(text, "@") {
		category := command.ParseCategory([]byte(text[1:]))
		if category == 0 {
			return unknownCommand
		}
		for spec := range command.All() {
			if spec.Categories.Has(category) {
				s.allow(spec, allow)
			}
		}
		s.remember(text, allow)
		return nil
	}
	at := strings.LastIndexByte(text, '|')
	if at >= 0 && allow {
		done, err := s.applyFirstArg(text, text[:at], text[at+1:])
		if done || err != nil {
			return err
		}
	}
	spec := command.ByNameAny([]byte(text))
	if spec == nil {
		return unknownCommand
	}
	s.allow(spec, allow)
	s.remember(spec.Name, allow)
	return nil
}

// applyFirstArg allows a command with a first argument only; it is not done when
// the command is a container, so that the argument names a subcommand.
func (s *selector) applyFirstArg(text, name, arg string) (done bool, err error) {
	spec := command.ByNameAny([]byte(name))
	switch {
	case spec == nil:
		return false, unknownCommand
	case spec.Parent != nil:
		return false, subcommandArg
	case arg == "" || strings.ContainsAny(arg, spaces):
		return false, syntax
	case spec.Subcommands != nil:
		return false, nil
	}
	if s.firstArgs == nil {
		s.firstArgs = map[command.ID][]string{}
	}
	args := s.firstArgs[spec.ID]
	if !slices.ContainsFunc(args, func(a string) bool { return command.IsToken([]byte(arg), a) }) {
		s.firstArgs[spec.ID] = append(args, arg)
	}
	s.remember(text, true)
	return true, nil
}

// allow puts a command with all its subcommands into the set, or takes it out.
func (s *selector) allow(spec *command.Spec, on bool) {
	s.commands.set(spec.ID, on)
	delete(s.firstArgs, spec.ID)
	for _, sub := range spec.Subcommands {
		s.commands.set(sub.ID, on)
	}
	if !on {
		s.allCommands = false
	}
}

// remember adds a rule and drops those that it makes superfluous: about the same,
// or about a part of it.
func (s *selector) remember(text string, allow bool) {
	text = lower(text)
	s.rules = slices.DeleteFunc(s.rules, func(old string) bool {
		return old[1:] == text || strings.HasPrefix(old[1:], text) && old[1+len(text)] == '|'
	})
	if allow {
		s.rules = append(s.rules, "+"+text)
	} else {
		s.rules = append(s.rules, "-"+text)
	}
}

// appendCommands prints the rules about commands.
func (s *selector) appendCommands(b []byte) []byte {
	if s.future {
		b = append(b, "+@all"...)
	} else {
		b = append(b, "-@all"...)
	}
	for _, rule := range s.rules {
		b = append(append(b, ' '), rule...)
	}
	return b
}

// allows says whether the set has a command, perhaps for its first argument's sake.
func (s *selector) allows(spec *command.Spec, args [][]byte) bool {
	if s.allCommands || spec.Flags&command.FlagNoAuth != 0 || s.commands.has(spec.ID) {
		return true
	}
	at := 1
	if spec.Parent != nil {
		at = 2
	}
	if len(s.firstArgs) == 0 || len(args) <= at {
		return false
	}
	for _, arg := range s.firstArgs[spec.ID] {
		if command.IsToken(args[at], arg) {
			return true
		}
	}
	return false
}
