package client

import (
	"errors"
	"strconv"
	"strings"

	"github.com/bowline-kv/bowline/resp"
)

// The errors that callers tell apart with errors.Is. An error that a server answered
// is a *[resp.Error], found with errors.As; Code gives its first word.
var (
	// ErrNil is a null where a value was asked for: the key does not exist.
	ErrNil = errors.New("nil reply")
	// ErrCrossSlot says that the keys of a command lie in several slots, and that
	// nothing was sent.
	ErrCrossSlot = errors.New("CROSSSLOT keys in request don't hash to the same slot (checked by the client, nothing was sent)")
	// ErrMaxRedirects says that a command was redirected once more after three times.
	ErrMaxRedirects = errors.New("too many redirections")
	// ErrNoNode says that no node could be reached that serves the command. It was
	// not executed.
	ErrNoNode = errors.New("no node for the command")
	// ErrClosed says that the client, connection or subscription has been closed.
	ErrClosed = errors.New("client is closed")
	// ErrMaybeExecuted says that a command was written, but that its whole reply did not
	// come. The server may have executed it or not.
	ErrMaybeExecuted = errors.New("the command may have been executed")
	// ErrAborted says that a transaction did nothing because a watched key changed.
	ErrAborted = errors.New("the transaction was aborted: a watched key changed")
	// ErrNotShared says that a command changes the connection that it is sent on, or
	// answers more than once, and has no place on a connection that others share.
	ErrNotShared = errors.New("the command is for a connection of one's own")
)

var (
	errNoCommand = errors.New("no command given")
	errTimeout   = &timeoutError{}
	// errUnsent says that a connection took nothing of what was to be sent.
	errUnsent = errors.New("connection is gone")
	// errRetired says that a node has left the map.
	errRetired = errors.New("node has left the map")
)

// timeoutError is a net.Error: no reply came within Options.Timeout.
type timeoutError struct{}

func (*timeoutError) Error() string   { return "no reply within the timeout" }
func (*timeoutError) Timeout() bool   { return true }
func (*timeoutError) Temporary() bool { return true }

// Error says which command failed, and where.
type Error struct {
	// Command is its name in upper case, subcommand included; "MULTI" for a whole
	// transaction.
	Command string
	// Addr is the node that it was sent to last, "" when it was sent nowhere.
	Addr string
	// Slot is that of its keys, -1 when it has none or several.
	Slot int
	// Err is the cause.
	Err error
}

// Error returns "GET at 10.0.0.1:6379 (slot 866): cause".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Command)
	if e.Addr != "" {
		b.WriteString(" at ")
		b.WriteString(e.Addr)
	}
	if e.Slot >= 0 {
		b.WriteString(" (slot ")
		b.WriteString(strconv.Itoa(e.Slot))
		b.WriteString(")")
	}
	b.WriteString(": ")
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// explain wraps the cause of a call's failure.
func explain(q *call, addr string, err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	return &Error{Command: q.name(), Addr: addr, Slot: max(q.slot, noSlot), Err: err}
}

// code gives the first word of an error reply, "" for anything else.
func code(v *resp.Value) string {
	if !v.IsError() {
		return ""
	}
	for i, c := range v.Str {
		if c == ' ' {
			return string(v.Str[:i])
		}
	}
	return string(v.Str)
}

// maybe marks a cause as one that leaves open whether the command was executed.
func maybe(cause error) error { return &maybeError{cause} }

type maybeError struct{ cause error }

func (e *maybeError) Error() string { return ErrMaybeExecuted.Error() + ": " + e.cause.Error() }

func (e *maybeError) Unwrap() []error { return []error{ErrMaybeExecuted, e.cause} }
