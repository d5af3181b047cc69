package clienttest

import (
	"fmt"
	"strconv"
	"strings"
)

// Calls counts the commands of a name, as INFO commandstats does, since the node's start
// or restart: those that were executed, and those that were refused before that, by a
// redirection for instance. A subcommand's name is "config|get". A node that does not run
// ends the test.
func (n *Node) Calls(command string) (executed, refused int) {
	n.tb.Helper()
	executed, refused, err := n.calls(strings.ToLower(command))
	if err != nil {
		n.tb.Fatalf("count commands of node %s: %v", n.addr, err)
	}
	return executed, refused
}

func (n *Node) calls(command string) (executed, refused int, err error) {
	l, err := n.link()
	if err != nil {
		return 0, 0, err
	}
	defer l.Close()
	v, err := l.do("INFO", "commandstats")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(v.Str)) {
		if fields, ok := strings.CutPrefix(line, "cmdstat_"+command+":"); ok {
			return counts(strings.TrimSpace(fields))
		}
	}
	return 0, 0, nil // none was called
}

// counts reads the fields of a line of INFO commandstats.
func counts(fields string) (executed, refused int, err error) {
	for field := range strings.SplitSeq(fields, ",") {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "calls":
			executed, err = strconv.Atoi(value)
		case "rejected_calls":
			refused, err = strconv.Atoi(value)
		}
		if err != nil {
			return 0, 0, fmt.Errorf("field %s: %w", name, err)
		}
	}
	return executed, refused, nil
}
