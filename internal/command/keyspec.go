package command

// KeyFlags says what a command does with a key: one of RO, RW, OW and RM for
// the value as a whole, and what it does to the data in it.
type KeyFlags uint16

// The key flags, in the order COMMAND prints them.
const (
	KeyRO            KeyFlags = 1 << iota // reads the value
	KeyRW                                 // reads and changes it
	KeyOW                                 // overwrites it whatever it was
	KeyRM                                 // removes it
	KeyAccess                             // its data reaches the reply or another key
	KeyUpdate                             // its data is changed
	KeyInsert                             // data is added, nothing there is changed
	KeyDelete                             // data is taken out of it
	KeyNotKey                             // routed like a key, but names something else (a shard channel)
	KeyIncomplete                         // the specification may miss keys
	KeyVariableFlags                      // the real flags depend on other arguments
)

var keyFlagNames = [...]string{
	"RO", "RW", "OW", "RM", "access", "update", "insert", "delete", "not_key",
	"incomplete", "variable_flags",
}

// Has reports whether all the flags of want are set.
func (f KeyFlags) Has(want KeyFlags) bool { return f&want == want }

// Names gives the names of the set flags in the order COMMAND prints them.
func (f KeyFlags) Names() []string { return bitNames(uint64(f), keyFlagNames[:]) }

// BeginKind says how a [KeySpec] finds its first argument.
type BeginKind uint8

// The ways to find the first argument.
const (
	BeginUnknown BeginKind = iota // no rule can say
	BeginIndex                    // at a fixed position
	BeginKeyword                  // after a keyword
)

// FindKind says how a [KeySpec] finds the keys from its first argument on.
type FindKind uint8

// The ways to find the keys.
const (
	FindUnknown FindKind = iota // no rule can say
	FindRange                   // up to a position
	FindKeynum                  // as many as an argument says
)

// KeySpec is one key specification: where a group of keys is and what is done
// with them. Positions count from the command's name at 0; in a subcommand the
// container is at 0 too, and the subcommand at 1.
type KeySpec struct {
	Flags KeyFlags

	Begin     BeginKind
	Index     int    // BeginIndex: the position of the first argument
	Keyword   string // BeginKeyword: upper case, matched in any case
	StartFrom int    // BeginKeyword: search from here up; negative: from this far before the end, down

	Find     FindKind
	LastKey  int // FindRange: the last key after the first; negative: counted from the end, -1 the last argument
	KeyStep  int // FindRange, FindKeynum: distance between keys, >= 1
	Limit    int // FindRange with LastKey -1: only the first 1/Limit of the rest; 0 and 1: all of it
	KeynumAt int // FindKeynum: where the count is, from the first argument on
	FirstKey int // FindKeynum: where the first key is, from the first argument on
}
