package server

import (
	"github.com/bowline-kv/bowline/internal/acl"
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/resp"
)

// aclLogShown is how many entries ACL LOG shows unless told otherwise.
const aclLogShown = 10

func aclLog(w *Worker, s *session.Session, args [][]byte) {
	a := &w.srv.accounts
	n := int64(aclLogShown)
	switch {
	case len(args) > 3:
		s.W.Error(reply.UnknownSubcommandOrArgs("ACL", args[1]))
		return
	case len(args) == 3 && command.IsToken(args[2], "RESET"):
		a.logMu.Lock()
		a.log.Reset()
		a.logMu.Unlock()
		s.W.OK()
		return
	case len(args) == 3:
		var ok bool
		if n, ok = resp.ParseInt(args[2]); !ok {
			s.W.Error(reply.NotInteger)
			return
		}
	}
	a.logMu.Lock()
	entries := a.log.Newest(int(max(0, n)))
	a.logMu.Unlock()
	s.W.Array(len(entries))
	for i := range entries {
		writeEntry(s, w.now.Millis(), &entries[i])
	}
}

// writeEntry writes a refusal as it looks at a unix time in milliseconds.
func writeEntry(s *session.Session, now int64, e *acl.Entry) {
	text := func(name, value string) {
		s.W.BulkString(name)
		s.W.BulkString(value)
	}
	number := func(name string, n int64) {
		s.W.BulkString(name)
		s.W.Int(n)
	}
	s.W.Map(10)
	number("count", int64(e.Count))
	text("reason", e.Reason.String())
	text("context", string(e.Context))
	text("object", e.Object)
	text("username", e.Username)
	s.W.BulkString("age-seconds")
	s.W.Double(float64(max(0, now-e.Updated)) / 1000)
	text("client-info", e.Client)
	number("entry-id", int64(e.ID))
	number("timestamp-created", e.Created)
	number("timestamp-last-updated", e.Updated)
}
