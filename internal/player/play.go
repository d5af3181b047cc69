package player

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/bowline-kv/bowline/internal/redistest"
)

// Pair is a connection to each server.
type Pair struct {
	Oracle, Subject *redistest.Conn
	// Newer says that the oracle is newer than Debian's.
	Newer bool
}

// Play sends the program to both as one pipeline and describes the first reply
// that differs; "" when none does.
func (p Pair) Play(program [][]string) string {
	var wire []byte
	for _, args := range program {
		wire = append(wire, redistest.Encode(args...)...)
	}
	p.Oracle.Write(wire)
	p.Subject.Write(wire)
	difference := ""
	for i, args := range program {
		want, got := p.Oracle.ReceiveRaw(), p.Subject.ReceiveRaw()
		rule := p.rule(args[0])
		if difference == "" && !rule.Same(want, got) {
			difference = fmt.Sprintf("step %d: %s\n  redis-server: %s\n  bowline:      %s", i+1, Quote(args), shown(want), shown(got))
		}
	}
	return difference
}

func shown(reply []byte) string {
	const most = 400
	if len(reply) > most {
		return fmt.Sprintf("%q... (%d bytes)", reply[:most], len(reply))
	}
	return fmt.Sprintf("%q", bytes.TrimSuffix(reply, []byte("\r\n")))
}

// PlayTurns is [Pair.Play] for several connections: each turn waits for its
// reply, so that both servers see the same order.
func PlayTurns(pairs []Pair, turns []Turn) string {
	for i, turn := range turns {
		p := pairs[turn.Connection]
		want, got := p.Oracle.Raw(turn.Args...), p.Subject.Raw(turn.Args...)
		rule := p.rule(turn.Args[0])
		if strings.EqualFold(turn.Args[0], "EXEC") && !bytes.Equal(want, got) {
			rule = Ignored // its parts have rules of their own; the state at the end tells
			if want[0] != got[0] {
				rule = Exact
			}
		}
		if !rule.Same(want, got) {
			return fmt.Sprintf("turn %d, connection %d: %s\n  redis-server: %s\n  bowline:      %s", i+1, turn.Connection, Quote(turn.Args), shown(want), shown(got))
		}
	}
	return ""
}
