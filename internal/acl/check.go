package acl

import (
	"bytes"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/glob"
)

// Denial is why something is refused.
type Denial uint8

// The denials. Of several selectors' the greatest is told.
const (
	Allowed Denial = iota
	DeniedCommand
	DeniedKey
	DeniedAuth // a login; no command is refused for it
	DeniedChannel
	denials
)

// Denials is how many values a Denial has: an array of counters is indexed by it.
const Denials = int(denials)

// String is the reason as ACL LOG has it.
func (d Denial) String() string {
	return [denials]string{"", "command", "key", "auth", "channel"}[d]
}

// Check says whether the user may run a command, whose arity fits, and if not why
// and for which of the arguments; at is 0 for the command itself. scratch is
// memory that it may use and leaves for the next call.
func (u *User) Check(spec *command.Spec, args [][]byte, scratch *[]command.KeyRef) (why Denial, at int) {
	if u.everything {
		return Allowed, 0
	}
	keys := keysOf{scratch: scratch}
	why = DeniedCommand
	for _, s := range u.selectors {
		d, i := s.check(spec, args, &keys)
		if d == Allowed {
			return Allowed, 0
		}
		if d > why || d == why && i > at {
			why, at = d, i
		}
	}
	return why, at
}

// keysOf finds the keys of a command once, for all selectors that ask.
type keysOf struct {
	scratch *[]command.KeyRef
	found   bool
}

// of gives the keys. A command whose arguments don't tell them refuses these in
// its own words.
func (k *keysOf) of(spec *command.Spec, args [][]byte) []command.KeyRef {
	if !k.found {
		k.found = true
		refs, err := spec.Keys(args, (*k.scratch)[:0])
		if err != nil {
			refs = refs[:0]
		}
		*k.scratch = refs
	}
	return *k.scratch
}

func (s *selector) check(spec *command.Spec, args [][]byte, keys *keysOf) (Denial, int) {
	if !s.allows(spec, args) {
		return DeniedCommand, 0
	}
	if !s.allKeys && spec.HasKeys() {
		for _, ref := range keys.of(spec, args) {
			if ref.Flags&command.KeyNotKey == 0 && !s.allowsKey(args[ref.Index], accessFor(ref.Flags)) {
				return DeniedKey, ref.Index
			}
		}
	}
	if !s.allChannels {
		from, to, literal := channelsOf(spec.ID, len(args))
		for i := from; i < to; i++ {
			if !s.allowsChannel(args[i], literal) {
				return DeniedChannel, i
			}
		}
	}
	return Allowed, 0
}

// accessFor is what a user needs of a key: reading where its data gets out, writing
// where it is changed. Only to see that it is there takes any pattern.
func accessFor(f command.KeyFlags) access {
	var a access
	if f&command.KeyAccess != 0 {
		a |= read
	}
	if f&(command.KeyInsert|command.KeyDelete|command.KeyUpdate) != 0 {
		a |= write
	}
	return a
}

func (s *selector) allowsKey(key []byte, a access) bool {
	for i := range s.keys {
		if k := &s.keys[i]; k.access&a == a && glob.Match(k.pattern, key) {
			return true
		}
	}
	return false
}

// channelsOf tells which arguments are channels; literal: they are patterns, and
// must be the user's own.
func channelsOf(id command.ID, n int) (from, to int, literal bool) {
	switch id {
	case command.IDSubscribe, command.IDSsubscribe:
		return 1, n, false
	case command.IDPsubscribe:
		return 1, n, true
	case command.IDPublish, command.IDSpublish:
		return 1, min(2, n), false
	}
	return 0, 0, false
}

func (s *selector) allowsChannel(channel []byte, literal bool) bool {
	for _, pattern := range s.channels {
		if literal && bytes.Equal(pattern, channel) || !literal && glob.Match(pattern, channel) {
			return true
		}
	}
	return false
}

// MayListen says whether a subscription to a channel, or to a pattern of channels,
// may stay.
func (u *User) MayListen(channel []byte, pattern bool) bool {
	for _, s := range u.selectors {
		if s.allChannels || s.allowsChannel(channel, pattern) {
			return true
		}
	}
	return false
}

// ReadsAnyKey says whether the user may run a command and read all keys by it:
// what SORT needs to follow BY and GET to keys that its arguments don't name.
func (u *User) ReadsAnyKey(spec *command.Spec, args [][]byte, scratch *[]command.KeyRef) bool {
	keys := keysOf{scratch: scratch}
	for _, s := range u.selectors {
		if d, _ := s.check(spec, args, &keys); d == Allowed && s.readsAll() {
			return true
		}
	}
	return false
}

func (s *selector) readsAll() bool {
	if s.allKeys {
		return true
	}
	for i := range s.keys {
		if k := &s.keys[i]; k.access&read != 0 && string(k.pattern) == "*" {
			return true
		}
	}
	return false
}
