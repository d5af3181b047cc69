// Package resp is the Redis serialization protocol, versions 2 and 3, in both
// directions.
//
// A server reads requests with [CommandReader] and answers with [Writer]; a
// client writes requests with [AppendCommand] and reads answers with
// [ReplyReader]. All of them work on byte slices that the caller owns: the
// package opens no socket, starts no goroutine and looks at no clock.
//
// What it promises:
//
//   - Reading is incremental. A reader that answers [ErrIncomplete] has consumed
//     nothing and remembers how far it came; the caller appends more bytes to the
//     same start and calls again. Bytes already searched are not searched again,
//     and the outcome never depends on where the input was cut.
//   - Memory follows data, never claims. A length that a peer announces reserves
//     nothing; only bytes that arrived do.
//   - In steady state, reading commands and writing replies allocate nothing.
//   - Whatever the input, nothing panics; malformed input is a [ProtocolError].
//   - Requests are accepted and refused as by Redis 7.0, with the same error texts,
//     see [CommandReader].
//
// What it refuses: the streamed strings and aggregates of the RESP3 draft ("$?",
// "*?"), which no server sends.
//
// To start, on a server:
//
//	var r resp.CommandReader // Limits: zero means DefaultLimits
//	args, arena, n, err := r.Next(buf, arena[:0])
//
// and on a client:
//
//	out := resp.AppendCommandStrings(nil, "SET", "key", "value")
//	var rr resp.ReplyReader
//	v, n, err := rr.Next(in)
package resp
