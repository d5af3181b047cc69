package resp

import (
	"bytes"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// This file holds the second decoders: whole input only, copies everywhere, no thought
// of speed. The tests hold the real ones against them.

// outcome is what a stream of requests or replies comes to.
type outcome struct {
	commands [][]string
	err      string // "": the input ended between or inside of commands
	consumed int
}

// naiveCommands reads all requests of in.
func naiveCommands(in string, l Limits) outcome {
	var out outcome
	for out.consumed < len(in) {
		args, n, err := naiveCommand(in[out.consumed:], l)
		if err == ErrIncomplete {
			return out
		}
		if err != nil {
			out.err = err.Error()
			return out
		}
		out.commands = append(out.commands, args)
		out.consumed += n
	}
	return out
}

func naiveCommand(in string, l Limits) (args []string, n int, err error) {
	if in[0] != '*' {
		return naiveInline(in, l)
	}
	head, n, err := naiveHeader(in, l, errMultibulkLine)
	if err != nil {
		return nil, 0, err
	}
	count, ok := naiveInt(head[1:])
	switch {
	case !ok || count > math.MaxInt32:
		return nil, 0, errMultibulkLength
	case count > int64(l.MaxArgs) && l.Unauthenticated:
		return nil, 0, errMultibulkLengthUnauth
	case count > int64(l.MaxArgs):
		return nil, 0, errMultibulkLength
	}
	for i := int64(0); i < count; i++ {
		head, m, err := naiveHeader(in[n:], l, errBulkLine)
		if err != nil {
			return nil, 0, err
		}
		if !strings.HasPrefix(head, "$") {
			return nil, 0, errExpectedBulk((head + "\r")[0])
		}
		size, ok := naiveInt(head[1:])
		switch {
		case !ok || size < 0 || size > int64(max(l.MaxBulk, 512<<20)):
			return nil, 0, errBulkLength
		case size > int64(l.MaxBulk) && l.Unauthenticated:
			return nil, 0, errBulkLengthUnauth
		case size > int64(l.MaxBulk):
			return nil, 0, errBulkLength
		}
		n += m
		if int64(len(in)-n) < size+2 {
			return nil, 0, ErrIncomplete
		}
		args = append(args, in[n:n+int(size)])
		n += int(size) + 2
	}
	return args, n, nil
}

// naiveHeader gives the text up to the first CR, and the length with CR and one more.
func naiveHeader(in string, l Limits, tooBig error) (string, int, error) {
	cr := strings.IndexByte(in, '\r')
	if cr < 0 || cr > l.MaxInline {
		if len(in) > l.MaxInline {
			return "", 0, tooBig
		}
		return "", 0, ErrIncomplete
	}
	if len(in) < cr+2 {
		return "", 0, ErrIncomplete
	}
	return in[:cr], cr + 2, nil
}

func naiveInt(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

func naiveInline(in string, l Limits) ([]string, int, error) {
	lf := strings.IndexByte(in, '\n')
	if lf < 0 || lf > l.MaxInline {
		if len(in) > l.MaxInline {
			return nil, 0, errInlineSize
		}
		return nil, 0, ErrIncomplete
	}
	args, ok := naiveSplit(strings.TrimSuffix(in[:lf], "\r"))
	if !ok {
		return nil, 0, errInlineQuotes
	}
	return args, lf + 1, nil
}

// naiveSplit is a machine of states, one character at a time.
func naiveSplit(line string) (args []string, ok bool) {
	const (
		between = iota
		plain
		double
		single
		closed // behind a closing quote
	)
	state, word := between, ""
	for i := 0; i < len(line); i++ {
		c := line[i]
		if state == closed {
			if !strings.ContainsRune(" \t\n\v\f\r", rune(c)) {
				return nil, false
			}
			state = between
			args, word = append(args, word), ""
		}
		switch state {
		case between, plain:
			switch {
			case state == between && strings.ContainsRune(" \t\n\v\f\r", rune(c)):
			case state == plain && strings.ContainsRune(" \t\n\r", rune(c)):
				args, word, state = append(args, word), "", between
			case c == '"':
				state = double
			case c == '\'':
				state = single
			default:
				word, state = word+string([]byte{c}), plain
			}
		case double:
			rest := line[i+1:]
			switch {
			case c == '"':
				state = closed
			case c == '\\' && len(rest) >= 3 && rest[0] == 'x' && naiveHex(rest[1:3]) != "":
				word += naiveHex(rest[1:3])
				i += 3
			case c == '\\' && rest != "":
				word += strings.NewReplacer("n", "\n", "r", "\r", "t", "\t", "b", "\b", "a", "\a").Replace(rest[:1])
				i++
			default:
				word += string([]byte{c})
			}
		case single:
			if c == '\'' {
				state = closed
			} else if strings.HasPrefix(line[i:], `\'`) {
				word += "'"
				i++
			} else {
				word += string([]byte{c})
			}
		}
	}
	if state == plain || state == closed {
		args = append(args, word)
	}
	return args, state != double && state != single
}

func naiveHex(two string) string {
	b, err := hex.DecodeString(two)
	if err != nil {
		return ""
	}
	return string(b)
}

// naiveReply reads one reply by recursion.
type naiveReply struct {
	in                          []byte
	pos                         int
	elems                       int
	maxBulk, maxElems, maxDepth int
}

const errNaive ProtocolError = "naive: not a reply"

func (p *naiveReply) value(depth int) (v Value, err error) {
	if p.pos == len(p.in) {
		return v, ErrIncomplete
	}
	kind := p.in[p.pos]
	kinds := map[byte]Kind{'+': KindSimple, '-': KindError, ':': KindInt, '$': KindBulk, '*': KindArray, '_': KindNull,
		'%': KindMap, '~': KindSet, '>': KindPush, '|': KindAttribute, ',': KindDouble, '#': KindBool,
		'(': KindBigNumber, '=': KindVerbatim, '!': KindBulkError}
	v.Kind = kinds[kind]
	if v.Kind == KindInvalid {
		return v, errNaive
	}
	limit := 64
	if strings.IndexByte("+-(", kind) >= 0 {
		limit = 1 << 20
	}
	line, err := p.line(limit)
	if err != nil {
		return v, err
	}
	switch kind {
	case '+', '-':
		v.Str = []byte(line)
	case ':':
		return v, p.integer(&v, line)
	case '_':
		return v, wrongUnless(line == "")
	case '#':
		v.Int = int64(strings.Index("ft", line))
		return v, wrongUnless(line == "t" || line == "f")
	case '(':
		v.Str = []byte(line)
		_, ok := new(big.Int).SetString(line, 10)
		return v, wrongUnless(ok)
	case ',':
		return v, p.double(&v, line)
	case '$', '!', '=':
		return v, p.blob(&v, line)
	default:
		return p.aggregate(v, line, depth)
	}
	return v, nil
}

func wrongUnless(ok bool) error {
	if !ok {
		return errNaive
	}
	return nil
}

func (p *naiveReply) line(limit int) (string, error) {
	rest := p.in[p.pos+1:]
	cr := bytes.IndexByte(rest, '\r')
	if cr < 0 || cr > limit {
		if len(rest) > limit {
			return "", errNaive
		}
		return "", ErrIncomplete
	}
	if cr+1 == len(rest) {
		return "", ErrIncomplete
	}
	if rest[cr+1] != '\n' {
		return "", errNaive
	}
	p.pos += 1 + cr + 2
	return string(rest[:cr]), nil
}

func (p *naiveReply) integer(v *Value, line string) error {
	n, ok := naiveInt(strings.TrimPrefix(line, "+"))
	v.Int = n
	return wrongUnless(ok && !strings.HasPrefix(line, "+-"))
}

func (p *naiveReply) double(v *Value, line string) error {
	if strings.ContainsAny(line, "xXpP_") || strings.ContainsAny(line, "iInN") &&
		!strings.Contains(" inf +inf -inf nan -nan ", " "+line+" ") {
		return errNaive
	}
	f, err := strconv.ParseFloat(strings.Replace(line, "-nan", "nan", 1), 64)
	v.Int = Double(f).Int
	return wrongUnless(err == nil)
}

func (p *naiveReply) blob(v *Value, line string) error {
	n, ok := naiveInt(line)
	if v.Kind == KindBulk && line == "-1" {
		v.Kind = KindNull
		return nil
	}
	if !ok || n < 0 || n > int64(p.maxBulk) || v.Kind == KindVerbatim && n < 4 {
		return errNaive
	}
	rest := p.in[p.pos:]
	if v.Kind == KindVerbatim && len(rest) > 3 && rest[3] != ':' {
		return errNaive
	}
	if int64(len(rest)) < n+2 {
		return ErrIncomplete
	}
	v.Str = append([]byte{}, rest[:n]...)
	if v.Kind == KindVerbatim {
		v.Ext, v.Str = [3]byte(rest[:3]), v.Str[4:]
	}
	p.pos += int(n) + 2
	return wrongUnless(string(rest[n:n+2]) == "\r\n")
}

func (p *naiveReply) aggregate(v Value, line string, depth int) (Value, error) {
	n, ok := naiveInt(line)
	if v.Kind == KindArray && line == "-1" {
		return Value{Kind: KindNull}, nil
	}
	if v.Kind == KindMap || v.Kind == KindAttribute {
		ok = ok && n < 1<<40
		n *= 2
	}
	if !ok || n < 0 || n > int64(p.maxElems-p.elems) || n > 0 && depth == p.maxDepth {
		return v, errNaive
	}
	p.elems += int(n)
	var list []Value
	for i := int64(0); i < n; i++ {
		e, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		list = append(list, e)
	}
	if v.Kind != KindAttribute {
		v.Elems = list
		return v, nil
	}
	of, err := p.value(depth)
	if all := append(list, of.Attributes()...); all != nil {
		of.Attrs = &all
	}
	return of, err
}
