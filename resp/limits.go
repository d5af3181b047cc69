package resp

import (
	"errors"
	"math"
)

// Limits bounds what a [CommandReader] accepts. A field that is zero or negative
// means the value of [DefaultLimits].
type Limits struct {
	// MaxBulk is the longest argument of a multibulk request, in bytes.
	MaxBulk int
	// MaxArgs is the largest number of arguments of a multibulk request, the
	// command's name included.
	MaxArgs int
	// MaxInline is the longest inline request and the longest header line, in bytes
	// before the line end.
	MaxInline int
	// Unauthenticated says that MaxBulk and MaxArgs are low because the client has
	// not authenticated: exceeding them is then reported with the texts that Redis
	// has for this case. It changes no bound.
	Unauthenticated bool
}

// DefaultLimits are those of Redis 7.0: 512 MiB an argument, 2^31-1 arguments,
// inline requests of 64 KiB. The large numbers are safe, as a reader sets nothing
// aside for what has only been announced; a server bounds its input buffer.
var DefaultLimits = Limits{MaxBulk: defaultMaxBulk, MaxArgs: defaultMaxArgs, MaxInline: defaultMaxInline}

// UnauthenticatedLimits are those of Redis 7.0 for a client that has to
// authenticate first: 16 KiB an argument, 10 arguments. A server that uses them
// reads one command at a time until the client has authenticated, because the
// command after AUTH in the same pipeline is bound by the wider limits.
var UnauthenticatedLimits = Limits{MaxBulk: 16 << 10, MaxArgs: 10, MaxInline: defaultMaxInline, Unauthenticated: true}

const (
	defaultMaxBulk   = 512 << 20
	defaultMaxArgs   = math.MaxInt32
	defaultMaxInline = 64 << 10
)

func (l *Limits) maxBulk() int   { return orDefault(l.MaxBulk, defaultMaxBulk) }
func (l *Limits) maxArgs() int   { return orDefault(l.MaxArgs, defaultMaxArgs) }
func (l *Limits) maxInline() int { return orDefault(l.MaxInline, defaultMaxInline) }

// orDefault also keeps a limit so far from the largest int that adding it to an offset
// cannot overflow.
func orDefault(n, def int) int {
	if n > 0 {
		return min(n, math.MaxInt/4)
	}
	return def
}

// ErrIncomplete reports that the bytes at hand are the beginning of something valid
// and that more are needed. It is returned as it is, never wrapped.
var ErrIncomplete = errors.New("resp: incomplete input")

// ProtocolError reports input that is not the protocol. Nothing after it can be
// understood, so the connection is to be closed. For a request, the text is what a
// server sends after "-ERR " before it closes, the same as that of Redis.
type ProtocolError string

// Error returns the text, such as "Protocol error: invalid bulk length". It holds no
// line end.
func (e ProtocolError) Error() string { return string(e) }

const (
	errMultibulkLength       ProtocolError = "Protocol error: invalid multibulk length"
	errBulkLength            ProtocolError = "Protocol error: invalid bulk length"
	errMultibulkLengthUnauth ProtocolError = "Protocol error: unauthenticated multibulk length"
	errBulkLengthUnauth      ProtocolError = "Protocol error: unauthenticated bulk length"
	errMultibulkLine         ProtocolError = "Protocol error: too big mbulk count string"
	errBulkLine              ProtocolError = "Protocol error: too big bulk count string"
	errInlineSize            ProtocolError = "Protocol error: too big inline request"
	errInlineQuotes          ProtocolError = "Protocol error: unbalanced quotes in request"
)

// errExpectedBulk names the byte found where an argument's header should begin. A
// line end is shown as a space, for the text is sent as one line.
func errExpectedBulk(got byte) ProtocolError {
	if got == '\r' || got == '\n' {
		got = ' '
	}
	return ProtocolError("Protocol error: expected '$', got '" + string([]byte{got}) + "'")
}
