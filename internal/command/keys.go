package command

import "errors"

// ErrNoKeys says that a command takes no keys, whatever its arguments.
var ErrNoKeys = errors.New("the command has no key arguments")

// ErrInvalidArgs says that the keys cannot be told from the arguments: a count
// of keys is no number, or there are fewer arguments than the rule needs.
var ErrInvalidArgs = errors.New("invalid arguments specified for command")

// KeyRef is one key of a request: its position among the arguments and what the
// command does with it. With [KeyNotKey] it is a shard channel, which routes
// like a key but is none.
type KeyRef struct {
	Index int
	Flags KeyFlags
}

// keyRule is how Keys goes about a row, settled when the package is loaded.
type keyRule uint8

const (
	ruleNone  keyRule = iota
	ruleOne           // exactly one key at a fixed position: most commands
	ruleRange         // a fixed range
	ruleSpecs         // whatever the specifications say
	ruleFunc          // a function of its own
)

func ruleOf(s *Spec) keyRule {
	switch {
	case s.KeyFunc != KeyFuncNone:
		return ruleFunc
	case len(s.KeySpecs) == 0:
		return ruleNone
	case len(s.KeySpecs) > 1:
		return ruleSpecs
	}
	k := &s.KeySpecs[0]
	switch {
	case k.Begin != BeginIndex || k.Find != FindRange || k.Limit > 1 || k.Flags.Has(KeyIncomplete):
		return ruleSpecs
	case k.LastKey == 0:
		return ruleOne
	}
	return ruleRange
}

// HasKeys reports whether the command may have keys or shard channels at all.
func (s *Spec) HasKeys() bool { return s.rule != ruleNone }

// Keys appends a reference for each key of a request to dst, in the order of
// the rules, and returns the longer slice; it allocates only when dst has no
// room. args is the whole request, the name at 0. The arity should have been
// checked before; when it was not, positions still stay inside args.
//
// The error is [ErrNoKeys] for a command that never has keys and
// [ErrInvalidArgs] when they cannot be found; dst is then returned as it was.
// A command with invalid arguments refuses them in its own words, so a server
// runs it all the same, anywhere.
// EVAL and its like, and SUNSUBSCRIBE, may have none: then nothing is appended,
// without an error.
func (s *Spec) Keys(args [][]byte, dst []KeyRef) ([]KeyRef, error) {
	switch s.rule {
	case ruleOne:
		k := &s.KeySpecs[0]
		if k.Index >= len(args) {
			return dst, ErrInvalidArgs
		}
		return append(dst, KeyRef{k.Index, k.Flags}), nil
	case ruleRange:
		out, ok := s.KeySpecs[0].appendKeys(args, dst)
		return s.settle(out, dst, ok)
	case ruleSpecs:
		out, ok := s.specKeys(args, dst)
		return s.settle(out, dst, ok)
	case ruleFunc:
		out, ok := s.funcKeys(args, dst)
		return s.settle(out, dst, ok)
	}
	return dst, ErrNoKeys
}

// settle turns the outcome of a rule into what Keys answers.
func (s *Spec) settle(out, dst []KeyRef, ok bool) ([]KeyRef, error) {
	if ok && (len(out) > len(dst) || s.rule == ruleRange) {
		return out, nil
	}
	// Redis answers an empty list here even when the count is no number: the
	// command itself will then refuse its arguments, wherever it runs.
	if s.Flags.Has(FlagNoMandatoryKeys) {
		return dst, nil
	}
	return dst, ErrInvalidArgs
}

func (s *Spec) specKeys(args [][]byte, dst []KeyRef) ([]KeyRef, bool) {
	for i := range s.KeySpecs {
		out, ok := s.KeySpecs[i].appendKeys(args, dst)
		if !ok {
			return dst, false
		}
		dst = out
	}
	return dst, true
}

// appendKeys appends the keys of one specification; not ok when the arguments
// do not fit it. A keyword that is absent means no keys, and is fine.
func (k *KeySpec) appendKeys(args [][]byte, dst []KeyRef) ([]KeyRef, bool) {
	first, found := k.begin(args)
	if !found {
		return dst, k.Begin == BeginKeyword
	}
	first, last, ok := k.span(args, first)
	if ok && k.Find == FindRange && last == first-1 {
		return dst, true // PFMERGE without sources, SUNSUBSCRIBE from everything
	}
	if !ok || first < 0 || first >= len(args) || last < first || last >= len(args) {
		return dst, false
	}
	for i := first; i <= last; i += k.KeyStep {
		dst = append(dst, KeyRef{i, k.Flags})
	}
	return dst, true
}

func (k *KeySpec) begin(args [][]byte) (first int, found bool) {
	switch k.Begin {
	case BeginIndex:
		return k.Index, true
	case BeginKeyword:
		step, i := 1, k.StartFrom
		if k.StartFrom < 0 {
			step, i = -1, len(args)+k.StartFrom
		}
		for ; i > 0 && i < len(args); i += step {
			if equalFold(args[i], k.Keyword) {
				// With nothing behind it, the command will refuse it; its other
				// keys still say where it belongs.
				return i + 1, i+1 < len(args)
			}
		}
	}
	return 0, false
}

// span gives the first and last position of the keys, not yet checked against
// the number of arguments.
func (k *KeySpec) span(args [][]byte, begin int) (first, last int, ok bool) {
	switch k.Find {
	case FindRange:
		if k.LastKey >= 0 {
			return begin, begin + k.LastKey, true
		}
		if k.Limit > 1 {
			return begin, begin + (len(args)-begin)/k.Limit - 1, true
		}
		return begin, len(args) + k.LastKey, true
	case FindKeynum:
		at := begin + k.KeynumAt
		if at >= len(args) {
			return 0, 0, false
		}
		n, ok := parseCount(args[at])
		if !ok || n > len(args) {
			return 0, 0, false
		}
		first = begin + k.FirstKey
		return first, first + (n-1)*k.KeyStep, true
	}
	return 0, 0, false
}

// parseCount reads a count as Redis writes integers: digits, no sign, no
// leading zero.
func parseCount(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 9 || (b[0] == '0' && len(b) > 1) {
		return 0, false
	}
	n := 0
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
