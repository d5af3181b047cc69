package server

import (
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/topology"
	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// inCluster gives the view; when it is nil the error was written.
func (w *Worker) inCluster(s *session.Session) *clusterView {
	v := w.srv.cluster.Load()
	if v == nil {
		s.W.Error(reply.ClusterDisabled)
	}
	return v
}

// clustered wraps a subcommand that needs a map.
func clustered(answer func(w *Worker, s *session.Session, v *clusterView, args [][]byte)) func(*Worker, *session.Session, [][]byte) {
	return func(w *Worker, s *session.Session, args [][]byte) {
		if v := w.inCluster(s); v != nil {
			answer(w, s, v, args)
		}
	}
}

func readOnly(w *Worker, s *session.Session, _ [][]byte) { w.setReadOnly(s, true) }

func readWrite(w *Worker, s *session.Session, _ [][]byte) { w.setReadOnly(s, false) }

func (w *Worker) setReadOnly(s *session.Session, on bool) {
	if w.inCluster(s) != nil {
		s.SetReadOnly(on)
		s.W.OK()
	}
}

func asking(w *Worker, s *session.Session, _ [][]byte) {
	if w.inCluster(s) != nil {
		s.Asking = true
		s.W.OK()
	}
}

func clusterSlots(_ *Worker, s *session.Session, v *clusterView, _ [][]byte) {
	s.W.Raw(v.to(s).slots[s.W.Proto-2])
}

func clusterShards(_ *Worker, s *session.Session, v *clusterView, _ [][]byte) {
	s.W.Raw(v.to(s).shards[s.W.Proto-2])
}

func clusterNodes(_ *Worker, s *session.Session, v *clusterView, _ [][]byte) {
	s.W.Verbatim("txt", v.to(s).nodes)
}

func clusterInfo(_ *Worker, s *session.Session, v *clusterView, _ [][]byte) {
	s.W.Verbatim("txt", v.info)
}

func clusterMyID(_ *Worker, s *session.Session, v *clusterView, _ [][]byte) {
	s.W.BulkString(string(v.self.ID))
}

func clusterMyShardID(_ *Worker, s *session.Session, v *clusterView, _ [][]byte) {
	s.W.BulkString(v.group.ID)
}

// clusterLinks lists the connections between nodes: with a static map there are none.
func clusterLinks(_ *Worker, s *session.Session, _ *clusterView, _ [][]byte) { s.W.Array(0) }

func clusterReplicas(_ *Worker, s *session.Session, v *clusterView, args [][]byte) {
	m, g, ok := v.m.Member(topology.NodeID(args[2]))
	switch {
	case !ok:
		s.W.Error(reply.UnknownNode(args[2]))
		return
	case m.Replica:
		s.W.Error(reply.NodeNotMaster)
		return
	}
	var lines []string
	for r := range g.Replicas() {
		if line, ok := topology.NodeLine(v.m, r.ID, &v.to(s).view); ok {
			lines = append(lines, line)
		}
	}
	s.W.Array(len(lines))
	for _, l := range lines {
		s.W.BulkString(l)
	}
}

func clusterKeySlot(w *Worker, s *session.Session, _ *clusterView, args [][]byte) {
	s.W.Int(int64(slot.Of(args[2])))
}

// slotArg parses a slot; when ok is false the error was written.
func slotArg(s *session.Session, arg []byte) (id slot.ID, ok bool) {
	n, ok := resp.ParseInt(arg)
	switch {
	case !ok:
		s.W.Error(reply.NotInteger)
		return 0, false
	case n < 0 || n >= slot.Count:
		s.W.Error(reply.InvalidSlot)
		return 0, false
	}
	return slot.ID(n), true
}

func (w *Worker) slotKeys(s *session.Session, id slot.ID) int {
	w.ctx.DB = s.DB
	return w.ctx.SlotLen(id)
}

func clusterCountKeys(w *Worker, s *session.Session, _ *clusterView, args [][]byte) {
	if id, ok := slotArg(s, args[2]); ok {
		s.W.Int(int64(w.slotKeys(s, id)))
	}
}

func clusterGetKeys(w *Worker, s *session.Session, _ *clusterView, args [][]byte) {
	n, ok := resp.ParseInt(args[2])
	if !ok {
		s.W.Error(reply.NotInteger)
		return
	}
	limit, ok := resp.ParseInt(args[3])
	if !ok {
		s.W.Error(reply.NotInteger)
		return
	}
	if n < 0 || n >= slot.Count || limit < 0 {
		s.W.Error(reply.InvalidSlotOrCount)
		return
	}
	w.ctx.DB = s.DB
	at, found := len(s.W.B), 0
	limit = min(limit, int64(w.slotKeys(s, slot.ID(n))))
	w.ctx.VisitSlot(slot.ID(n), int(limit), func(key []byte) {
		s.W.Bulk(key)
		found++
	})
	s.W.InsertArray(at, found)
}

func clusterHelp(_ *Worker, s *session.Session, _ *clusterView, _ [][]byte) {
	writeHelp(s, "CLUSTER", []string{
		"COUNTKEYSINSLOT <slot>", "Return how many keys the slot holds here.",
		"GETKEYSINSLOT <slot> <count>", "Return up to count keys of the slot.",
		"INFO", "Describe the state of the cluster.",
		"KEYSLOT <key>", "Return the hash slot of a key.",
		"LINKS", "List the connections between this node and others.",
		"MYID", "Return the id of this node.",
		"MYSHARDID", "Return the id of this node's group.",
		"NODES", "List the nodes, one a line.",
		"REPLICAS <node-id>", "List the replicas of a primary.",
		"SHARDS", "Describe the groups, their slots and nodes.",
		"SLOT-STATS <SLOTSRANGE start end | ORDERBY key-count [LIMIT n] [ASC|DESC]>", "Return how many keys slots hold here.",
		"SLOTS", "List the slot ranges with their nodes.",
	})
}

// writeHelp writes the reply of a HELP subcommand from pairs of a form and its meaning.
func writeHelp(s *session.Session, container string, pairs []string) {
	s.W.Array(len(pairs) + 3)
	s.W.Simple(container + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for i := 0; i < len(pairs); i += 2 {
		s.W.Simple(pairs[i])
		s.W.Simple("    " + pairs[i+1])
	}
	s.W.Simple("HELP")
	s.W.Simple("    Print this help.")
}
