package command

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/redistest"
	"github.com/bowline-kv/bowline/resp"
	"github.com/google/go-cmp/cmp"
)

// protocols runs a test in RESP2 and RESP3 against one server.
func protocols(t *testing.T, test func(t *testing.T, conn *redistest.Conn, proto int)) {
	srv := redistest.Start(t)
	for _, proto := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", proto), func(t *testing.T) {
			conn := srv.Dial(t)
			conn.Do("HELLO", fmt.Sprint(proto))
			test(t, conn, proto)
		})
	}
}

// TestInfoBytes compares every row whose facts are the server's, working or
// not, with what the server writes. Containers are left to TestRowsMatchLiveServer:
// the server lists their subcommands in the order of a hash table.
func TestInfoBytes(t *testing.T) {
	differ := rowDifferences(t)
	protocols(t, func(t *testing.T, conn *redistest.Conn, proto int) {
		same := 0
		for s := range All() {
			if _, differs := differ[s.Name]; differs || len(s.Subcommands) > 0 {
				continue
			}
			live := conn.Raw("COMMAND", "INFO", s.Name)
			if bytes.Contains(live, []byte("\r\nnotes\r\n")) || bytes.HasSuffix(live, []byte("*1\r\n_\r\n")) ||
				bytes.HasSuffix(live, []byte("*1\r\n$-1\r\n")) {
				continue
			}
			w := &resp.Writer{Proto: proto}
			w.Array(1)
			AppendInfo(w, s)
			if diff := cmp.Diff(string(live), string(w.B)); diff != "" {
				t.Errorf("%s: server (-) and table (+):\n%s", s.Name, diff)
			}
			same++
		}
		if same < 300 {
			t.Errorf("only %d rows were compared", same)
		}
	})
}

// TestReplyBytes compares whole answers that do not depend on which commands
// work, nor on the order of a hash table.
func TestReplyBytes(t *testing.T) {
	long := strings.Repeat("x", 300)
	requests := [][]string{
		{"COMMAND", "INFO", "get"},
		{"command", "info", "GET", "nosuch", "mset", ""},
		{"COMMAND", "INFO", "config|get", "CONFIG|SET", "config|", "|get", "config|get|x", "config|nosuch"},
		{"COMMAND", "COUNT", "x"},
		{"COMMAND", "HELP", "x"},
		{"COMMAND", "DOCS", "nosuch"},
		{"COMMAND", "NOSUCH"},
		{"COMMAND", "no\r\nsuch", "x"},
		{"COMMAND", long},
		{"COMMAND", ""},
		{"COMMAND", "LIST", "FILTERBY"},
		{"COMMAND", "LIST", "FILTERBY", "PATTERN"},
		{"COMMAND", "LIST", "FILTERBY", "NOSUCH", "x"},
		{"COMMAND", "LIST", "PATTERN", "x"},
		{"COMMAND", "LIST", "FILTERBY", "MODULE", "x"},
		{"COMMAND", "LIST", "FILTERBY", "ACLCAT", "nosuch"},
		{"COMMAND", "LIST", "FILTERBY", "ACLCAT", "@read"},
		{"COMMAND", "LIST", "FILTERBY", "PATTERN", "getde?"},
		{"COMMAND", "LIST", "filterby", "pattern", "CONFIG|RESET*"},
		{"COMMAND", "GETKEYS"},
		{"COMMAND", "GETKEYS", "get", "a"},
		{"COMMAND", "GETKEYS", "get", "a", "b"},
		{"COMMAND", "GETKEYS", "nosuch", "a"},
		{"COMMAND", "GETKEYS", "config", "get"},
		{"COMMAND", "GETKEYS", "config", "nosuch"},
		{"COMMAND", "GETKEYS", "echo", "a"},
		{"COMMAND", "GETKEYS", "mset", "a", "1", "b", "2"},
		{"COMMAND", "GETKEYSANDFLAGS", "set", "a", "1"},
		{"COMMAND", "GETKEYSANDFLAGS", "set", "a", "1", "GET"},
		{"COMMAND", "GETKEYSANDFLAGS", "del", "a", "b"},
		{"COMMAND", "GETKEYSANDFLAGS", "ping", "x"},
	}
	protocols(t, func(t *testing.T, conn *redistest.Conn, proto int) {
		for _, r := range requests {
			live, ours := conn.Raw(r...), ask(proto, r...)
			if diff := cmp.Diff(string(live), string(ours)); diff != "" {
				t.Errorf("%.80q: server (-) and table (+):\n%s", r, diff)
			}
		}
	})
}

// TestDocsShape compares the documentation, but for the sentences, which are
// ours, and the history, which we do not keep.
func TestDocsShape(t *testing.T) {
	conn := redistest.Start(t).Dial(t)
	grammarDiffers := map[string]string{
		"set": "IFEQ", "zrank": "WITHSCORE", "zrevrank": "WITHSCORE", "hscan": "NOVALUES", "quit": "deprecated in 7.2",
		"migrate": "the token that is the empty string is left out",
	}
	compared := 0
	for s := range All() {
		live, _ := conn.Do("COMMAND", "DOCS", s.Name).([]any)
		if len(live) != 2 || len(s.Subcommands) > 0 || grammarDiffers[s.Name] != "" {
			continue
		}
		w := &resp.Writer{Proto: 2}
		AppendDocs(w, s)
		ours := decodeReply(w.B).([]any)
		if diff := cmp.Diff(docFacts(live[1].([]any)), docFacts(ours)); diff != "" {
			t.Errorf("%s: server (-) and table (+):\n%s", s.Name, diff)
		}
		compared++
	}
	if compared < 300 {
		t.Errorf("only %d rows were compared", compared)
	}
}

func docFacts(pairs []any) []any {
	var out []any
	for i := 0; i+1 < len(pairs); i += 2 {
		switch name := pairs[i].(string); name {
		case "history", "complexity":
		case "summary", "replaced_by":
			out = append(out, name)
		default:
			out = append(out, name, pairs[i+1])
		}
	}
	return out
}

func TestListsMatchLiveServerOnWorkingCommands(t *testing.T) {
	conn := redistest.Start(t).Dial(t)
	for _, r := range [][]string{
		{"COMMAND", "LIST"},
		{"COMMAND", "LIST", "FILTERBY", "ACLCAT", "connection"},
		{"COMMAND", "LIST", "FILTERBY", "ACLCAT", "Dangerous"},
		{"COMMAND", "LIST", "FILTERBY", "PATTERN", "c*"},
	} {
		var want, got []string
		for _, n := range conn.Do(r...).([]any) {
			if findName([]byte(n.(string))) != nil {
				want = append(want, n.(string))
			}
		}
		for _, n := range decodeReply(ask(2, r...)).([]any) {
			if s := findAnyName(n.(string)); s.SinceValkey || s.Since >= "7.2.0" {
				continue
			}
			got = append(got, n.(string))
		}
		sort.Strings(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: server (-) and table (+):\n%s", r, diff)
		}
	}
}

// TestOnlyWorkingCommandsExist: a planned command is an unknown one.
func TestOnlyWorkingCommandsExist(t *testing.T) {
	count := 0
	for s := range All() {
		container, sub, isSub := strings.Cut(s.Name, "|")
		args := [][]byte{[]byte(container)}
		if isSub {
			args = append(args, []byte(sub))
		} else if s.State == Working {
			count++
		}
		if got := Find(args); (got == s) != (s.State == Working) {
			t.Errorf("%s is %v, and Find gave %v", s.Name, s.State, got)
		}
		listed := string(ask(2, "COMMAND", "INFO", s.Name)) != "*1\r\n$-1\r\n"
		if listed != (s.State == Working) {
			t.Errorf("%s is %v, and COMMAND INFO says otherwise", s.Name, s.State)
		}
	}
	if got := decodeReply(ask(2, "COMMAND", "COUNT")); got != int64(count) {
		t.Errorf("COMMAND COUNT is %v, want %d", got, count)
	}
	for _, args := range [][]string{{"COMMAND"}, {"COMMAND", "INFO"}} {
		if got := len(decodeReply(ask(2, args...)).([]any)); got != count {
			t.Errorf("%q has %d entries, want %d", args, got, count)
		}
	}
	if got := len(decodeReply(ask(2, "COMMAND", "DOCS")).([]any)); got != 2*count {
		t.Errorf("COMMAND DOCS has %d elements, want %d", got, 2*count)
	}
	help := decodeReply(ask(2, "COMMAND", "HELP")).([]any)
	if help[0] != redistest.Simple(helpLines[0]) {
		t.Errorf("COMMAND HELP begins with %v", help[0])
	}
}
