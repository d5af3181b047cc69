package server

import (
	"strconv"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
)

// handlers maps the commands about the node to their handlers.
var handlers map[string]func(w *Worker, s *session.Session, args [][]byte)

func init() { // not a literal: the handlers of CLUSTER are made by a call
	handlers = map[string]func(w *Worker, s *session.Session, args [][]byte){
		"acl|cat":                 aclCat,
		"acl|deluser":             aclDelUser,
		"acl|dryrun":              aclDryRun,
		"acl|genpass":             aclGenPass,
		"acl|getuser":             aclGetUser,
		"acl|help":                aclHelp,
		"acl|list":                aclList,
		"acl|load":                aclLoad,
		"acl|log":                 aclLog,
		"acl|save":                aclSave,
		"acl|setuser":             aclSetUser,
		"acl|users":               aclUsers,
		"acl|whoami":              aclWhoAmI,
		"asking":                  asking,
		"bgrewriteaof":            bgRewriteAOF,
		"bgsave":                  bgSave,
		"client|pause":            clientPause,
		"client|tracking":         clientTracking,
		"client|unblock":          clientUnblock,
		"client|unpause":          clientUnpause,
		"cluster|countkeysinslot": clustered(clusterCountKeys),
		"cluster|getkeysinslot":   clustered(clusterGetKeys),
		"cluster|help":            clustered(clusterHelp),
		"cluster|info":            clustered(clusterInfo),
		"cluster|keyslot":         clustered(clusterKeySlot),
		"cluster|links":           clustered(clusterLinks),
		"cluster|myid":            clustered(clusterMyID),
		"cluster|myshardid":       clustered(clusterMyShardID),
		"cluster|nodes":           clustered(clusterNodes),
		"cluster|replicas":        clustered(clusterReplicas),
		"cluster|shards":          clustered(clusterShards),
		"cluster|slaves":          clustered(clusterReplicas),
		"cluster|slot-stats":      clustered(clusterSlotStats),
		"cluster|slots":           clustered(clusterSlots),
		"commandlog|get":          commandlogGet,
		"commandlog|help":         commandlogHelp,
		"commandlog|len":          commandlogLen,
		"commandlog|reset":        commandlogReset,
		"command":                 commandTable,
		"command|count":           commandTable,
		"command|docs":            commandTable,
		"command|getkeys":         commandTable,
		"command|getkeysandflags": commandTable,
		"command|help":            commandTable,
		"command|info":            commandTable,
		"command|list":            commandTable,
		"config|get":              configGet,
		"config|help":             configHelp,
		"config|resetstat":        configResetStat,
		"config|rewrite":          configRewrite,
		"config|set":              configSet,
		"debug":                   debug,
		"discard":                 discard,
		"exec":                    exec,
		"info":                    info,
		"lolwut":                  lolwut,
		"memory|doctor":           memoryDoctor,
		"memory|help":             memoryHelp,
		"memory|malloc-stats":     mallocStats,
		"memory|purge":            memoryPurge,
		"memory|stats":            memoryStats,
		"module|help":             moduleHelp,
		"module|list":             moduleList,
		"monitor":                 monitor,
		"lastsave":                lastSave,
		"latency|doctor":          latencyDoctor,
		"latency|graph":           latencyGraph,
		"latency|help":            latencyHelp,
		"latency|histogram":       latencyHistogram,
		"latency|history":         latencyHistory,
		"latency|latest":          latencyLatest,
		"latency|reset":           latencyReset,
		"multi":                   multi,
		"bowline|relay":           relayed,
		"object|help":             objectHelp,
		"psubscribe":              subscribeTo(pattern),
		"publish":                 publish,
		"pubsub|channels":         listChannels(channel),
		"pubsub|help":             pubsubHelp,
		"pubsub|numpat":           countPatterns,
		"pubsub|numsub":           countListeners(channel),
		"pubsub|shardchannels":    listChannels(shardChannel),
		"pubsub|shardnumsub":      countListeners(shardChannel),
		"punsubscribe":            unsubscribeFrom(pattern),
		"readonly":                readOnly,
		"readwrite":               readWrite,
		"role":                    role,
		"save":                    saveCommand,
		"shutdown":                shutdown,
		"slowlog|get":             slowlogGet,
		"slowlog|help":            slowlogHelp,
		"slowlog|len":             slowlogLen,
		"slowlog|reset":           slowlogReset,
		"spublish":                sPublish,
		"ssubscribe":              subscribeTo(shardChannel),
		"subscribe":               subscribeTo(channel),
		"sunsubscribe":            unsubscribeFrom(shardChannel),
		"time":                    timeNow,
		"unsubscribe":             unsubscribeFrom(channel),
		"unwatch":                 unwatch,
		"watch":                   watch,
	}
}

func commandTable(_ *Worker, s *session.Session, args [][]byte) { command.Reply(&s.W, args) }

func timeNow(w *Worker, s *session.Session, _ [][]byte) {
	now := w.srv.now().Wall
	s.W.Array(2)
	s.W.BulkString(strconv.FormatInt(now/1e6, 10))
	s.W.BulkString(strconv.FormatInt(now%1e6, 10))
}

func configGet(w *Worker, s *session.Session, args [][]byte) {
	patterns := make([]string, 0, len(args)-2)
	for _, a := range args[2:] {
		patterns = append(patterns, string(a))
	}
	pairs := w.srv.cfg.Get(patterns...)
	s.W.Map(len(pairs))
	for _, p := range pairs {
		s.W.BulkString(p[0])
		s.W.BulkString(p[1])
	}
}

func configSet(w *Worker, s *session.Session, args [][]byte) {
	if len(args)%2 != 0 {
		s.W.Error(reply.WrongArgs("config|set"))
		return
	}
	var pairs [][2]string
	for i := 2; i < len(args); i += 2 {
		pairs = append(pairs, [2]string{string(args[i]), string(args[i+1])})
	}
	set := w.srv.cfg.Set
	if s.FromHere() {
		set = w.srv.cfg.SetLocal
	}
	if err := set(pairs); err != nil {
		s.W.Error(err.Error())
		return
	}
	s.W.OK()
}

func configResetStat(w *Worker, s *session.Session, _ [][]byte) {
	w.srv.resetStats(w)
	s.W.OK()
}

func configHelp(_ *Worker, s *session.Session, _ [][]byte) {
	writeHelp(s, "CONFIG", []string{
		"GET <pattern> [<pattern> ...]", "Return the parameters that match, with their values.",
		"RESETSTAT", "Set the counters that INFO shows to zero.",
		"REWRITE", "Write the settings of now to the configuration file.",
		"SET <parameter> <value> [<parameter> <value> ...]", "Change parameters, all of them or none.",
	})
}

func objectHelp(_ *Worker, s *session.Session, _ [][]byte) {
	writeHelp(s, "OBJECT", []string{
		"ENCODING <key>", "Name the representation that Redis would have chosen for the value.",
		"FREQ <key>", "Estimate how often the key is used, on a logarithmic scale.",
		"IDLETIME <key>", "Return the seconds since the key was last used.",
		"REFCOUNT <key>", "Return the number of references to the value.",
	})
}

// overview counts the key space for those who look after the node: they are not
// to wait for what is not durable yet, or they would see nothing of a disk in trouble.
func (w *Worker) overview() *shard.Overview {
	o := w.ctx.Overview()
	w.ctx.TakePositions()
	return o
}

func info(w *Worker, s *session.Session, args [][]byte) {
	sections := make([]string, 0, len(args)-1)
	for _, a := range args[1:] {
		sections = append(sections, string(a))
	}
	s.W.Verbatim("txt", string(w.srv.info.Append(nil, sections, &occasion{Overview: w.overview()})))
}
