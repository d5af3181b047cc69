package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// merge adds the commands that the server knows and the file lacks, and prints
// the differences of the others.
func (f *file) merge(addr string, out io.Writer) error {
	c, err := dialServer(addr)
	if err != nil {
		return err
	}
	defer c.nc.Close()
	info, err := c.do("COMMAND")
	if err != nil {
		return err
	}
	docs, err := c.do("COMMAND", "DOCS")
	if err != nil {
		return err
	}
	known := map[string]*row{}
	for _, r := range f.Commands {
		known[r.Name] = r
	}
	for _, r := range liveRows(info, pairs(docs)) {
		old := known[r.Name]
		if old == nil {
			f.Commands = append(f.Commands, r)
			fmt.Fprintln(out, "added", r.Name)
			continue
		}
		printDiff(out, old, r)
	}
	return nil
}

func printDiff(out io.Writer, old, live *row) {
	diff := func(what string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			fmt.Fprintf(out, "%s: %s is %v, live %v\n", live.Name, what, a, b)
		}
	}
	diff("arity", old.Arity, live.Arity)
	diff("flags", old.Flags, live.Flags)
	diff("keys", old.Keys, live.Keys)
	diff("categories", old.Categories, live.Categories)
	diff("tips", old.Tips, live.Tips)
	diff("key_specs", old.KeySpecs, live.KeySpecs)
}

// liveRows turns the replies of COMMAND and COMMAND DOCS into rows.
func liveRows(info any, docs map[string]any) []*row {
	var out []*row
	for _, e := range list(info) {
		fields := list(e)
		if len(fields) < 10 {
			continue
		}
		doc := pairs(docs[text(fields[0])])
		r := liveRow(fields, doc)
		out = append(out, r)
		out = append(out, liveRows(fields[9], pairs(doc["subcommands"]))...)
	}
	return out
}

func liveRow(fields []any, doc map[string]any) *row {
	r := &row{
		Name: text(fields[0]), Arity: number64(fields[1]), Flags: words(fields[2], ""),
		Categories: words(fields[6], "@"), Tips: words(fields[7], ""),
		Group: text(doc["group"]), Since: text(doc["since"]),
		DocFlags: words(doc["doc_flags"], ""), DeprecatedSince: text(doc["deprecated_since"]),
		Locks: "none", State: "planned",
	}
	if first := number64(fields[3]); first != 0 {
		r.Keys = []int{first, number64(fields[4]), number64(fields[5])}
		r.Locks = "keys"
	}
	for _, k := range list(fields[8]) {
		r.KeySpecs = append(r.KeySpecs, liveKeySpec(pairs(k)))
		r.Locks = "keys"
	}
	for _, a := range list(doc["arguments"]) {
		r.Arguments = append(r.Arguments, liveArgument(pairs(a)))
	}
	return r
}

func liveKeySpec(k map[string]any) keySpec {
	b, f := pairs(k["begin_search"]), pairs(k["find_keys"])
	bs, fs := pairs(b["spec"]), pairs(f["spec"])
	return keySpec{
		Flags: words(k["flags"], ""),
		Begin: begin{Type: text(b["type"]), Index: number64(bs["index"]),
			Keyword: text(bs["keyword"]), StartFrom: number64(bs["startfrom"])},
		Find: find{Type: text(f["type"]), LastKey: number64(fs["lastkey"]), KeyStep: number64(fs["keystep"]),
			Limit: number64(fs["limit"]), KeynumAt: number64(fs["keynumidx"]), FirstKey: number64(fs["firstkey"])},
	}
}

func liveArgument(a map[string]any) argument {
	arg := argument{
		Name: text(a["name"]), Type: text(a["type"]), Token: text(a["token"]), Since: text(a["since"]),
		DeprecatedSince: text(a["deprecated_since"]), Flags: words(a["flags"], ""),
	}
	if n, ok := a["key_spec_index"].(int64); ok {
		spec := int(n)
		arg.KeySpec = &spec
	}
	for _, sub := range list(a["arguments"]) {
		arg.Arguments = append(arg.Arguments, liveArgument(pairs(sub)))
	}
	return arg
}

func list(v any) []any { l, _ := v.([]any); return l }

func text(v any) string { s, _ := v.(string); return s }

func number64(v any) int { n, _ := v.(int64); return int(n) }

func words(v any, strip string) []string {
	var out []string
	for _, w := range list(v) {
		out = append(out, strings.TrimPrefix(text(w), strip))
	}
	return out
}

func pairs(v any) map[string]any {
	l, m := list(v), map[string]any{}
	for i := 0; i+1 < len(l); i += 2 {
		m[text(l[i])] = l[i+1]
	}
	return m
}

// server is a RESP2 connection, just good enough for two questions.
type server struct {
	nc net.Conn
	rd *bufio.Reader
}

func dialServer(addr string) (*server, error) {
	network := "tcp"
	if strings.Contains(addr, "/") {
		network = "unix"
	}
	nc, err := net.DialTimeout(network, addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &server{nc: nc, rd: bufio.NewReader(nc)}, nil
}

func (s *server) do(args ...string) (any, error) {
	if _, err := io.WriteString(s.nc, strings.Join(args, " ")+"\r\n"); err != nil {
		return nil, err
	}
	return s.read(0)
}

func (s *server) read(depth int) (any, error) {
	line, err := s.rd.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" || depth > 32 {
		return nil, fmt.Errorf("read reply: malformed")
	}
	rest := line[1:]
	switch line[0] {
	case '+':
		return rest, nil
	case '-':
		return nil, fmt.Errorf("server: %s", rest)
	}
	n, err := strconv.ParseInt(rest, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("read reply: %w", err)
	}
	switch {
	case line[0] == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case line[0] == '$':
		b := make([]byte, n+2)
		_, err := io.ReadFull(s.rd, b)
		return string(b[:n]), err
	}
	out := make([]any, 0, n)
	for range n {
		v, err := s.read(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
