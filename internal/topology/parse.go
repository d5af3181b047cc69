package topology

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bowline-kv/bowline/slot"
)

// TextMax is the length in bytes of the longest text that [Parse] reads.
const TextMax = 16 << 20

// Parse reads the text form that the package comment describes. The error
// names the line and what is wrong with it. Parse keeps no part of text.
func Parse(text []byte) (*Map, error) {
	if len(text) > TextMax {
		return nil, fmt.Errorf("text of %d bytes is longer than %d", len(text), TextMax)
	}
	p := parser{b: newBuilder()}
	for line := range strings.Lines(string(text)) {
		p.line++
		words := strings.Fields(line)
		for i, word := range words {
			if strings.HasPrefix(word, "#") {
				words = words[:i]
				break
			}
		}
		if len(words) == 0 {
			continue
		}
		if err := p.statement(words[0], words[1:]); err != nil {
			return nil, err
		}
	}
	return p.finish()
}

// parser turns lines into the builder's steps.
type parser struct {
	b           *builder
	line        int // of the statement being read, from 1
	versionLine int // 0: not seen yet
	groupLine   int // of the group being read; 0: none yet
	version     uint64
	epoch       uint64
	epochGiven  bool
}

// at adds the place to an error.
func at(line int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("line %d: %w", line, err)
}

func (p *parser) statement(word string, rest []string) error {
	if p.versionLine == 0 && word != "version" {
		return at(p.line, errors.New(`the first statement is not "version"`))
	}
	switch word {
	case "version":
		return at(p.line, p.readVersion(rest))
	case "group":
		if err := p.endGroup(); err != nil {
			return err
		}
		p.groupLine = p.line
		return at(p.line, p.readGroup(rest))
	case "member":
		return at(p.line, p.readMember(rest))
	}
	return at(p.line, fmt.Errorf("unknown word %q, want version, group or member", clip(word)))
}

func (p *parser) endGroup() error {
	if p.groupLine == 0 {
		return nil
	}
	return at(p.groupLine, p.b.endGroup())
}

func (p *parser) finish() (*Map, error) {
	if p.versionLine == 0 {
		return nil, errors.New(`no "version"`)
	}
	if err := p.endGroup(); err != nil {
		return nil, err
	}
	if p.epochGiven && p.epoch == 0 && p.b.m.highestEpoch() > 0 {
		return nil, at(p.versionLine, errors.New("epoch 0 is below a group's epoch"))
	}
	m, err := p.b.finish(p.version, p.epoch)
	return m, at(p.versionLine, err)
}

func (p *parser) readVersion(rest []string) error {
	if p.versionLine != 0 {
		return errors.New("a second version")
	}
	p.versionLine = p.line
	if len(rest) == 0 {
		return errors.New("version without a number")
	}
	var err error
	if p.version, err = parseCount("version", rest[0]); err != nil {
		return err
	}
	return pairs(rest[1:], func(key, value string) (err error) {
		if key != "epoch" {
			return unknown(key, "epoch")
		}
		p.epochGiven = true
		p.epoch, err = parseCount(key, value)
		return err
	})
}

func (p *parser) readGroup(rest []string) error {
	if len(rest) == 0 {
		return errors.New("group without a name")
	}
	g := Group{Name: rest[0]}
	err := pairs(rest[1:], func(key, value string) (err error) {
		switch key {
		case "epoch":
			g.Epoch, err = parseCount(key, value)
		case "slots":
			g.Slots, err = slot.ParseAssignments(value)
		default:
			err = unknown(key, "epoch or slots")
		}
		return err
	})
	if err != nil {
		return err
	}
	return p.b.group(g)
}

// pairs calls f for each word and the one after it, and refuses a key that
// stands twice.
func pairs(words []string, f func(key, value string) error) error {
	seen := map[string]bool{}
	for i := 0; i < len(words); i += 2 {
		key := words[i]
		if i+1 == len(words) {
			return fmt.Errorf("%q without a value", clip(key))
		}
		if seen[key] {
			return fmt.Errorf("a second %q", clip(key))
		}
		seen[key] = true
		if err := f(key, words[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func unknown(word, want string) error {
	return fmt.Errorf("unknown word %q, want %s", clip(word), want)
}

func parseCount(what, s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s %q is not a number", what, clip(s))
	}
	return n, nil
}

func (p *parser) readMember(rest []string) error {
	if len(rest) < 3 {
		return errors.New("member needs an id, an address and primary or replica")
	}
	m := Member{ID: NodeID(rest[0])}
	var err error
	if m.Host, m.Port, err = parseAddress(rest[1]); err != nil {
		return err
	}
	switch rest[2] {
	case "primary":
	case "replica":
		m.Replica = true
	default:
		return unknown(rest[2], "primary or replica")
	}
	var words []string
	for _, word := range rest[3:] {
		key, value, found := strings.Cut(word, "=")
		if !found || value == "" {
			return unknown(word, "tls=, bus=, hostname=, zone= or health= with a value")
		}
		words = append(words, key, value)
	}
	if err := pairs(words, m.set); err != nil {
		return err
	}
	return p.b.member(m)
}

// set takes in one of the settings at the end of a member's line.
func (m *Member) set(key, value string) (err error) {
	switch key {
	case "tls":
		m.TLSPort, err = parsePort(value)
	case "bus":
		m.BusPort, err = parsePort(value)
	case "hostname":
		m.Hostname = value
	case "zone":
		m.Zone = value
	case "health":
		var ok bool
		if m.Health, ok = parseHealth(value); !ok {
			err = unknown(value, "online, loading or failed")
		}
	default:
		err = unknown(key, "tls, bus, hostname, zone or health")
	}
	return err
}

// parseAddress reads host:port; an IPv6 address stands in brackets.
func parseAddress(s string) (host string, port int, err error) {
	colon := strings.LastIndexByte(s, ':')
	if colon < 0 {
		return "", 0, fmt.Errorf("bad address %q: no port", clip(s))
	}
	host = s[:colon]
	if inner, ok := strings.CutPrefix(host, "["); ok {
		if host, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(host, ":") {
			return "", 0, fmt.Errorf("bad address %q: brackets enclose an ipv6 address", clip(s))
		}
	} else if strings.Contains(host, ":") {
		return "", 0, fmt.Errorf("bad address %q: an ipv6 address stands in brackets", clip(s))
	}
	port, err = parsePort(s[colon+1:])
	return host, port, err
}

func parsePort(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("bad port %q", clip(s))
	}
	return int(n), nil
}
