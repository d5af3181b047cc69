package config

import (
	"slices"
	"strings"

	"github.com/bowline-kv/bowline/internal/glob"
)

// ReplyError is an error with the whole text of an error reply, its code first.
type ReplyError string

func (e ReplyError) Error() string { return string(e) }

// refuse names the argument of a CONFIG SET that is at fault.
func refuse(name, reason string) ReplyError {
	return ReplyError("ERR CONFIG SET failed (possibly related to argument '" + name + "') - " + reason)
}

// The reasons of CONFIG SET, in the words of Redis.
const (
	reasonImmutable = "can't set immutable config"
	reasonProtected = "can't set protected config"
	reasonDuplicate = "duplicate parameter"
)

// originSet is the origin of a value that CONFIG SET gave.
const originSet = "CONFIG SET"

// Get answers CONFIG GET with pairs of name and value. A pattern without any of
// "*?[" is a name; it is found in any case, by alias and synonym too, and
// printed as it was asked for. Other patterns match the names and aliases of
// rows that are not hidden. Nothing is printed twice. The pairs come by
// pattern, those of one pattern by name.
func (c *Config) Get(patterns ...string) [][2]string {
	now := *c.now.Load()
	var pairs [][2]string
	seen := map[string]bool{}
	add := func(name string, p *Param) {
		if key := strings.ToLower(name); !seen[key] {
			seen[key] = true
			pairs = append(pairs, [2]string{name, now[p.index].text})
		}
	}
	for _, pattern := range patterns {
		if !strings.ContainsAny(pattern, "*?[") {
			if p, ok := Lookup(pattern); ok {
				add(pattern, p)
			}
			continue
		}
		for _, l := range listing {
			if glob.MatchFold([]byte(pattern), []byte(l.name)) {
				add(l.name, l.p)
			}
		}
	}
	return pairs
}

// Set answers CONFIG SET with pairs of name and value: all take effect or none
// does. The error is a [ReplyError]. It keeps the strings.
func (c *Config) Set(pairs [][2]string) error { return c.set(pairs, false) }

// SetLocal is [Config.Set] for a client on this machine, which
// enable-protected-configs may treat otherwise.
func (c *Config) SetLocal(pairs [][2]string) error { return c.set(pairs, true) }

func (c *Config) set(pairs [][2]string, local bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	params, err := c.settable(pairs, local)
	if err != nil {
		return err
	}
	old := c.now.Load()
	next := slices.Clone(*old)
	var changed []int // indices into pairs
	for i, p := range params {
		v, err := p.parse(next[p.index], p.split(pairs[i][1]))
		if err != nil {
			return refuse(pairs[i][0], err.Error())
		}
		if v.text == next[p.index].text {
			continue
		}
		if p.Effect == Restart {
			return refuse(pairs[i][0], reasonImmutable)
		}
		v.origin = originSet
		next[p.index] = v
		changed = append(changed, i)
	}
	if len(changed) == 0 {
		return nil
	}
	c.now.Store(&next)
	var called []func() error
	for _, i := range changed {
		for _, fn := range c.changed[params[i].index] {
			if err := fn(); err != nil {
				c.now.Store(old)
				undo(called)
				return refuse(pairs[i][0], err.Error())
			}
			called = append(called, fn)
		}
	}
	return nil
}

// undo tells those who followed a change that it is gone. They accepted the old
// values before, so there is nothing to do about an error now.
func undo(called []func() error) {
	for _, fn := range called {
		_ = fn()
	}
}

// split makes words out of the one argument that CONFIG SET has for a value.
// Two spaces in a row make an empty word, which most kinds refuse.
func (p *Param) split(text string) []string {
	if !p.Kind.split() {
		return []string{text}
	}
	return strings.Split(text, " ")
}

// settable returns the rows of pairs, or the refusal of the first that may not
// be set, whatever its value.
func (c *Config) settable(pairs [][2]string, local bool) ([]*Param, error) {
	var params []*Param
	seen := map[string]bool{}
	for _, pair := range pairs {
		name := strings.ToLower(pair[0])
		p, ok := byName[name]
		switch {
		case !ok:
			return nil, ReplyError("ERR Unknown option or number of arguments for CONFIG SET - '" + pair[0] + "'")
		case p.Effect == Immutable:
			return nil, refuse(pair[0], reasonImmutable)
		case p.Protected && !c.Allows(EnableProtectedConfigs, local):
			return nil, refuse(pair[0], reasonProtected)
		case seen[name]:
			return nil, refuse(pair[0], reasonDuplicate)
		}
		seen[name] = true
		params = append(params, p)
	}
	return params, nil
}

// Allows reports whether a parameter with the words no, yes and local, such as
// [EnableDebugCommand], lets a client do what it guards; local: the client is
// on this machine.
func (c *Config) Allows(p *Param, local bool) bool {
	switch c.String(p) {
	case "yes":
		return true
	case "local":
		return local
	}
	return false
}
