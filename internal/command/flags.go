package command

// Flags is the set of properties of a command that COMMAND prints, one bit
// each. The order of the bits is the order in which Redis prints them.
type Flags uint64

// The flags. Their names on the wire are these in lower case with underscores.
const (
	FlagWrite           Flags = 1 << iota // may change the key space
	FlagReadonly                          // reads keys, never changes them
	FlagDenyoom                           // refused while memory is over its limit
	FlagModule                            // comes from a loaded module (none does here)
	FlagAdmin                             // for operators
	FlagPubsub                            // belongs to publish and subscribe
	FlagNoscript                          // not callable from a script
	FlagBlocking                          // may wait for others
	FlagLoading                           // allowed while the data is being loaded
	FlagStale                             // allowed on a replica cut off from its primary
	FlagSkipMonitor                       // not shown to MONITOR
	FlagSkipSlowlog                       // not recorded by SLOWLOG
	FlagAsking                            // counts as preceded by ASKING
	FlagFast                              // takes constant or logarithmic time
	FlagNoAuth                            // allowed before authentication
	FlagNoMandatoryKeys                   // may be called with no key at all
	FlagNoAsyncLoading                    // refused while a replica loads beside its old data
	FlagNoMulti                           // not allowed inside MULTI
	FlagMovablekeys                       // key positions depend on other arguments
	FlagAllowBusy                         // allowed while a script overruns its time
)

var flagNames = [...]string{
	"write", "readonly", "denyoom", "module", "admin", "pubsub", "noscript",
	"blocking", "loading", "stale", "skip_monitor", "skip_slowlog", "asking",
	"fast", "no_auth", "no_mandatory_keys", "no_async_loading", "no_multi",
	"movablekeys", "allow_busy",
}

// Has reports whether all the flags of want are set.
func (f Flags) Has(want Flags) bool { return f&want == want }

// Names gives the names of the set flags in the order COMMAND prints them.
func (f Flags) Names() []string { return bitNames(uint64(f), flagNames[:]) }

// Categories is the set of ACL categories a command belongs to, one bit each,
// in the order COMMAND prints them.
type Categories uint32

// The ACL categories; on the wire they carry a leading '@'.
const (
	CategoryKeyspace Categories = 1 << iota
	CategoryRead
	CategoryWrite
	CategorySet
	CategorySortedset
	CategoryList
	CategoryHash
	CategoryString
	CategoryBitmap
	CategoryHyperloglog
	CategoryGeo
	CategoryStream
	CategoryPubsub
	CategoryAdmin
	CategoryFast
	CategorySlow
	CategoryBlocking
	CategoryDangerous
	CategoryConnection
	CategoryTransaction
	CategoryScripting
)

var categoryNames = [...]string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string",
	"bitmap", "hyperloglog", "geo", "stream", "pubsub", "admin", "fast", "slow",
	"blocking", "dangerous", "connection", "transaction", "scripting",
}

// Has reports whether all the categories of want are set.
func (c Categories) Has(want Categories) bool { return c&want == want }

// Names gives the names of the set categories, without '@', in printing order.
func (c Categories) Names() []string { return bitNames(uint64(c), categoryNames[:]) }

// CategoryNames lists every ACL category, without '@', in printing order. The
// caller may keep the slice.
func CategoryNames() []string { return append([]string(nil), categoryNames[:]...) }

// ParseCategory finds a category by its name without '@', in any case; 0 when
// there is none.
func ParseCategory(name []byte) Categories {
	for i, n := range categoryNames {
		if equalFold(name, n) {
			return 1 << i
		}
	}
	return 0
}

func bitNames(set uint64, names []string) []string {
	out := make([]string, 0, 8)
	for i, n := range names {
		if set&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return out
}
