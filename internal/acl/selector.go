package acl

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-kv/bowline/internal/command"
)

// selector is a set of commands, of keys and of channels.
type selector struct {
	// allCommands: no command was ever taken out.
	allCommands bool
	// future: the commands started from all there are, so that those which later
	// versions add are in the set too.
	future    bool
	commands  commandSet
	firstArgs map[command.ID][]string // of commands allowed with these first arguments only
	// rules made the set out of all or no commands: "+get", "-@slow". None makes
	// another superfluous.
	rules []string

	allKeys     bool
	keys        []keyPattern // none twice
	allChannels bool
	channels    [][]byte // patterns, none twice
}

// access is what may be done with a key.
type access uint8

const (
	read access = 1 << iota
	write
)

type keyPattern struct {
	pattern []byte
	access  access
}

func newSelector(d Defaults) *selector { return &selector{allChannels: d.AllChannels} }

func (s *selector) clone() *selector {
	next := *s
	next.rules, next.keys, next.channels = slices.Clone(s.rules), slices.Clone(s.keys), slices.Clone(s.channels)
	next.firstArgs = maps.Clone(s.firstArgs)
	for id, args := range next.firstArgs {
		next.firstArgs[id] = slices.Clone(args)
	}
	return &next
}

func (s *selector) everything() bool { return s.allCommands && s.allKeys && s.allChannels }

// parseSelector reads what stands between two parentheses. A word that ends in one
// would close the selector too early when it is printed and read again.
func parseSelector(text string, d Defaults) (*selector, error) {
	s := newSelector(d)
	for _, rule := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(spaces, r) }) {
		if strings.HasSuffix(rule, ")") {
			return nil, syntax
		}
		if err := s.apply(rule); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// apply changes the selector by a rule, which is not empty.
func (s *selector) apply(rule string) error {
	switch lower(rule) {
	case "allkeys", "~*":
		s.allKeys, s.keys = true, nil
	case "resetkeys":
		s.allKeys, s.keys = false, nil
	case "allchannels", "&*":
		s.allChannels, s.channels = true, nil
	case "resetchannels":
		s.allChannels, s.channels = false, nil
	case "allcommands", "+@all":
		s.startFrom(true)
	case "nocommands", "-@all":
		s.startFrom(false)
	default:
		return s.applyLonger(rule)
	}
	return nil
}

func (s *selector) applyLonger(rule string) error {
	switch rule[0] {
	case '~':
		return s.addKeys(rule[1:], read|write)
	case '%':
		return s.addKeysFor(rule[1:])
	case '&':
		return s.addChannels(rule[1:])
	case '+', '-':
		return s.applyCommand(rule[1:], rule[0] == '+')
	}
	return syntax
}

// addKeysFor reads "R~pattern" and its like.
func (s *selector) addKeysFor(text string) error {
	if s.allKeys {
		return afterAllKeys
	}
	letters, pattern, found := strings.Cut(text, "~")
	var a access
	for _, c := range []byte(lower(letters)) {
		bit := map[byte]access{'r': read, 'w': write}[c]
		if bit == 0 || a&bit != 0 {
			return syntax
		}
		a |= bit
	}
	if !found || a == 0 {
		return syntax
	}
	return s.addKeys(pattern, a)
}

func (s *selector) addKeys(pattern string, a access) error {
	switch {
	case s.allKeys:
		return afterAllKeys
	case strings.ContainsAny(pattern, spaces):
		return syntax
	}
	for i := range s.keys {
		if string(s.keys[i].pattern) == pattern {
			s.keys[i].access |= a
			return nil
		}
	}
	s.keys = append(s.keys, keyPattern{[]byte(pattern), a})
	return nil
}

func (s *selector) addChannels(pattern string) error {
	switch {
	case s.allChannels:
		return afterAllChannel
	case strings.ContainsAny(pattern, spaces):
		return syntax
	}
	if !slices.ContainsFunc(s.channels, func(c []byte) bool { return string(c) == pattern }) {
		s.channels = append(s.channels, []byte(pattern))
	}
	return nil
}

// appendKeys prints the key patterns, as GETUSER has them.
func (s *selector) appendKeys(b []byte) []byte {
	if s.allKeys {
		return append(b, "~*"...)
	}
	for i, k := range s.keys {
		if i > 0 {
			b = append(b, ' ')
		}
		switch {
		case k.access == read:
			b = append(b, "%R"...)
		case k.access == write:
			b = append(b, "%W"...)
		case bytes.Equal(k.pattern, []byte("*")):
			b = append(b, "%RW"...) // "~*" alone would mean allkeys, behind which no pattern may come
		}
		b = append(append(b, '~'), k.pattern...)
	}
	return b
}

// appendChannels prints the channel patterns, as GETUSER has them.
func (s *selector) appendChannels(b []byte) []byte {
	if s.allChannels {
		return append(b, "&*"...)
	}
	for i, c := range s.channels {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(append(b, '&'), c...)
	}
	return b
}

// append prints the rules that make the selector.
func (s *selector) append(b []byte) []byte {
	if s.allKeys || len(s.keys) > 0 {
		b = append(s.appendKeys(b), ' ')
	}
	if !s.allChannels {
		b = append(b, "resetchannels "...)
	}
	if s.allChannels || len(s.channels) > 0 {
		b = append(s.appendChannels(b), ' ')
	}
	return s.appendCommands(b)
}
