// Package reply is the table of error replies: the exact texts that clients
// match on, each without its leading '-'. It holds nothing else.
//
// The texts are Redis's, as far as Redis has the case; they are part of the
// protocol that clients speak.
package reply

import (
	"strconv"
	"strings"
)

// Errors of several commands.
const (
	WrongType      = "WRONGTYPE Operation against a key holding the wrong kind of value"
	Syntax         = "ERR syntax error"
	NotInteger     = "ERR value is not an integer or out of range"
	NotFloat       = "ERR value is not a valid float"
	OutOfRange     = "ERR value is out of range"
	Overflow       = "ERR increment or decrement would overflow"
	DecrOverflow   = "ERR decrement would overflow"
	NaNOrInfinity  = "ERR increment would produce NaN or Infinity"
	OutOfMemory    = "OOM command not allowed when used memory > 'maxmemory'."
	StringTooLong  = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
	InvalidCursor  = "ERR invalid cursor"
	DBIndex        = "ERR DB index is out of range"
	InvalidDBIndex = "ERR invalid DB index"
	FirstDBIndex   = "ERR invalid first DB index"
	SecondDBIndex  = "ERR invalid second DB index"
	NoSuchKey      = "ERR no such key"
	SameObject     = "ERR source and destination objects are the same"

	ExpireNXConflict = "ERR NX and XX, GT or LT options at the same time are not compatible"
	ExpireGTConflict = "ERR GT and LT options at the same time are not compatible"
)

// Errors of OBJECT.
const (
	policySwitch       = ". Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."
	IdleTimeUntracked  = "ERR An LFU maxmemory policy is selected, idle time not tracked" + policySwitch
	FrequencyUntracked = "ERR An LFU maxmemory policy is not selected, access frequency not tracked" + policySwitch
)

// Errors of strings and bitmaps.
const (
	OffsetOutOfRange  = "ERR offset is out of range"
	BitOffset         = "ERR bit offset is not an integer or out of range"
	BitValue          = "ERR bit is not an integer or out of range"
	BitArgument       = "ERR The bit argument must be 1 or 0."
	BitfieldType      = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."
	BitfieldOverflow  = "ERR Invalid OVERFLOW type specified"
	BitfieldReadOnly  = "ERR BITFIELD_RO only supports the GET subcommand"
	BitopNot          = "ERR BITOP NOT must be called with a single source key."
	LCSNotStrings     = "ERR The specified keys must contain string values"
	LCSLengthAndIndex = "ERR If you want both the length and indexes, please just use IDX."
	LCSMemory         = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"
)

// Errors of connections and authentication.
const (
	NoAuth          = "NOAUTH Authentication required."
	WrongPass       = "WRONGPASS invalid username-password pair or user is disabled."
	AuthNotNeeded   = "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
	NoProto         = "NOPROTO unsupported protocol version"
	ProtoNotInteger = "ERR Protocol version is not an integer or out of range"
	HelloNoAuth     = "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time"
	MaxClients      = "ERR max number of clients reached"
	ClientName      = "ERR Client names cannot contain spaces, newlines or special characters."
	InvalidClientID = "ERR Invalid client ID"
	Protected       = "DENIED Bowline runs in protected mode: no password is set, so only connections from this machine are accepted. Set a password (requirepass), or turn protected-mode off if the network around this server is trusted."
)

// Errors of transactions.
const (
	NestedMulti         = "ERR MULTI calls can not be nested"
	WatchInsideMulti    = "ERR WATCH inside MULTI is not allowed"
	ExecWithoutMulti    = "ERR EXEC without MULTI"
	DiscardWithoutMulti = "ERR DISCARD without MULTI"
	NotInMulti          = "ERR Command not allowed inside a transaction"
	TransactionTooLarge = "ERR Transaction is too large"
	ExecAbort           = "EXECABORT Transaction discarded because of previous errors."
)

// Errors of durability.
const (
	LogDiskFull = "MISCONF Errors writing to the AOF file: No space left on device"
	NoReplicas  = "NOREPLICAS The write was executed, but it was not confirmed as durable in time."
)

// Errors of a cluster.
const (
	ClusterDisabled  = "ERR This instance has cluster support disabled"
	ClusterSelect    = "ERR SELECT is not allowed in cluster mode"
	ClusterMove      = "ERR MOVE is not allowed in cluster mode"
	ClusterSwapDB    = "ERR SWAPDB is not allowed in cluster mode"
	ClusterCopy      = "ERR Copying to another database is not allowed in cluster mode"
	ClusterSlotUnset = "CLUSTERDOWN Hash slot not served"
	ClusterDown      = "CLUSTERDOWN The cluster is down"
	ClusterDownReads = "CLUSTERDOWN The cluster is down and only accepts read commands"
	MasterDown       = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
	ReadOnlyReplica  = "READONLY You can't write against a read only replica."
	InvalidSlot      = "ERR Invalid slot"
	NodeNotMaster    = "ERR The specified node is not a master"

	InvalidSlotOrCount = "ERR Invalid slot or number of keys"

	SlotOutOfRange = "ERR Invalid or out of range slot"
	SlotMetric     = "ERR Unrecognized sort metric for ORDERBY."
	SlotLimit      = "ERR Limit has to lie in between 1 and 16384 (maximum number of slots)."
	SlotFilters    = "ERR Multiple filters of the same type are disallowed."
)

// CrossSlot is the reply to keys of different slots in a cluster. It names the
// first two that differ.
func CrossSlot(a, b int) string {
	return "CROSSSLOT Keys in request don't hash to the same slot (slots " + strconv.Itoa(a) + " and " + strconv.Itoa(b) + ")"
}

// Outside is the reply to a number that is not between two bounds.
func Outside(low, high int64) string {
	return "ERR value is out of range, value must between " + strconv.FormatInt(low, 10) + " and " + strconv.FormatInt(high, 10)
}

// BitopSources is the reply to an operation of BITOP (upper-case name) that needs
// more source keys than it got.
func BitopSources(operation string) string {
	return "ERR BITOP " + operation + " must be called with at least two source keys."
}

// UnknownNode is the reply to a node id that is not in the map.
func UnknownNode(id []byte) string { return "ERR Unknown node " + clip(id) }

// TopologyIsGiven is the reply to a subcommand of CLUSTER ("cluster|meet") that
// would change what the node only reads.
func TopologyIsGiven(name string) string {
	return "ERR " + strings.ToUpper(strings.ReplaceAll(name, "|", " ")) + " is not supported: the topology comes from the " +
		"cluster map. Change the file that cluster-map names and restart the nodes"
}

// WrongArgs is the reply to a command (lower-case name) with too few or too
// many arguments.
func WrongArgs(name string) string {
	return "ERR wrong number of arguments for '" + name + "' command"
}

// InvalidExpire is the reply to an expiry time that is not positive or
// overflows.
func InvalidExpire(name string) string { return "ERR invalid expire time in '" + name + "' command" }

// UnsupportedOption is the reply to an option that EXPIRE and its family don't know.
func UnsupportedOption(option []byte) string { return "ERR Unsupported option " + string(option) }

// UnknownSubcommand is the reply to a container (upper-case name) with a
// subcommand that it has not, or the wrong number of arguments for it.
func UnknownSubcommand(container string, sub []byte) string {
	return "ERR unknown subcommand '" + clip(sub) + "'. Try " + container + " HELP."
}

// ExecAbortBecause is the reply to an EXEC that itself was refused for an error.
func ExecAbortBecause(text string) string {
	return "EXECABORT Transaction discarded because of: " + strings.TrimPrefix(text, "ERR ")
}

// HelloOption is the reply to an option that HELLO does not know.
func HelloOption(option []byte) string {
	return "ERR Syntax error in HELLO option '" + clip(option) + "'"
}

// UnrecognizedOption is the reply to an attribute that CLIENT SETINFO does not know.
func UnrecognizedOption(option []byte) string {
	return "ERR Unrecognized option '" + clip(option) + "'"
}

// ClientAttribute is the reply to a library name or version with bytes that
// can't be printed.
func ClientAttribute(name string) string {
	return "ERR " + name + " cannot contain spaces, newlines or special characters."
}

// UnknownClientType is the reply to a filter that CLIENT LIST does not know.
func UnknownClientType(name []byte) string { return "ERR Unknown client type '" + clip(name) + "'" }

// SlotsReversed is the reply to a range of slots whose start is behind its end.
func SlotsReversed(first, last int64) string {
	return "ERR Start slot number " + strconv.FormatInt(first, 10) + " is greater than end slot number " + strconv.FormatInt(last, 10)
}

// UnknownSubcommandOrArgs is the reply to a subcommand with too many arguments.
func UnknownSubcommandOrArgs(container string, sub []byte) string {
	return "ERR unknown subcommand or wrong number of arguments for '" + clip(sub) + "'. Try " + container + " HELP."
}

// OnlyWhenSubscribed is the reply to a command (lower-case name) of a RESP2
// client that listens to channels.
func OnlyWhenSubscribed(name string) string {
	return "ERR Can't execute '" + name + "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"
}

const clipped = 128

func clip(b []byte) string {
	if len(b) > clipped {
		b = b[:clipped]
	}
	return string(b)
}

// UnknownCommand is the reply to a command that does not exist. It quotes the
// name and the first arguments, both cut to a bounded length.
func UnknownCommand(args [][]byte) string {
	text := make([]byte, 0, 2*clipped)
	quoted := 0
	for _, a := range args[1:] {
		if quoted >= clipped {
			break
		}
		if left := clipped - quoted; len(a) > left {
			a = a[:left]
		}
		before := len(text)
		text = append(append(append(text, '\''), a...), "' "...)
		quoted += len(text) - before
	}
	return "ERR unknown command '" + clip(args[0]) + "', with args beginning with: " + string(text)
}
