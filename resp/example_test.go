package resp_test

import (
	"errors"
	"fmt"

	"github.com/bowline-kv/bowline/resp"
)

// A server reads what has arrived, which may be several commands and a part of one more,
// and collects the replies.
func ExampleCommandReader() {
	in := []byte("*2\r\n$3\r\nGET\r\n$3\r\nkey\r\nPING\r\n*2\r\n$3\r\nDEL")
	var r resp.CommandReader
	var arena [][]byte
	out := resp.Writer{Proto: 3}
	for {
		args, rest, n, err := r.Next(in, arena)
		if errors.Is(err, resp.ErrIncomplete) {
			fmt.Printf("at least %d more bytes\n", r.Missing())
			break
		}
		if err != nil {
			out.Error("ERR " + err.Error()) // and close the connection behind it
			break
		}
		arena, in = rest, in[n:]
		switch {
		case len(args) == 0: // an empty line
		case string(args[0]) == "GET":
			out.Null()
		default:
			out.Simple("PONG")
		}
	}
	fmt.Printf("%q\n", out.B)
	// Output:
	// at least 8 more bytes
	// "_\r\n+PONG\r\n"
}

// A client writes a request and reads the reply.
func ExampleReplyReader() {
	fmt.Printf("%q\n", resp.AppendCommandStrings(nil, "HGETALL", "key"))

	in := []byte("%1\r\n$5\r\nfield\r\n$5\r\nvalue\r\n-WRONGTYPE not a hash\r\n")
	var r resp.ReplyReader
	v, n, err := r.Next(in)
	fmt.Println(v.Kind, string(v.Elems[0].Str), string(v.Elems[1].Str), err)

	v, _, _ = r.Next(in[n:])
	var e *resp.Error
	if errors.As(v.Err(), &e) {
		fmt.Println(e.Code())
	}
	// Output:
	// "*2\r\n$7\r\nHGETALL\r\n$3\r\nkey\r\n"
	// map field value <nil>
	// WRONGTYPE
}
