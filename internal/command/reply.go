package command

import (
	"errors"

	"github.com/bowline-kv/bowline/internal/glob"
	"github.com/bowline-kv/bowline/resp"
)

// Reply answers the COMMAND command and all its subcommands. args is the whole
// request, args[0] being COMMAND; it is only read. The answer depends on
// nothing but the table: only working commands are in it.
func Reply(w *resp.Writer, args [][]byte) {
	if len(args) < 2 {
		infoAll(w)
		return
	}
	sub := Get(IDCommand).Subcommand(args[1])
	if sub == nil {
		w.Error("ERR unknown subcommand '" + clip(args[1]) + "'. Try COMMAND HELP.")
		return
	}
	if !sub.CheckArity(len(args)) {
		w.Error("ERR wrong number of arguments for '" + sub.Name + "' command")
		return
	}
	switch sub.ID {
	case IDCommandCount:
		w.Int(int64(workingCount))
	case IDCommandInfo:
		replyInfo(w, args[2:])
	case IDCommandDocs:
		replyDocs(w, args[2:])
	case IDCommandList:
		replyList(w, args[2:])
	case IDCommandGetkeys:
		replyGetKeys(w, args[2:], false)
	case IDCommandGetkeysandflags:
		replyGetKeys(w, args[2:], true)
	case IDCommandHelp:
		replyHelp(w)
	}
}

// clipMax bounds how much of an unknown name an error repeats, as Redis does.
const clipMax = 128

func clip(b []byte) string {
	if len(b) > clipMax {
		b = b[:clipMax]
	}
	return string(b)
}

// workingCount is the number of working commands, subcommands not counted;
// set when the package is loaded.
var workingCount int

// commands calls f for each working command that is no subcommand, by name.
func commands(f func(*Spec)) {
	for i := range table {
		if s := &table[i]; s.Parent == nil && s.State == Working {
			f(s)
		}
	}
}

func infoAll(w *resp.Writer) {
	w.Array(workingCount)
	commands(func(s *Spec) { AppendInfo(w, s) })
}

func replyInfo(w *resp.Writer, names [][]byte) {
	if len(names) == 0 {
		infoAll(w)
		return
	}
	w.Array(len(names))
	for _, name := range names {
		if s := findName(name); s != nil {
			AppendInfo(w, s)
		} else {
			w.Null()
		}
	}
}

func replyDocs(w *resp.Writer, names [][]byte) {
	if len(names) == 0 {
		w.Map(workingCount)
		commands(func(s *Spec) {
			w.BulkString(s.Name)
			AppendDocs(w, s)
		})
		return
	}
	n := 0
	for _, name := range names {
		if findName(name) != nil {
			n++
		}
	}
	w.Map(n)
	for _, name := range names {
		if s := findName(name); s != nil {
			w.BulkString(s.Name)
			AppendDocs(w, s)
		}
	}
}

// replyList names the commands and subcommands, all or those a filter lets
// through.
func replyList(w *resp.Writer, args [][]byte) {
	match := func(*Spec) bool { return true }
	if len(args) > 0 {
		ok := len(args) == 3 && equalFold(args[0], "FILTERBY")
		if ok {
			match, ok = filter(args[1], args[2])
		}
		if !ok {
			w.Error("ERR syntax error")
			return
		}
	}
	var names []string
	for i := range table {
		if s := &table[i]; s.State == Working && (s.Parent == nil || s.Parent.State == Working) && match(s) {
			names = append(names, s.Name)
		}
	}
	w.Array(len(names))
	for _, n := range names {
		w.BulkString(n)
	}
}

func filter(kind, value []byte) (match func(*Spec) bool, ok bool) {
	switch {
	case equalFold(kind, "MODULE"):
		return func(*Spec) bool { return false }, true
	case equalFold(kind, "ACLCAT"):
		cat := ParseCategory(value)
		return func(s *Spec) bool { return s.Categories&cat != 0 }, true
	case equalFold(kind, "PATTERN"):
		return func(s *Spec) bool { return glob.MatchFold(value, []byte(s.Name)) }, true
	}
	return nil, false
}

func replyGetKeys(w *resp.Writer, args [][]byte, withFlags bool) {
	s := Find(args)
	if s == nil {
		w.Error("ERR Invalid command specified")
		return
	}
	if !s.namesKeys() {
		w.Error("ERR The command has no key arguments")
		return
	}
	if !s.CheckArity(len(args)) {
		w.Error("ERR Invalid number of arguments specified for command")
		return
	}
	refs, err := s.Keys(args, nil)
	if err != nil {
		if errors.Is(err, ErrNoKeys) {
			w.Error("ERR The command has no key arguments")
		} else {
			w.Error("ERR Invalid arguments specified for command")
		}
		return
	}
	w.Array(len(refs))
	for _, r := range refs {
		if withFlags {
			w.Array(2)
		}
		w.Bulk(args[r.Index])
		if withFlags {
			appendFlags(w, uint64(r.Flags), keyFlagNames[:], "")
		}
	}
}

// namesKeys reports whether some argument may be a key: shard channels route
// like keys, but COMMAND GETKEYS does not count them.
func (s *Spec) namesKeys() bool {
	for i := range s.KeySpecs {
		if !s.KeySpecs[i].Flags.Has(KeyNotKey) {
			return true
		}
	}
	return false
}

func replyHelp(w *resp.Writer) {
	w.Array(len(helpLines))
	for _, l := range helpLines {
		w.Simple(l)
	}
}

// helpLines has Redis's frame; the sentences are ours.
var helpLines = [...]string{
	"COMMAND <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
	"(no subcommand)",
	"    Describe every command, as INFO does.",
	"COUNT",
	"    Tell how many commands there are.",
	"DOCS [<command-name> ...]",
	"    Document the named commands, or all of them.",
	"GETKEYS <full-command>",
	"    Pick the keys out of a command with its arguments.",
	"GETKEYSANDFLAGS <full-command>",
	"    The same, each key with what the command does to it.",
	"INFO [<command-name> ...]",
	"    Describe the named commands, or all of them.",
	"LIST [FILTERBY (MODULE <module>|ACLCAT <category>|PATTERN <pattern>)]",
	"    Name the commands, or those that a filter lets through.",
	"HELP",
	"    Print this text.",
}
