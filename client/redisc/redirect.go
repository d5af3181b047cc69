package redisc

import (
	"errors"
	"net"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/bowline-kv/bowline/client/internal/announce"
)

// RedirError is a redirection that a node answered, see [ParseRedir].
type RedirError struct {
	// Type is "MOVED" or "ASK".
	Type string
	// NewSlot is the slot that the redirection is about.
	NewSlot int
	// Addr is the node to go to, as it was announced. An IPv6 address is put in brackets,
	// so that it can be dialed. An empty host means that of the node that was asked.
	Addr string

	raw string
}

// Error returns what the node answered.
func (e *RedirError) Error() string { return e.raw }

// Unwrap returns the redis.Error that was read.
func (e *RedirError) Unwrap() error { return redis.Error(e.raw) }

// ParseRedir reads the redirection in an error of a node, which may be wrapped. It
// returns nil when there is none.
func ParseRedir(err error) *RedirError {
	var known *RedirError
	if errors.As(err, &known) {
		return known
	}
	raw, ok := replyError(err)
	if !ok {
		return nil
	}
	words := strings.Fields(raw)
	if len(words) != 3 || words[0] != "MOVED" && words[0] != "ASK" {
		return nil
	}
	at, err := strconv.Atoi(words[1])
	if err != nil || at < 0 || at >= HashSlots {
		return nil
	}
	return &RedirError{Type: words[0], NewSlot: at, Addr: dialable(words[2]), raw: raw}
}

// dialable puts brackets around an IPv6 address and leaves every other as it is.
func dialable(addr string) string {
	host, port, ok := announce.Split(addr)
	if !ok || !strings.Contains(host, ":") {
		return addr
	}
	return net.JoinHostPort(host, port)
}

// IsTryAgain reports whether a node answered TRYAGAIN: it has only some of the keys of a
// command, because their slot is on the move.
func IsTryAgain(err error) bool { return code(err) == "TRYAGAIN" }

// IsCrossSlot reports whether a node answered CROSSSLOT: the keys of a command are in
// several slots.
func IsCrossSlot(err error) bool { return code(err) == "CROSSSLOT" }

// code gives the first word of an error that a node answered, "" for any other.
func code(err error) string {
	text, _ := replyError(err)
	word, _, _ := strings.Cut(text, " ")
	return word
}

// replyError gives the text of an error that a node answered.
func replyError(err error) (text string, ok bool) {
	var reply redis.Error
	if err == nil || !errors.As(err, &reply) {
		return "", false
	}
	return string(reply), true
}

// target is where a redirection leads.
type target struct {
	slot int
	addr string
	ask  bool
}

// redirection reads the redirection in an error of the node asked, with an address that
// can be dialed.
func redirection(err error, asked string) (to target, ok bool) {
	text, ok := replyError(err)
	if !ok {
		return to, false
	}
	r, ok := announce.ParseRedirect(text, asked)
	return target{int(r.Slot), r.Addr, r.Ask}, ok
}
