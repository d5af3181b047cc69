package command

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/resp"
)

// decodeReply decodes one RESP2 reply of ours into the types that a
// redistest.Conn gives, so that both sides compare with ==.
func decodeReply(b []byte) any {
	v, rest := decodeValue(b)
	if len(rest) != 0 {
		panic(fmt.Sprintf("bytes after the reply: %q", rest))
	}
	return v
}

func decodeValue(b []byte) (any, []byte) {
	line, rest, ok := bytes.Cut(b, []byte("\r\n"))
	if !ok || len(line) == 0 {
		panic(fmt.Sprintf("no reply: %q", b))
	}
	text := string(line[1:])
	switch line[0] {
	case '+':
		return redistest.Simple(text), rest
	case '-':
		return redistest.Error(text), rest
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	switch {
	case line[0] == ':':
		return int64(n), rest
	case n < 0:
		return nil, rest
	case line[0] == '$':
		return string(rest[:n]), rest[n+2:]
	}
	out := make([]any, n)
	for i := range out {
		out[i], rest = decodeValue(rest)
	}
	return out, rest
}

func appendInfo2(s *Spec) []byte {
	w := &resp.Writer{Proto: 2}
	AppendInfo(w, s)
	return w.B
}

func ask(proto int, args ...string) []byte {
	w := &resp.Writer{Proto: proto}
	Reply(w, toArgs(args))
	return w.B
}
