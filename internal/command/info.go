package command

import "github.com/bowline-kv/bowline/resp"

// AppendInfo writes the entry of COMMAND INFO for one row: ten elements, of
// which flags, categories, tips and key specifications are sets in RESP3. The
// subcommands in it are the working ones, by name. The notes that Redis adds to
// some key specifications are left out: they are prose, and optional.
func AppendInfo(w *resp.Writer, s *Spec) {
	w.Array(10)
	w.BulkString(s.Name)
	w.Int(int64(s.Arity))
	appendFlags(w, uint64(s.Flags), flagNames[:], "")
	w.Int(int64(s.FirstKey))
	w.Int(int64(s.LastKey))
	w.Int(int64(s.KeyStep))
	appendFlags(w, uint64(s.Categories), categoryNames[:], "@")
	w.Set(len(s.Tips))
	for _, t := range s.Tips {
		w.BulkString(t)
	}
	w.Set(len(s.KeySpecs))
	for i := range s.KeySpecs {
		appendKeySpec(w, &s.KeySpecs[i])
	}
	subs := workingSubcommands(s)
	if subs == 0 {
		w.Set(0) // Redis has a set of none here, but an array of some
		return
	}
	w.Array(subs)
	for _, sub := range s.Subcommands {
		if sub.State == Working {
			AppendInfo(w, sub)
		}
	}
}

// appendFlags writes a set of simple strings, one per bit that is set.
func appendFlags(w *resp.Writer, set uint64, names []string, prefix string) {
	n := 0
	for i := range names {
		n += int(set >> i & 1)
	}
	w.Set(n)
	for i, name := range names {
		if set>>i&1 != 0 {
			w.Simple(prefix + name)
		}
	}
}

func appendKeySpec(w *resp.Writer, k *KeySpec) {
	w.Map(3)
	w.BulkString("flags")
	appendFlags(w, uint64(k.Flags), keyFlagNames[:], "")
	w.BulkString("begin_search")
	switch k.Begin {
	case BeginIndex:
		appendRule(w, "index", "index", k.Index)
	case BeginKeyword:
		appendRuleHead(w, "keyword", 2)
		w.BulkString("keyword")
		w.BulkString(k.Keyword)
		appendPair(w, "startfrom", k.StartFrom)
	default:
		appendRuleHead(w, "unknown", 0)
	}
	w.BulkString("find_keys")
	switch k.Find {
	case FindRange:
		appendRuleHead(w, "range", 3)
		appendPair(w, "lastkey", k.LastKey)
		appendPair(w, "keystep", k.KeyStep)
		appendPair(w, "limit", k.Limit)
	case FindKeynum:
		appendRuleHead(w, "keynum", 3)
		appendPair(w, "keynumidx", k.KeynumAt)
		appendPair(w, "firstkey", k.FirstKey)
		appendPair(w, "keystep", k.KeyStep)
	default:
		appendRuleHead(w, "unknown", 0)
	}
}

func appendRule(w *resp.Writer, kind, name string, n int) {
	appendRuleHead(w, kind, 1)
	appendPair(w, name, n)
}

func appendRuleHead(w *resp.Writer, kind string, pairs int) {
	w.Map(2)
	w.BulkString("type")
	w.BulkString(kind)
	w.BulkString("spec")
	w.Map(pairs)
}

func appendPair(w *resp.Writer, name string, n int) {
	w.BulkString(name)
	w.Int(int64(n))
}

func workingSubcommands(s *Spec) int {
	n := 0
	for _, sub := range s.Subcommands {
		if sub.State == Working {
			n++
		}
	}
	return n
}
