package store

// Type is the type of a key's value, in the words of the TYPE command.
type Type uint8

// The types. None is what a missing key has.
const (
	None Type = iota
	String
	List
	Set
	ZSet
	Hash
	Stream
)

var typeNames = [...]string{"none", "string", "list", "set", "zset", "hash", "stream"}

// String gives the name that the TYPE command answers.
func (t Type) String() string { return typeNames[t] }

// ParseType finds a type by its name, letter case aside as SCAN's TYPE option
// has it; false when there is none of that name.
func ParseType(name []byte) (Type, bool) {
	for t := String; t <= Stream; t++ {
		if equalFold(name, typeNames[t]) {
			return t, true
		}
	}
	return None, false
}

func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// Entry is a view of one key's record: see the package comment for how long it
// is valid.
type Entry struct {
	// Value holds the bytes of a string, or a collection in its packed form; where
	// the collection is Large it means nothing.
	Value []byte
	// ExpireAt is the unix time in milliseconds at which the key is gone; 0: never.
	ExpireAt int64
	// Type is never None in an entry that was found.
	Type Type
	// Access is what the table keeps of the key's use, 24 bits; 0 when it keeps
	// nothing. See [Table.KeepAccess].
	Access uint32
	ref    ref
	// Raw says that a string was changed in place (APPEND), after which Redis
	// no longer calls it embstr or int.
	Raw bool
	// Timed says that a hash has fields that expire.
	Timed bool
}

// Large says that the value is a collection with a body of its own, which
// [Table.Body] gives.
func (e *Entry) Large() bool { return e.Raw && e.Type != String }

// Expired says whether the key's time is over at now (unix milliseconds).
func (e Entry) Expired(now int64) bool { return e.ExpireAt != 0 && e.ExpireAt <= now }
