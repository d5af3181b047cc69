package command

import "github.com/bowline-kv/bowline/resp"

// AppendDocs writes the entry of COMMAND DOCS for one row: a map whose fields
// come in Redis's order and are left out when they are empty. The container's
// subcommands follow inside it, by name, as a map of the same kind.
func AppendDocs(w *resp.Writer, s *Spec) {
	subs := workingSubcommands(s)
	fields := 3
	for _, there := range [...]bool{
		s.Complexity != "", len(s.DocFlags) > 0, s.DeprecatedSince != "", s.ReplacedBy != "",
		len(s.Arguments) > 0, subs > 0,
	} {
		if there {
			fields++
		}
	}
	w.Map(fields)
	appendText(w, "summary", s.Summary)
	appendText(w, "since", s.Since)
	appendText(w, "group", s.Group)
	appendTextIf(w, "complexity", s.Complexity)
	appendWords(w, "doc_flags", s.DocFlags)
	appendTextIf(w, "deprecated_since", s.DeprecatedSince)
	appendTextIf(w, "replaced_by", s.ReplacedBy)
	appendArguments(w, s.Arguments)
	if subs == 0 {
		return
	}
	w.BulkString("subcommands")
	w.Map(subs)
	for _, sub := range s.Subcommands {
		if sub.State == Working {
			w.BulkString(sub.Name)
			AppendDocs(w, sub)
		}
	}
}

func appendArguments(w *resp.Writer, args []Argument) {
	if len(args) == 0 {
		return
	}
	w.BulkString("arguments")
	w.Array(len(args))
	for i := range args {
		appendArgument(w, &args[i])
	}
}

func appendArgument(w *resp.Writer, a *Argument) {
	fields := 2
	for _, there := range [...]bool{
		a.KeySpec >= 0, a.Token != "", a.Since != "", a.DeprecatedSince != "",
		len(a.Flags) > 0, len(a.Arguments) > 0,
	} {
		if there {
			fields++
		}
	}
	w.Map(fields)
	appendText(w, "name", a.Name)
	appendText(w, "type", a.Type)
	if a.KeySpec >= 0 {
		appendPair(w, "key_spec_index", a.KeySpec)
	}
	appendTextIf(w, "token", a.Token)
	appendTextIf(w, "since", a.Since)
	appendTextIf(w, "deprecated_since", a.DeprecatedSince)
	appendWords(w, "flags", a.Flags)
	appendArguments(w, a.Arguments)
}

func appendText(w *resp.Writer, name, text string) {
	w.BulkString(name)
	w.BulkString(text)
}

func appendTextIf(w *resp.Writer, name, text string) {
	if text != "" {
		appendText(w, name, text)
	}
}

func appendWords(w *resp.Writer, name string, words []string) {
	if len(words) == 0 {
		return
	}
	w.BulkString(name)
	w.Set(len(words))
	for _, f := range words {
		w.Simple(f)
	}
}
