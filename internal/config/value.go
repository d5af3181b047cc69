package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// value is what a parameter has: a number for code, a text for people.
type value struct {
	n      int64
	text   string // as CONFIG GET prints it
	parts  any    // []string, []SavePoint, []float64 or [limitClasses]BufferLimit, by kind; never changed
	origin string // where it comes from
}

// reason is what is wrong with a value, in Redis's words: clients and test suites
// compare them, so they keep its capitals and full stops.
type reason string

func (r reason) Error() string { return string(r) }

const (
	errArguments = reason("wrong number of arguments")
	errBool      = reason("argument must be 'yes' or 'no'")
	errInt       = reason("argument couldn't be parsed into an integer")
	errOctal     = reason("argument couldn't be parsed as an octal number")
	errMemory    = reason("argument must be a memory value")
	errPercent   = reason("argument must be a memory or percent value")
	errOver100   = reason("percentage argument must be less or equal to 100")
)

// parse makes a value out of words; old is the value that it replaces, which
// matters where a kind can be set in part.
func (p *Param) parse(old value, words []string) (v value, err error) {
	switch p.Kind {
	case EnumSet:
		v, err = p.parseEnumSet(words)
	case Words:
		v, err = parseWords(words)
	case HostPort:
		v, err = parseHostPort(words)
	case Integers:
		v, err = p.parseIntegers(words)
	case SavePoints:
		v, err = parseSavePoints(words)
	case Percentiles:
		v, err = parsePercentiles(words)
	case BufferLimits:
		v, err = parseBufferLimits(old, words)
	default:
		if len(words) != 1 && p.Kind != Enum {
			return value{}, errArguments
		}
		v, err = p.parseOne(words)
	}
	if err == nil && p.check != nil {
		err = p.check(v.text)
	}
	if err != nil {
		return value{}, err
	}
	return v, nil
}

// parseOne reads the kinds that are a single word.
func (p *Param) parseOne(words []string) (value, error) {
	if p.Kind == Enum {
		return p.parseEnum(words)
	}
	switch word := words[0]; p.Kind {
	case Bool:
		return parseBool(word)
	case Int:
		n, err := parseInt(word)
		if err != nil {
			return value{}, err
		}
		return p.number(n, 10)
	case Octal:
		n, err := strconv.ParseUint(word, 8, 31)
		if err != nil {
			return value{}, errOctal
		}
		return p.number(int64(n), 8)
	case Memory:
		n, ok := parseMemory(word)
		if !ok {
			return value{}, errMemory
		}
		return p.number(n, 10)
	case MemoryPercent:
		return p.parsePercent(word)
	case Events:
		return parseEvents(word)
	default:
		return value{text: word}, nil
	}
}

func parseBool(word string) (value, error) {
	switch {
	case strings.EqualFold(word, "yes"):
		return value{n: 1, text: "yes"}, nil
	case strings.EqualFold(word, "no"):
		return value{n: 0, text: "no"}, nil
	}
	return value{}, errBool
}

// parseInt reads a number in the one way that it prints: no plus sign, no
// leading zero, no space.
func parseInt(word string) (int64, error) {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != word {
		return 0, errInt
	}
	return n, nil
}

// number checks a number against the limits of the row and makes a value of it.
func (p *Param) number(n int64, base int) (value, error) {
	if n < p.Min || n > p.Max {
		return value{}, p.errLimits()
	}
	if p.least != 0 || p.most != 0 {
		n = min(max(n, p.least), p.most)
	}
	return value{n: n, text: strconv.FormatInt(n, base)}, nil
}

func (p *Param) errLimits() error {
	return fmt.Errorf("argument must be between %d and %d inclusive", p.Min, p.Max)
}

// units are powers of ten, and of two with a b.
var units = map[string]int64{
	"": 1, "b": 1,
	"k": 1e3, "m": 1e6, "g": 1e9,
	"kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30,
}

// tooLarge stands for every amount that is no int64; it is out of all limits.
const tooLarge = math.MinInt64

// parseMemory reads "100mb" as bytes. Digits or unit may be missing, as Redis
// has it: both "" and "kb" are 0.
func parseMemory(word string) (n int64, ok bool) {
	end := 0
	for end < len(word) && '0' <= word[end] && word[end] <= '9' {
		end++
	}
	unit, ok := units[strings.ToLower(word[end:])]
	if !ok {
		return 0, false
	}
	if end == 0 {
		return 0, true
	}
	n, err := strconv.ParseInt(word[:end], 10, 64)
	if err != nil || n > math.MaxInt64/unit {
		return tooLarge, true
	}
	return n * unit, true
}

func (p *Param) parsePercent(word string) (value, error) {
	digits, ok := strings.CutSuffix(word, "%")
	if !ok {
		n, ok := parseMemory(word)
		if !ok {
			return value{}, errPercent
		}
		return p.number(n, 10)
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	switch {
	case err != nil:
		return value{}, errPercent
	case n > 100:
		return value{}, errOver100
	case n == 0:
		return value{text: "0"}, nil
	}
	return value{n: -int64(n), text: strconv.FormatUint(n, 10) + "%"}, nil
}

func (p *Param) errWords() error {
	return reason("argument(s) must be one of the following: " + strings.Join(p.Words, ", "))
}

// word returns the index of a word of the row, in any case.
func (p *Param) word(s string) (int, bool) {
	for i, w := range p.Words {
		if strings.EqualFold(s, w) {
			return i, true
		}
	}
	return 0, false
}

func (p *Param) parseEnum(words []string) (value, error) {
	if len(words) == 1 {
		if i, ok := p.word(words[0]); ok {
			return value{n: int64(i), text: p.Words[i]}, nil
		}
	}
	return value{}, p.errWords()
}

func (p *Param) parseEnumSet(words []string) (value, error) {
	var bits int64
	for _, s := range words {
		i, ok := p.word(s)
		if !ok {
			return value{}, p.errWords()
		}
		bits |= 1 << i >> 1
	}
	if len(words) == 0 {
		return value{}, p.errWords()
	}
	var set []string
	for i, w := range p.Words[1:] {
		if bits&(1<<i) != 0 {
			set = append(set, w)
		}
	}
	if bits == 0 {
		set = p.Words[:1]
	}
	return value{n: bits, text: strings.Join(set, " ")}, nil
}
