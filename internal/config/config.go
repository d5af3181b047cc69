package config

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Config holds a value for every row of the table. Its methods may be called
// from anywhere at the same time. Reading takes no lock: each change replaces
// the whole set of values, so what a reader sees is never half of a change.
type Config struct {
	now atomic.Pointer[values]

	mu      sync.Mutex       // held while values change
	changed [][]func() error // by index of the row; guarded by mu
	users   []User           // guarded by mu
}

// values has the value of the row with index i at place i; never changed once
// it is published.
type values []value

// originDefault is the origin of a value that no source has set.
const originDefault = "default"

// defaults are parsed once; a row whose default does not parse is a bug.
var defaults = parseDefaults()

func parseDefaults() values {
	vs := make(values, len(rows))
	for _, p := range rows {
		v, err := p.parse(value{}, p.fields([]string{p.Default}))
		if err != nil {
			panic("BUG: default of " + p.Name + ": " + err.Error())
		}
		v.origin = originDefault
		vs[p.index] = v
	}
	return vs
}

// New returns a configuration in which everything has its default.
func New() *Config {
	c := &Config{changed: make([][]func() error, len(rows))}
	c.now.Store(&defaults)
	return c
}

func (c *Config) value(p *Param) *value { return &(*c.now.Load())[p.index] }

// Int returns the number of a parameter; what it means is said at its [Kind].
func (c *Config) Int(p *Param) int64 { return c.value(p).n }

// Bool reports whether a parameter of kind Bool is yes.
func (c *Config) Bool(p *Param) bool { return c.value(p).n != 0 }

// String returns the value as CONFIG GET prints it. For the kinds Text and Enum
// that is the value itself.
func (c *Config) String(p *Param) string { return c.value(p).text }

// Strings returns the words of a parameter of kind Words, HostPort or Integers.
// The caller owns the slice.
func (c *Config) Strings(p *Param) []string {
	list, _ := c.value(p).parts.([]string)
	return slices.Clone(list)
}

// Floats returns the numbers of a parameter of kind Percentiles. The caller
// owns the slice.
func (c *Config) Floats(p *Param) []float64 {
	list, _ := c.value(p).parts.([]float64)
	return slices.Clone(list)
}

// SavePoints returns the conditions of a parameter of kind SavePoints. The
// caller owns the slice.
func (c *Config) SavePoints(p *Param) []SavePoint {
	list, _ := c.value(p).parts.([]SavePoint)
	return slices.Clone(list)
}

// BufferLimit returns the limit of a class of clients out of
// client-output-buffer-limit. It does not allocate.
func (c *Config) BufferLimit(class LimitClass) BufferLimit {
	limits, ok := c.value(ClientOutputBufferLimit).parts.([limitClasses]BufferLimit)
	if !ok || class < 0 || class >= limitClasses {
		return BufferLimit{}
	}
	return limits[class]
}

// Origin says where the value of a parameter comes from: "default", a file with
// its line ("bowline.toml:7"), the name of an environment variable or flag, or
// "CONFIG SET".
func (c *Config) Origin(p *Param) string { return c.value(p).origin }

// WithoutEffect names the parameters that somebody gave another value than the
// default, in vain: no code reads them.
func (c *Config) WithoutEffect() []string {
	fresh := New()
	var names []string
	for _, p := range rows {
		if !p.HasEffect() && c.String(p) != fresh.String(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

// OnChange calls fn after each [Config.Set] that gave p another value, with the
// new values in place. When fn returns an error, the Set is undone as a whole
// and reports it: the text goes to the client, so it says what is wrong with
// the value. Functions that were called before are then called once more, with
// the old values in place. The functions of one p run in the order they came
// in; they must not call Set or OnChange. Loading calls none of them.
func (c *Config) OnChange(p *Param, fn func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed[p.index] = append(c.changed[p.index], fn)
}
