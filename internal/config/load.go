package config

import (
	"fmt"
	"slices"
	"strings"
)

// ReadFile returns the content of a file; os.ReadFile is one.
type ReadFile func(path string) ([]byte, error)

// Load gives a parameter a value before the node serves, as a flag does: the
// strings of values that have spaces in them are taken apart where the kind
// consists of words. Whether CONFIG SET may change the parameter does not
// matter. origin says where the value stands, for errors and [Config.Origin].
// It keeps the strings.
func (c *Config) Load(name string, values []string, origin string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.load(name, values, origin, nil)
}

// LoadEnviron reads BOWLINE_MAXCLIENTS for maxclients and so on: the name in
// upper case, with '_' for '-'. env has the form of os.Environ, "NAME=value";
// names that do not begin with BOWLINE_ are not ours.
func (c *Config) LoadEnviron(env []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, entry := range env {
		name, text, found := strings.Cut(entry, "=")
		key, ours := strings.CutPrefix(name, environmentPrefix)
		if !found || !ours || environmentOthers[key] {
			continue
		}
		p, ok := byEnviron[key]
		if !ok {
			return unknownKey(name, name, func(known string) string { return environmentPrefix + environmentName(known) },
				strings.ReplaceAll(key, "_", "-"))
		}
		if err := c.load(p.Name, []string{text}, name, nil); err != nil {
			return err
		}
	}
	return nil
}

const environmentPrefix = "BOWLINE_"

// environmentOthers are read by somebody else: the project's tests.
var environmentOthers = map[string]bool{"REQUIRE_REDIS": true, "REDIS8": true, "REDIS8_CHECK_RDB": true, "VALKEY8": true}

// environmentName is what stands for a parameter after the prefix.
func environmentName(name string) string {
	return strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// unknownKey is the refusal of a key that no row has; show spells the
// suggestion as the source would.
func unknownKey(origin, key string, show func(string) string, like string) error {
	hint := ""
	if known := nearest(like); known != "" {
		hint = fmt.Sprintf(", did you mean %q?", show(known))
	}
	return fmt.Errorf("%s: unknown key %q%s", origin, clip(key), hint)
}

func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "..."
}

// source collects what must outlast a line of a file.
type source struct {
	// saved is set by the first line about save points: it replaces the
	// defaults, and further lines add to it.
	saved []string
}

// load sets one parameter; from is nil where every value stands alone. The
// caller holds c.mu.
func (c *Config) load(name string, values []string, origin string, from *source) error {
	p, ok := Lookup(name)
	if !ok {
		return unknownKey(origin, name, func(known string) string { return known }, name)
	}
	words := p.fields(values)
	if p.Kind == SavePoints && from != nil {
		if empty(words) {
			from.saved = nil
		} else {
			from.saved = append(from.saved, words...)
			words = from.saved
		}
	}
	now := *c.now.Load()
	v, err := p.parse(now[p.index], words)
	if err != nil {
		if origin == "--"+p.Name || origin == environmentPrefix+environmentName(p.Name) {
			return fmt.Errorf("%s: %w", origin, err)
		}
		return fmt.Errorf("%s: %s: %w", origin, p.Name, err)
	}
	v.origin = origin
	next := slices.Clone(now)
	next[p.index] = v
	c.now.Store(&next)
	return nil
}

// fields takes values apart where the kind consists of words; nothing at all
// is one empty word, as in CONFIG SET.
func (p *Param) fields(values []string) []string {
	if !p.Kind.split() {
		return values
	}
	var words []string
	for _, s := range values {
		words = append(words, strings.Fields(s)...)
	}
	if words == nil {
		words = []string{""}
	}
	return words
}
