package config

import (
	"cmp"
	"slices"
	"strings"
)

// Kind is how the value of a parameter is written and read.
type Kind uint8

// The kinds. The comment says what [Config.Int] returns; [Config.String] returns
// for every kind what CONFIG GET prints.
const (
	Bool          Kind = iota // yes or no: 1 or 0
	Int                       // a decimal number: the number
	Octal                     // a number in octal, as file permissions are: the number
	Memory                    // bytes, with a unit such as kb (1024) or k (1000): bytes
	MemoryPercent             // as Memory, or "5%": bytes, or minus the percents
	Enum                      // one of Words, in any case: its index
	EnumSet                   // some of Words: a bit for each, bit 0 for Words[1]; 0 for Words[0] alone
	Events                    // letters of event classes: bits, see EventKeyspace
	Text                      // any text: 0
	Words                     // several words, see Config.Strings: their number
	HostPort                  // "host port", or nothing: 0
	Integers                  // three numbers: 0
	SavePoints                // pairs of seconds and changes, see Config.SavePoints: 0
	Percentiles               // numbers from 0 to 100, see Config.Floats: 0
	BufferLimits              // limits by class, see Config.BufferLimit: 0
)

// split reports whether a value consists of several words, which CONFIG SET
// takes as one argument with single spaces between them.
func (k Kind) split() bool {
	switch k {
	case Enum, EnumSet, Words, HostPort, Integers, SavePoints, Percentiles, BufferLimits:
		return true
	}
	return false
}

// Effect is what CONFIG SET does to a parameter.
type Effect uint8

// The effects.
const (
	Live      Effect = iota // the node follows the new value
	Stored                  // kept and shown, for compatibility, without effect
	Immutable               // refused
	Restart                 // refused, unless it is the value that the parameter has
)

// Param is a row of the table. Rows never change; a pointer to one is its
// handle.
type Param struct {
	Name string // in lower case, as CONFIG GET prints it
	// Aliases are older names that CONFIG GET lists too.
	Aliases []string
	// Synonyms are names that are accepted everywhere, but not listed.
	Synonyms []string
	Kind     Kind
	Default  string   // as a file would have it
	Min, Max int64    // limits of Int, Octal, Memory, MemoryPercent and Integers, inclusive
	Words    []string // of Enum and EnumSet
	Effect   Effect
	// Protected: CONFIG SET is refused unless enable-protected-configs allows it.
	Protected bool
	// Secret: values are not shown to others, in MONITOR and SLOWLOG.
	Secret bool
	// Hidden: CONFIG GET shows it only when asked for by its full name.
	Hidden bool
	Doc    string // one sentence

	// least and most: a valid number outside is brought to the nearer of them,
	// silently, as Redis does. Both 0: no such limits.
	least, most int64
	// check refuses texts that the kind alone would let pass; nil: none.
	check func(text string) error

	index int  // into table
	read  bool // there is a handle for code that reads it
}

// HasEffect reports whether any code reads the parameter. What has none is kept and
// shown, so that a configuration of Redis can be used as it is.
func (p *Param) HasEffect() bool { return p.read }

// All returns the rows in the order of the table. The caller owns the slice,
// not the rows.
func All() []*Param { return slices.Clone(rows) }

// Lookup returns the row with a name, an alias or a synonym, in any case.
func Lookup(name string) (*Param, bool) {
	p, ok := byName[strings.ToLower(name)]
	return p, ok
}

// listed is a name that CONFIG GET may print.
type listed struct {
	name string
	p    *Param
}

var (
	byName    = map[string]*Param{} // all names, in lower case
	byEnviron = map[string]*Param{} // all names, as environmentName has them
	listing   []listed              // names and aliases of rows that are not hidden, sorted
)

// rows is the table once the indexes above are filled. It is a variable with an
// initial value, not filled by init, so that the handles and the defaults, which
// need it, come after it in the order of dependencies.
var rows = indexTable()

func indexTable() []*Param {
	for i, p := range table {
		p.index = i
		for _, name := range slices.Concat([]string{p.Name}, p.Aliases, p.Synonyms) {
			if byName[name] != nil {
				panic("BUG: two parameters are called " + name)
			}
			byName[name] = p
			byEnviron[environmentName(name)] = p
		}
		if p.Hidden {
			continue
		}
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			listing = append(listing, listed{name, p})
		}
	}
	slices.SortFunc(listing, func(a, b listed) int { return cmp.Compare(a.name, b.name) })
	return table
}

// handle returns the row with a name, for the variables of handles.go.
func handle(name string) *Param {
	i := slices.IndexFunc(rows, func(p *Param) bool { return p.Name == name })
	if i < 0 {
		panic("BUG: no parameter is called " + name)
	}
	rows[i].read = true
	return rows[i]
}
