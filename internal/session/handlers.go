package session

import (
	"github.com/bowline-kv/bowline/internal/acl"
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/resp"
)

// Handler answers a command that concerns only its connection, or the list of
// them.
type Handler func(s *Session, now Instant, args [][]byte)

// Handlers maps the commands, in lower case and with '|' before a subcommand,
// to their handlers.
var Handlers = map[string]Handler{
	"auth":                auth,
	"client|caching":      clientCaching,
	"client|capa":         clientCapa,
	"client|getname":      getName,
	"client|getredir":     clientGetRedir,
	"client|help":         clientHelp,
	"client|id":           clientID,
	"client|info":         clientInfo,
	"client|kill":         clientKill,
	"client|list":         clientList,
	"client|no-evict":     toggle(ModeNoEvict),
	"client|no-touch":     toggle(ModeNoTouch),
	"client|reply":        clientReply,
	"client|trackinginfo": clientTrackingInfo,
	"client|setinfo":      setInfo,
	"client|setname":      setName,
	"echo":                echo,
	"hello":               hello,
	"ping":                ping,
	"quit":                quit,
	"reset":               reset,
	"select":              selectDB,
}

// ping has a reply of its own for RESP2 clients that listen to channels: they
// expect only messages, which are arrays.
func ping(s *Session, _ Instant, args [][]byte) {
	if len(args) <= 2 && s.W.Proto == 2 && s.Subscribed() {
		s.W.Array(2)
		s.W.BulkString("pong")
		if len(args) == 2 {
			s.W.Bulk(args[1])
		} else {
			s.W.BulkString("")
		}
		return
	}
	switch len(args) {
	case 1:
		s.W.Simple("PONG")
	case 2:
		s.W.Bulk(args[1])
	default:
		s.W.Error(reply.WrongArgs("ping"))
	}
}

func echo(s *Session, _ Instant, args [][]byte) { s.W.Bulk(args[1]) }

func quit(s *Session, _ Instant, _ [][]byte) {
	s.W.OK()
	s.Closing = true
}

// reset brings the connection back to how it began, but for its ID. The host
// forgets what it knows of the session before.
func reset(s *Session, _ Instant, _ [][]byte) {
	s.setProto(2)
	s.setDB(0)
	s.SetReadOnly(false)
	s.Asking = false
	s.End()
	s.update(func(v *view) { v.name = "" })
	s.SetMode(ModeMuted|ModeSkip|ModeSkipNext|ModeNoEvict|ModeNoTouch|ModeMonitor|ModeCaching, false)
	s.loginDefault()
	s.W.Simple("RESET")
}

func selectDB(s *Session, _ Instant, args [][]byte) {
	n, ok := resp.ParseInt(args[1])
	id := s.registry.host.Identity()
	switch {
	case !ok:
		s.W.Error(reply.NotInteger)
	case id.Mode == "cluster" && n != 0:
		s.W.Error(reply.ClusterSelect)
	case n < 0 || n >= int64(id.Databases):
		s.W.Error(reply.DBIndex)
	default:
		s.setDB(int(n))
		s.W.OK()
	}
}

func auth(s *Session, now Instant, args [][]byte) {
	user, password := acl.DefaultName, args[1]
	switch {
	case len(args) > 3:
		s.W.Error(reply.Syntax)
		return
	case len(args) == 3:
		user, password = string(args[1]), args[2]
	case s.registry.host.Account(acl.DefaultName).Rights().NoPassword():
		s.W.Error(reply.AuthNotNeeded)
		return
	}
	if s.authenticate(now, args[0], user, password) {
		s.W.OK()
	}
}

// authenticate logs in or writes the error.
func (s *Session) authenticate(now Instant, command []byte, user string, password []byte) bool {
	account := s.registry.host.Authenticate(s, now, command, user, password)
	if account == nil {
		s.W.Error(reply.WrongPass)
		return false
	}
	s.login(account)
	return true
}

func hello(s *Session, now Instant, args [][]byte) {
	version := s.W.Proto
	rest := args[1:]
	if len(rest) > 0 {
		n, ok := resp.ParseInt(rest[0])
		if !ok {
			s.W.Error(reply.ProtoNotInteger)
			return
		}
		if n != 2 && n != 3 {
			s.W.Error(reply.NoProto)
			return
		}
		version, rest = int(n), rest[1:]
	}
	if !s.helloOptions(now, args[0], rest) {
		return
	}
	if !s.Authenticated {
		s.W.Error(reply.HelloNoAuth)
		return
	}
	s.setProto(version)
	id := s.registry.host.Identity()
	s.W.Map(7)
	for _, field := range [...][2]string{{"server", id.Server}, {"version", id.Version}} {
		s.W.BulkString(field[0])
		s.W.BulkString(field[1])
	}
	s.W.BulkString("proto")
	s.W.Int(int64(version))
	s.W.BulkString("id")
	s.W.Int(int64(s.ID))
	for _, field := range [...][2]string{{"mode", id.Mode}, {"role", id.Role}} {
		s.W.BulkString(field[0])
		s.W.BulkString(field[1])
	}
	s.W.BulkString("modules")
	s.W.Array(0)
}

// helloOptions applies AUTH and SETNAME; on false the error was written.
func (s *Session) helloOptions(now Instant, name []byte, args [][]byte) bool {
	for len(args) > 0 {
		switch {
		case command.IsToken(args[0], "AUTH") && len(args) >= 3:
			if !s.authenticate(now, name, string(args[1]), args[2]) {
				return false
			}
			args = args[3:]
		case command.IsToken(args[0], "SETNAME") && len(args) >= 2:
			if !s.setName(args[1]) {
				return false
			}
			args = args[2:]
		default:
			s.W.Error(reply.HelloOption(args[0]))
			return false
		}
	}
	return true
}
