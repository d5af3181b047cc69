package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"go/token"
	"slices"
	"strings"
)

// param is a parameter of a typed method.
type param struct {
	name, typ string
	counted   bool // a slice of keys with its length before it
}

// goTypes are the parameter types of plain arguments.
var goTypes = map[string]string{
	"key": "string", "string": "string", "pattern": "string", "integer": "int64", "unix-time": "int64", "double": "float64",
}

// anything are the arguments that users have as bytes, numbers or strings.
var anything = []string{"value", "element", "message", "serialized-value", "pivot", "member", "min", "max", "start", "stop"}

// params turns the grammar of a command into parameters: plain arguments that must be
// there, as far as they go; what follows is a list of whatever comes.
func params(args []argument) []param {
	var list []param
	for i := 0; i < len(args); i++ {
		a := &args[i]
		if p, ok := plain(a); ok && !followedByKeys(args, i) {
			list = append(list, p)
			continue
		}
		if followedByKeys(args, i) {
			list = append(list, param{"keys", "[]string", true})
			i++
			continue
		}
		return append(list, tail(args[i:])...)
	}
	return list
}

// plain: one argument that is always there.
func plain(a *argument) (param, bool) {
	if len(a.Flags) > 0 || a.Token != "" {
		return param{}, false
	}
	if a.Type == "oneof" {
		return param{name: goName(a.Name), typ: "string"}, !slices.ContainsFunc(a.Arguments, func(a argument) bool {
			return a.Type != "pure-token"
		})
	}
	typ, ok := goTypes[a.Type]
	if (a.Type == "string" || a.Type == "double") && slices.Contains(anything, a.Name) {
		typ = "any"
	}
	return param{name: goName(a.Name), typ: typ}, ok
}

// followedByKeys: a count, and so many keys.
func followedByKeys(args []argument, i int) bool {
	return args[i].Name == "numkeys" && i+1 < len(args) && args[i+1].Type == "key" && slices.Contains(args[i+1].Flags, "multiple")
}

// tail gives the parameters for what is left.
func tail(args []argument) []param {
	first := &args[0]
	repeated := slices.Contains(first.Flags, "multiple") && first.Token == ""
	switch {
	case repeated && first.Type == "key" && len(args) == 1:
		return []param{{name: "keys", typ: "...string"}}
	case repeated && first.Type == "key" && len(args) == 2:
		if p, ok := plain(&args[1]); ok {
			return []param{{name: "keys", typ: "[]string"}, p}
		}
	case repeated && len(args) == 1 && !slices.Contains(first.Flags, "optional"):
		return []param{{name: plural(first.Name), typ: "...any"}}
	}
	return []param{{name: "rest", typ: "...any"}}
}

func plural(name string) string {
	name = goName(name)
	if strings.HasSuffix(name, "s") || name == "data" {
		return name
	}
	return name + "s"
}

// goName turns "start_and-end" into startAndEnd, clear of Go's own words.
func goName(name string) string {
	out, up := "", false
	for _, c := range name {
		switch {
		case c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' || c > 'z':
			up = out != ""
		case up:
			out, up = out+strings.ToUpper(string(c)), false
		default:
			out += string(c)
		}
	}
	if token.IsKeyword(out) || slices.Contains([]string{"c", "ctx", "any", "string"}, out) {
		out += "Arg"
	}
	return out
}

// form is how a method comes to its result: its type, the function that sends, and what
// makes the result of the function's.
type form struct{ result, send, read string }

var forms = map[string]form{
	"ok": {"error", "send", ".ok()"}, "reply": {"Reply", "send", ""},
	"int": {"(int64, error)", "send", ".Int()"}, "bool": {"(bool, error)", "send", ".Bool()"},
	"text": {"(string, error)", "send", ".Text()"}, "float": {"(float64, error)", "send", ".Float()"},
	"texts": {"([]string, error)", "send", ".Texts()"}, "ints": {"([]int64, error)", "send", ".Ints()"},
	"map": {"(map[string]string, error)", "send", ".Map()"}, "ptrs": {"([]*string, error)", "pointers", ""},
}

// emitMethods renders the typed methods.
func emitMethods(table []row) ([]byte, error) {
	byName := map[string]*row{}
	for i := range table {
		byName[table[i].Name] = &table[i]
	}
	var b bytes.Buffer
	b.WriteString(header)
	b.WriteString("import \"context\"\n\n")
	for _, r := range readResults() {
		row := byName[r.command]
		if row == nil {
			return nil, fmt.Errorf("results.go names %s, which is no command", r.command)
		}
		if _, ok := forms[r.kind]; !ok {
			return nil, fmt.Errorf("%s: no kind of result %q", r.command, r.kind)
		}
		emitMethod(&b, &r, row)
	}
	return format.Source(b.Bytes())
}

func emitMethod(b *bytes.Buffer, r *result, row *row) {
	list := params(row.Arguments)
	command := strings.ToUpper(strings.ReplaceAll(row.Name, "|", " "))
	fmt.Fprintf(b, "// %s sends %s: %s.\n", r.method, command, lowerFirst(row.Summary))
	fmt.Fprintf(b, "func (c *Client) %s(ctx context.Context%s) %s {\n", r.method, signature(list), forms[r.kind].result)
	var words []string
	for word := range strings.SplitSeq(command, " ") {
		words = append(words, fmt.Sprintf("%q", word))
	}
	rest := "nil"
	for _, p := range list {
		switch {
		case p.typ == "...any":
			rest = p.name
		case p.counted:
			words = append(words, "len(keys)", "keys")
		default:
			words = append(words, p.name)
		}
	}
	fmt.Fprintf(b, "return c.%s(ctx, %s, %s)%s\n}\n\n", forms[r.kind].send, rest, strings.Join(words, ", "), forms[r.kind].read)
}

func signature(list []param) string {
	out := ""
	for _, p := range list {
		out += ", " + p.name + " " + p.typ
	}
	return out
}

func lowerFirst(s string) string {
	if len(s) > 1 && s[1] >= 'a' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// emitCoverage renders testdata/command_methods.json.
func emitCoverage(table []row) ([]byte, error) {
	methods, refused := map[string][]string{}, map[string]string{}
	for _, r := range readResults() {
		methods[r.command] = append(methods[r.command], "Client."+r.method)
	}
	for _, text := range []string{elsewhere, besides} {
		for row := range rows(text) {
			command, method, _ := strings.Cut(row, " ")
			methods[command] = append(methods[command], method)
		}
	}
	for row := range rows(never) {
		command, why, _ := strings.Cut(row, " ")
		refused[command] = why
	}
	for _, r := range table {
		if parent, _, ok := strings.Cut(r.Name, "|"); ok && parent != "command" {
			methods[parent] = append(methods[parent], methods[r.Name]...)
		}
	}
	var b bytes.Buffer
	b.WriteString("{\"about\": [\"Every command of commands.json and the methods of the Go client that send it; a container has those of its subcommands.\",\n")
	b.WriteString("\"Generated by go generate ./client from client/gen/results.go. never: commands that the client refuses to send, and why.\"],\n\"commands\": {\n")
	var lines, reasons []string
	for _, r := range table {
		switch {
		case refused[r.Name] != "":
			reasons = append(reasons, fmt.Sprintf("%q: %q", r.Name, refused[r.Name]))
		case len(methods[r.Name]) == 0:
			return nil, fmt.Errorf("%s has no method: results.go lacks a row", r.Name)
		default:
			list, err := json.Marshal(methods[r.Name])
			if err != nil {
				return nil, err
			}
			lines = append(lines, fmt.Sprintf("%q: %s", r.Name, list))
		}
	}
	b.WriteString(strings.Join(lines, ",\n") + "\n},\n\"never\": {\n" + strings.Join(reasons, ",\n") + "\n}}\n")
	return b.Bytes(), nil
}
