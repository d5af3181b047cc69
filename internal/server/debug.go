package server

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/glob"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/store"
	"github.com/bowline-kv/bowline/resp"
)

// debugCommand is a subcommand of DEBUG, with the least and the largest number of
// arguments after its name.
type debugCommand struct {
	least, most int
	run         func(w *Worker, s *session.Session, args [][]byte)
}

// debugCommands are those that do something. They are for tests: what they print
// and change may differ from one version to the next.
var debugCommands map[string]debugCommand

func init() { // not a literal: HELP lists the table
	debugCommands = map[string]debugCommand{
		"CONFIG-REWRITE-FORCE-ALL":   {0, 0, configRewrite},
		"DICT-RESIZING":              {1, 1, debugNothing},
		"DIGEST":                     {0, 0, debugDigest},
		"DIGEST-VALUE":               {0, argumentsMax, debugDigestValue},
		"ERROR":                      {1, 1, func(_ *Worker, s *session.Session, args [][]byte) { s.W.Error(string(args[0])) }},
		"HELP":                       {0, 0, debugHelp},
		"HTSTATS":                    {1, 2, debugTables},
		"HTSTATS-KEY":                {1, 2, debugMembers},
		"LISTPACK":                   {1, 1, debugPacked},
		"LOADAOF":                    {0, 0, debugLoadAOF},
		"LOG":                        {1, 1, debugLog},
		"OBJECT":                     {1, 2, debugObject},
		"PAUSE-CRON":                 {1, 1, debugPauseCron},
		"POPULATE":                   {1, 3, debugPopulate},
		"PROTOCOL":                   {1, 1, debugProtocol},
		"QUICKLIST-PACKED-THRESHOLD": {1, 1, debugNothing}, // a node takes elements of any size
		"RELOAD":                     {0, argumentsMax, debugReload},
		"REPLYBUFFER":                {2, 2, debugNothing},
		"SET-ACTIVE-EXPIRE":          {1, 1, debugActiveExpire},
		"SLEEP":                      {1, 1, debugSleep},
		"STRINGMATCH-LEN":            {2, 2, debugStringMatch},
	}
}

const argumentsMax = 1 << 20

// debugUnsupported are Redis's other subcommands, with the reason why they are
// refused.
var debugUnsupported = map[string]string{
	"CHANGE-REPL-ID":               "histories change with each start of a writer",
	"AOF-FLUSH-SLEEP":              "tests slow the disk down instead",
	"SET-SKIP-CHECKSUM-VALIDATION": "checksums are always compared",
	"JMAP":                         "there is no Java heap", "MALLCTL": "the allocator is not jemalloc", "MALLCTL-STR": "the allocator is not jemalloc",
	"STRUCTSIZE": "the structures are not those of Redis", "SDSLEN": "strings are not kept as in Redis",
	"QUICKLIST": "values are not kept as in Redis", "SET-DISABLE-DENY-SCRIPTS": "there are no scripts yet",
	"REPLICATE": "replicas must not diverge", "CLIENT-EVICTION": "clients are not kept in buckets by size",
	"SEGFAULT": "it would end the process", "PANIC": "it would end the process", "ASSERT": "it would end the process", "OOM": "it would end the process",
	"RESTART": "it would end the process", "CRASH-AND-RECOVER": "it would end the process", "LEAK": "it would leak memory",
	"CLUSTERLINK": "there is no cluster bus", "DROP-CLUSTER-PACKET-FILTER": "there is no cluster bus", "STRINGMATCH-TEST": "there is a fuzz test",
}

func debug(w *Worker, s *session.Session, args [][]byte) {
	if !w.srv.cfg.Allows(config.EnableDebugCommand, s.FromHere()) {
		s.W.Error(reply.DebugNotAllowed)
		return
	}
	name := strings.ToUpper(string(args[1]))
	d, ok := debugCommands[name]
	switch {
	case debugUnsupported[name] != "":
		s.W.Error(reply.DebugUnsupported(name, debugUnsupported[name]))
	case !ok || len(args)-2 < d.least || len(args)-2 > d.most:
		s.W.Error(reply.UnknownSubcommandOrArgs("DEBUG", args[1]))
	default:
		d.run(w, s, args[2:])
	}
}

// number reads an argument as C does: what is no number is 0.
func number(arg []byte) int64 {
	n, _ := resp.ParseInt(arg)
	return n
}

func debugNothing(_ *Worker, s *session.Session, _ [][]byte) { s.W.OK() }

func debugHelp(_ *Worker, s *session.Session, _ [][]byte) {
	writeHelp(s, "DEBUG", []string{
		"DIGEST", "Return a digest of all keys and values.",
		"DIGEST-VALUE <key> [<key> ...]", "Return a digest of each value.",
		"ERROR <text>", "Answer with this error.",
		"HTSTATS <database>", "Describe the tables of a database.",
		"HTSTATS-KEY <key>", "Describe the table of a large hash, set or sorted set.",
		"LISTPACK <key>", "Describe a collection that is packed.",
		"LOG <text>", "Write a line to the log.",
		"OBJECT <key>", "Describe a value.",
		"PAUSE-CRON <0|1>", "Stop the background work, or let it go on.",
		"POPULATE <count> [<prefix>] [<size>]", "Create keys.",
		"PROTOCOL <type>", "Answer with a reply of this type.",
		"RELOAD [MERGE] [NOFLUSH] [NOSAVE]", "Save everything, and load it anew.",
		"LOADAOF", "Forget everything, and recover it from the snapshot and the log.",
		"SET-ACTIVE-EXPIRE <0|1>", "Let only commands delete keys whose time is over, or the background too.",
		"SLEEP <seconds>", "Hold up everything.",
		"STRINGMATCH-LEN <length> <pattern>", "Match a text of so many letters with a pattern.",
	})
}

// debugSleep keeps all locks meanwhile, so that no command on keys runs, whoever
// sends it.
func debugSleep(w *Worker, s *session.Session, args [][]byte) {
	seconds, _ := strconv.ParseFloat(string(args[0]), 64)
	const most = 3600
	seconds = min(max(seconds, 0), most)
	sleep := w.srv.process.Sleep
	if sleep == nil {
		s.W.Error(reply.DebugUnsupported("SLEEP", "this process has no clock"))
		return
	}
	if !w.inExec {
		w.ctx.LockAll()
		defer w.ctx.Unlock()
	}
	sleep(time.Duration(seconds * float64(time.Second)))
	s.W.OK()
}

func debugActiveExpire(w *Worker, s *session.Session, args [][]byte) {
	w.srv.noActiveExpire.Store(number(args[0]) == 0)
	s.W.OK()
}

func debugPauseCron(w *Worker, s *session.Session, args [][]byte) {
	w.srv.cronPaused.Store(number(args[0]) != 0)
	s.W.OK()
}

func debugLog(w *Worker, s *session.Session, args [][]byte) {
	if f := w.srv.process.Log; f != nil {
		f("DEBUG LOG: " + string(args[0]))
	}
	s.W.OK()
}

// debugStringMatch matches a text of many letters a.
func debugStringMatch(_ *Worker, s *session.Session, args [][]byte) {
	const most = 1 << 20
	text := bytes.Repeat([]byte{'a'}, int(min(max(number(args[0]), 0), most)))
	if glob.Match(args[1], text) {
		s.W.Int(1)
	} else {
		s.W.Int(0)
	}
}

// withKey runs f with a key's entry, locked; ok says whether there is one. A
// transaction with DEBUG in it has locked everything.
func (w *Worker) withKey(s *session.Session, name []byte, f func(e store.Entry, ok bool)) {
	w.ctx.DB = s.DB
	if !w.inExec {
		w.keys = append(w.keys[:0], w.ctx.Key(name))
		w.ctx.LockKeys(w.keys)
		defer w.ctx.Unlock()
	}
	e, ok := w.ctx.Peek(name)
	f(e, ok)
}

func debugObject(w *Worker, s *session.Session, args [][]byte) {
	w.withKey(s, args[0], func(e store.Entry, ok bool) {
		if !ok {
			s.W.Error(reply.NoSuchKey)
			return
		}
		// The time of last use is known only while eviction goes by it.
		idle := strings.TrimPrefix(w.ask(command.IDObjectIdletime, args[0]), ":")
		if strings.HasPrefix(idle, "-") {
			idle = "0"
		}
		_, encoding, _ := strings.Cut(w.ask(command.IDObjectEncoding, args[0]), "\r\n")
		s.W.Simple(fmt.Sprintf("Value at:0x0 refcount:1 encoding:%s serializedlength:%d lru:%d lru_seconds_idle:%s", encoding, w.valueBytes(args[0], &e), e.Access, idle))
	})
}

// ask runs a subcommand of OBJECT on a locked key and gives its reply without the
// last line end.
func (w *Worker) ask(id command.ID, key []byte) string {
	var answer resp.Writer
	out := w.ctx.W
	w.ctx.W = &answer
	w.srv.routes[id].keys(&w.ctx, [][]byte{nil, nil, key})
	w.ctx.W = out
	return strings.TrimSuffix(string(answer.B), "\r\n")
}

func debugTables(w *Worker, s *session.Session, args [][]byte) {
	n, ok := resp.ParseInt(args[0])
	if !ok {
		s.W.Error(reply.NotInteger)
		return
	}
	o := w.overview()
	if n < 0 || n >= int64(len(o.Databases)) {
		s.W.Error(reply.DatabaseRange)
		return
	}
	d := o.Databases[n]
	s.W.Verbatim("txt", fmt.Sprintf("[Keys]\n number of elements: %d\n bytes of records: %d\n bytes of pages: %d\n[Expires]\n number of elements: %d\n",
		d.Keys, d.Bytes, d.Footprint, d.Expiring))
}

// debugPopulate makes keys prefix:0, prefix:1 ... that do not exist yet, each
// with the value "value:n", filled up with zero bytes or cut to a size.
func debugPopulate(w *Worker, s *session.Session, args [][]byte) {
	count, ok := resp.ParseInt(args[0])
	if !ok || count < 0 {
		s.W.Error(reply.NotPositive)
		return
	}
	prefix, size := []byte("key"), int64(0)
	if len(args) > 1 {
		prefix = args[1]
	}
	if len(args) > 2 {
		size, ok = resp.ParseInt(args[2])
		if !ok || size < 0 || size > w.srv.cfg.Int(config.ProtoMaxBulkLen) {
			s.W.Error(reply.NotPositive)
			return
		}
	}
	if w.inExec {
		s.W.Error(reply.NotInMulti)
		return
	}
	w.ctx.DB = s.DB
	for i := range count {
		if !w.ctx.MakeRoom() {
			s.W.Error(reply.OutOfMemory)
			return
		}
		value := fmt.Appendf(nil, "value:%d", i)
		if size > 0 {
			value = append(value, make([]byte, max(0, int(size)-len(value)))...)[:size]
		}
		w.populateOne(fmt.Appendf(bytes.Clone(prefix), ":%d", i), value)
	}
	s.W.OK()
}

func (w *Worker) populateOne(key, value []byte) {
	w.keys = append(w.keys[:0], w.ctx.Key(key))
	w.ctx.LockKeys(w.keys)
	defer w.ctx.Unlock()
	if _, exists := w.ctx.Find(key); !exists {
		w.ctx.SetString(key, value, 0)
		w.ctx.EmitSet(key, value, 0)
	}
}
