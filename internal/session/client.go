package session

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/resp"
)

func clientID(s *Session, _ Instant, _ [][]byte) { s.W.Int(int64(s.ID)) }

func getName(s *Session, _ Instant, _ [][]byte) {
	if s.seen.name == "" {
		s.W.Null()
		return
	}
	s.W.BulkString(s.seen.name)
}

func setName(s *Session, _ Instant, args [][]byte) {
	if s.setName(args[2]) {
		s.W.OK()
	}
}

// setName changes the connection's name or writes the error.
func (s *Session) setName(name []byte) bool {
	if !printable(name) {
		s.W.Error(reply.ClientName)
		return false
	}
	s.update(func(v *view) { v.name = string(name) })
	return true
}

// printable says whether a text can stand in a line of CLIENT LIST.
func printable(text []byte) bool {
	for _, c := range text {
		if c < '!' || c > '~' {
			return false
		}
	}
	return true
}

func setInfo(s *Session, _ Instant, args [][]byte) {
	value := args[3]
	var field func(v *view)
	switch {
	case command.IsToken(args[2], "LIB-NAME"):
		field = func(v *view) { v.lib = string(value) }
	case command.IsToken(args[2], "LIB-VER"):
		field = func(v *view) { v.libVer = string(value) }
	default:
		s.W.Error(reply.UnrecognizedOption(args[2]))
		return
	}
	if !printable(value) {
		s.W.Error(reply.ClientAttribute(strings.ToLower(string(args[2]))))
		return
	}
	s.update(field)
	s.W.OK()
}

func clientInfo(s *Session, now Instant, _ [][]byte) {
	s.W.Verbatim("txt", string(s.AppendInfo(nil, now)))
}

// clientList answers CLIENT LIST [TYPE type | ID id ...].
func clientList(s *Session, now Instant, args [][]byte) {
	list, ok := s.selectSessions(args[2:])
	if !ok {
		return
	}
	var text []byte
	for _, other := range list {
		text = other.AppendInfo(text, now)
	}
	s.W.Verbatim("txt", string(text))
}

// selectSessions evaluates the filters; on false the error was written.
func (s *Session) selectSessions(args [][]byte) ([]*Session, bool) {
	switch {
	case len(args) == 0:
		return s.registry.All(), true
	case len(args) == 2 && command.IsToken(args[0], "TYPE"):
		switch strings.ToLower(string(args[1])) {
		case "normal", "pubsub", "master", "primary", "replica", "slave":
			kind := strings.ToLower(string(args[1]))
			return slices.DeleteFunc(s.registry.All(), func(o *Session) bool { return !o.isKind(kind) }), true
		}
		s.W.Error(reply.UnknownClientType(args[1]))
		return nil, false
	case len(args) > 1 && command.IsToken(args[0], "ID"):
		var list []*Session
		for _, arg := range args[1:] {
			id, ok := resp.ParseInt(arg)
			if !ok {
				s.W.Error(reply.InvalidClientID)
				return nil, false
			}
			if other := s.registry.Find(uint64(id)); other != nil {
				list = append(list, other)
			}
		}
		return list, true
	}
	s.W.Error(reply.Syntax)
	return nil, false
}

// AppendInfo writes the session's line of CLIENT LIST. Any goroutine may call it.
func (s *Session) AppendInfo(b []byte, now Instant) []byte {
	s.mu.Lock()
	v := s.seen
	s.mu.Unlock()
	number := func(name string, n int64) {
		b = append(append(append(b, ' '), name...), '=')
		b = strconv.AppendInt(b, n, 10)
	}
	text := func(name, value string) {
		b = append(append(append(append(b, ' '), name...), '='), value...)
	}
	b = strconv.AppendUint(append(b, "id="...), s.ID, 10)
	text("addr", s.remote)
	text("laddr", s.local)
	number("fd", int64(s.ID)) // drivers don't tell descriptors; a number that is unique serves as well
	text("name", v.name)
	number("age", max(0, now.Mono-s.created.Mono)/1e9)
	number("idle", max(0, now.Mono-s.lastMono.Load())/1e9)
	text("flags", s.flags(&v))
	number("db", int64(v.db))
	number("sub", int64(v.channels))
	number("psub", int64(v.patterns))
	number("ssub", int64(v.shards))
	number("multi", int64(v.queued))
	number("watch", int64(v.watched))
	number("qbuf", s.Pending())
	number("qbuf-free", 0)
	number("argv-mem", 0)
	number("multi-mem", s.usage.queued.Load())
	number("rbs", 0)
	number("rbp", 0)
	number("obl", s.Output())
	number("oll", 0)
	number("omem", 0)
	number("tot-mem", s.MemoryBytes())
	text("events", "r")
	text("cmd", s.lastCommand())
	text("user", v.user.name)
	number("redir", s.Tracking().redirect())
	number("resp", int64(v.proto))
	text("lib-name", v.lib)
	text("lib-ver", v.libVer)
	return append(b, '\n')
}

// flags are the letters of CLIENT LIST, in Redis's order.
func (s *Session) flags(v *view) string {
	flags := ""
	add := func(on bool, letter string) {
		if on {
			flags += letter
		}
	}
	add(v.mode&ModeMonitor != 0, "O")
	add(v.channels+v.patterns+v.shards > 0, "P")
	add(v.queued >= 0, "x")
	add(v.waits, "b")
	flags += s.Tracking().flags()
	add(v.watched > 0 && s.Watch.Dirty.Load(), "d")
	add(strings.HasSuffix(s.remote, ":0"), "U")
	add(v.asks, "r")
	add(v.mode&ModeNoEvict != 0, "e")
	add(v.mode&ModeNoTouch != 0, "T")
	if flags == "" {
		return "N"
	}
	return flags
}

func (s *Session) lastCommand() string {
	if spec := s.lastSpec.Load(); spec != nil {
		return spec.Name
	}
	return "NULL"
}

func clientHelp(s *Session, _ Instant, _ [][]byte) {
	lines := []string{
		"CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
		"CACHING (YES|NO)",
		"    Remember, or don't, what the next command reads (see TRACKING).",
		"CAPA <capability> [<capability> ...]",
		"    Say what the client can do: redirect.",
		"GETNAME",
		"    Return the name of this connection.",
		"GETREDIR",
		"    Return the connection that is told of changes in place of this one.",
		"ID",
		"    Return the number of this connection.",
		"INFO",
		"    Describe this connection.",
		"KILL <ip:port>",
		"    Close the connection from this address.",
		"KILL <option> <value> [<option> <value> ...]",
		"    Close connections: ADDR, LADDR (<ip:port>), TYPE, USER, ID, MAXAGE (<seconds>), SKIPME (YES|NO).",
		"LIST [TYPE (NORMAL|MASTER|REPLICA|PUBSUB) | ID <id> [<id> ...]]",
		"    Describe all connections, or those named.",
		"NO-EVICT (ON|OFF)",
		"    Mark this connection as one to keep when memory for clients is short.",
		"NO-TOUCH (ON|OFF)",
		"    Let reads of this connection count as no use of a key.",
		"PAUSE <milliseconds> [WRITE|ALL]",
		"    Make the writes, or all commands, of clients wait.",
		"REPLY (ON|OFF|SKIP)",
		"    Choose whether this connection gets replies.",
		"SETINFO (LIB-NAME|LIB-VER) <value>",
		"    Say which client library this connection uses.",
		"SETNAME <name>",
		"    Name this connection.",
		"TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> ...] [OPTIN] [OPTOUT] [NOLOOP]",
		"    Be told of changes of keys that this connection caches.",
		"TRACKINGINFO",
		"    Describe what TRACKING has set.",
		"UNBLOCK <id> [TIMEOUT|ERROR]",
		"    End the wait of a blocked connection.",
		"UNPAUSE",
		"    End a pause.",
		"HELP",
		"    Print this help.",
	}
	s.W.Array(len(lines))
	for _, l := range lines {
		s.W.Simple(l)
	}
}
