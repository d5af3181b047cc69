package server

import (
	"strings"

	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
)

// debugProtocol answers with one reply of a type, for tests of clients.
func debugProtocol(_ *Worker, s *session.Session, args [][]byte) {
	w := &s.W
	switch strings.ToLower(string(args[0])) {
	case "string":
		w.BulkString("Hello World")
	case "integer":
		w.Int(12345)
	case "double":
		w.Double(3.141)
	case "bignum":
		w.BigNumber("1234567999999999999999999999999999999")
	case "null":
		w.Null()
	case "array":
		w.Array(3)
		threeNumbers(s)
	case "set":
		w.Set(3)
		threeNumbers(s)
	case "map":
		w.Map(3)
		for i := range int64(3) {
			w.Int(i)
			w.Bool(i == 1)
		}
	case "attrib":
		if w.Attribute(1) {
			w.BulkString("key-popularity")
			w.Array(2)
			w.BulkString("key:123")
			w.Int(90)
		}
		w.BulkString("Some real reply following the attribute")
	case "push":
		if w.Proto < 3 {
			w.Error(reply.PushNeedsRESP3)
			return
		}
		w.Push(2)
		w.BulkString("server-cpu-usage")
		w.Int(42)
		w.BulkString("Some real reply following the push reply")
	case "true":
		w.Bool(true)
	case "false":
		w.Bool(false)
	case "verbatim":
		w.Verbatim("txt", "This is a verbatim\nstring")
	default:
		w.Error(reply.DebugProtocolType)
	}
}

func threeNumbers(s *session.Session) {
	for i := range int64(3) {
		s.W.Int(i)
	}
}
