package session

import (
	"strings"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/resp"
)

// filter says which connections CLIENT KILL means; zero fields mean all.
type filter struct {
	id            uint64
	address       string
	local         string
	user          *Account
	kind          string
	skipMe        bool
	maxAgeSeconds int64
}

// clientKill answers the old form, CLIENT KILL ip:port, with OK, and the one
// with filters with the number of connections that it closed.
func clientKill(s *Session, now Instant, args [][]byte) {
	if len(args) == 3 {
		for _, other := range s.registry.All() {
			if other.remote == string(args[2]) {
				s.W.OK()
				s.CloseOther(other)
				return
			}
		}
		s.W.Error(reply.NoSuchClient)
		return
	}
	f, ok := s.parseFilter(args[2:])
	if !ok {
		return
	}
	killed := 0
	for _, other := range s.registry.All() {
		if f.matches(s, other, now) {
			s.CloseOther(other)
			killed++
		}
	}
	s.W.Int(int64(killed))
}

// CloseOther ends a connection; the caller's own after its reply.
func (s *Session) CloseOther(other *Session) {
	if other == s {
		s.Closing = true
		return
	}
	other.Kill()
}

// parseFilter reads pairs of an option and its value; on false the error was
// written.
func (s *Session) parseFilter(args [][]byte) (f filter, ok bool) {
	f.skipMe = true
	for ; len(args) > 0; args = args[2:] {
		if len(args) == 1 {
			s.W.Error(reply.Syntax)
			return f, false
		}
		if text := f.set(s.registry.host, args[0], args[1]); text != "" {
			s.W.Error(text)
			return f, false
		}
	}
	return f, true
}

// set takes one option and returns the error, "" when there is none.
func (f *filter) set(host Host, option, value []byte) string {
	switch {
	case command.IsToken(option, "ID"):
		n, ok := resp.ParseInt(value)
		if !ok || n < 1 {
			return reply.ClientIDPositive
		}
		f.id = uint64(n)
	case command.IsToken(option, "MAXAGE"):
		n, ok := resp.ParseInt(value)
		if !ok {
			return reply.MaxAgeNotInteger
		}
		if n < 1 {
			return reply.MaxAgePositive
		}
		f.maxAgeSeconds = n
	case command.IsToken(option, "TYPE"):
		f.kind = strings.ToLower(string(value))
		switch f.kind {
		case "normal", "pubsub", "master", "primary", "replica", "slave":
		default:
			return reply.UnknownClientType(value)
		}
	case command.IsToken(option, "ADDR"):
		f.address = string(value)
	case command.IsToken(option, "LADDR"):
		f.local = string(value)
	case command.IsToken(option, "USER"):
		if f.user = host.Account(string(value)); f.user == nil {
			return reply.NoSuchUser(value)
		}
	case command.IsToken(option, "SKIPME") && command.IsToken(value, "YES"):
		f.skipMe = true
	case command.IsToken(option, "SKIPME") && command.IsToken(value, "NO"):
		f.skipMe = false
	default:
		return reply.Syntax
	}
	return ""
}

func (f *filter) matches(me, other *Session, now Instant) bool {
	switch {
	case f.skipMe && other == me,
		f.id != 0 && other.ID != f.id,
		f.address != "" && other.remote != f.address,
		f.local != "" && other.local != f.local,
		f.kind != "" && !other.isKind(f.kind),
		f.maxAgeSeconds != 0 && (now.Mono-other.created.Mono)/1e9 < f.maxAgeSeconds,
		f.user != nil && other.AccountSeen() != f.user:
		return false
	}
	return true
}

// isKind says whether the connection is of a type of CLIENT LIST and CLIENT KILL.
// Connections of other nodes' replication don't exist yet.
func (s *Session) isKind(kind string) bool {
	switch kind {
	case "normal":
		return !s.Subscribed()
	case "pubsub":
		return s.Subscribed()
	}
	return false
}
