package command

import "iter"

// ID is the dense number of a row, 0 <= ID < [Count]: an array of handlers is
// indexed by it. Numbers change between builds; never store or send one.
type ID uint16

// State says whether a command exists for clients.
type State uint8

// The states of a row.
const (
	Planned State = iota // will come; unknown to clients until then
	Working              // served
	Refused              // will not come; Spec.Reason says why
)

// Locks says which stripes of the key space a command needs before it runs.
type Locks uint8

// The kinds of locks.
const (
	LocksNone Locks = iota // none beforehand; it may take some on its own, as SCAN does
	LocksKeys              // the stripes of its keys
	LocksAll               // every stripe
)

// KeyFunc names the rule for commands whose keys, or whose use of them, the
// specifications cannot express.
type KeyFunc uint8

// The key functions.
const (
	KeyFuncNone     KeyFunc = iota
	KeyFuncSet              // SET: reads the key too when GET is given
	KeyFuncBitfield         // BITFIELD: only reads when all its operations are GET
	KeyFuncSort             // SORT: the key and the last STORE
	KeyFuncSortRo           // SORT_RO: the key
	KeyFuncMigrate          // MIGRATE: one key, or those after KEYS when it is empty
)

// Spec is one row of the table. Rows are shared: read them, change nothing.
type Spec struct {
	ID    ID
	Name  string // lower case; "config|get" for a subcommand
	Arity int    // number of arguments with the name(s); negative: at least that many

	Flags      Flags
	Categories Categories
	Tips       []string

	FirstKey, LastKey, KeyStep int // the legacy key range; all 0: none, or not expressible
	KeySpecs                   []KeySpec
	KeyFunc                    KeyFunc

	Group           string
	Since           string // the first version of Redis, or of Valkey where SinceValkey is set
	SinceValkey     bool
	Summary         string
	Complexity      string
	DocFlags        []string // "deprecated", "syscmd"
	DeprecatedSince string
	ReplacedBy      string
	Arguments       []Argument

	Locks  Locks
	State  State
	Reason string // Refused: why

	Parent      *Spec   // the container of a subcommand, else nil
	Subcommands []*Spec // of a container, by name; planned ones included

	rule keyRule
}

// Argument is one element of a command's grammar, as COMMAND DOCS prints it.
type Argument struct {
	Name            string
	Type            string // key, string, integer, double, pattern, unix-time, pure-token, oneof, block
	KeySpec         int    // for keys the number of the specification, else -1
	Token           string // the literal word that precedes it, or that it is
	Since           string
	DeprecatedSince string
	Flags           []string // optional, multiple, multiple_token
	Arguments       []Argument
}

// All iterates over every row by ID, planned, refused and subcommands included.
func All() iter.Seq[*Spec] {
	return func(yield func(*Spec) bool) {
		for i := range table {
			if !yield(&table[i]) {
				return
			}
		}
	}
}

// Get gives the row of an ID; it panics when the number is not below [Count].
func Get(id ID) *Spec { return &table[id] }

// CheckArity reports whether a request of n arguments, the name included, has a
// number of them that the command takes.
func (s *Spec) CheckArity(n int) bool {
	if s.Arity >= 0 {
		return n == s.Arity
	}
	return n >= -s.Arity
}

// Lookup finds a working command by name, in any case; nil when there is none.
func Lookup(name []byte) *Spec { return working(lookup(name, rootParent)) }

// LookupAny is [Lookup] over planned and refused commands too.
func LookupAny(name []byte) *Spec { return lookup(name, rootParent) }

// Subcommand finds a working subcommand of a container by the second argument
// of a request, in any case; nil when there is none.
func (s *Spec) Subcommand(name []byte) *Spec { return working(s.SubcommandAny(name)) }

// SubcommandAny is [Spec.Subcommand] over planned and refused ones too.
func (s *Spec) SubcommandAny(name []byte) *Spec {
	if len(s.Subcommands) == 0 {
		return nil
	}
	return lookup(name, parentKey(s.ID))
}

// Find gives the row that a request runs: the subcommand when its command is a
// container and a second argument is there, else the command. It is nil when
// the command, or the subcommand of a known container, is unknown; [Lookup] of
// the first argument tells the two apart.
func Find(args [][]byte) *Spec { return working(FindAny(args)) }

// FindAny is [Find] over planned and refused commands too.
func FindAny(args [][]byte) *Spec {
	if len(args) == 0 {
		return nil
	}
	s := LookupAny(args[0])
	if s == nil || len(s.Subcommands) == 0 || len(args) == 1 {
		return s
	}
	return s.SubcommandAny(args[1])
}

// findName finds a working row by its full name, as COMMAND INFO takes it:
// "get", "config|get".
func findName(name []byte) *Spec {
	for i, c := range name {
		if c != '|' {
			continue
		}
		if parent := Lookup(name[:i]); parent != nil {
			return parent.Subcommand(name[i+1:])
		}
		return nil
	}
	return Lookup(name)
}

func working(s *Spec) *Spec {
	if s == nil || s.State != Working {
		return nil
	}
	return s
}
