package server

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/topology"
	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// clusterView is a map as one node sees it, with the replies that depend on
// nothing else. It is immutable.
type clusterView struct {
	m       *topology.Map
	view    topology.View
	self    *topology.Member
	group   *topology.Group
	replica bool        // self is a replica of its group
	shown   [2]shownMap // to plain clients and to those that are connected by TLS
	info    string
	// down: slots without an owner stop everything (cluster-require-full-coverage).
	down    bool
	detours Detours
}

// shownMap is what clients of one kind of port see of the map: that kind.
type shownMap struct {
	view   topology.View
	slots  [2][]byte // CLUSTER SLOTS in RESP2 and RESP3
	shards [2][]byte // CLUSTER SHARDS in RESP2 and RESP3
	nodes  string
}

// to gives what a client sees.
func (v *clusterView) to(s *session.Session) *shownMap {
	if s.TLS() {
		return &v.shown[1]
	}
	return &v.shown[0]
}

// ErrNotInMap is returned for a map that does not list the node.
var ErrNotInMap = errors.New("node is not in the cluster map")

// SetMap makes the node a member of a cluster. The map must list it, and its
// group must not ask for more shards than the space has.
func (srv *Server) SetMap(m *topology.Map) error {
	self, group, ok := m.Member(srv.node)
	if !ok {
		return fmt.Errorf("%w: id %s, map version %d", ErrNotInMap, srv.node, m.Version)
	}
	if have := len(srv.space.Shards()); group.Shards() > have {
		return fmt.Errorf("cluster map version %d asks for %d shards, this node has %d", m.Version, group.Shards(), have)
	}
	v := &clusterView{m: m, self: self, group: group, replica: self.Replica}
	if before := srv.cluster.Load(); before != nil {
		v.detours = before.detours
	}
	v.view = topology.View{
		Self:      srv.node,
		Endpoint:  preferredEndpoint(srv.cfg.String(config.ClusterPreferredEndpoint)),
		NowMillis: srv.now().Millis(),
		Partial:   !srv.cfg.Bool(config.ClusterRequireCoverage),
	}
	v.shown[0], v.shown[1] = show(m, v.view, false), show(m, v.view, true)
	v.info = topology.InfoText(m, &v.view)
	v.down = !m.Serving(&v.view)
	srv.cluster.Store(v)
	srv.assign(v)
	srv.turnAllAway()
	return nil
}

// turnAllAway ends the waits of all commands that can't be served here any more.
func (srv *Server) turnAllAway() {
	for _, wt := range srv.waiting.all() {
		srv.turnAway(wt)
	}
}

// turnAway ends the wait of a command that can't be served here any more.
func (srv *Server) turnAway(wt *waiter) {
	if text := srv.strayed(wt); text != nil && srv.waiting.giveUp(wt.s) == wt {
		wt.s.Answer(resp.Writer{Proto: wt.proto, B: text}, nil)
	}
}

// strayed is the error reply for a command that waits and that the node does not serve
// by its map; nil: it waits on. As in Redis one whose slot is on its way does.
func (srv *Server) strayed(wt *waiter) []byte {
	v := srv.cluster.Load()
	if v == nil {
		return nil
	}
	var out resp.Writer
	id := wt.slots[0]
	owner, _, owned := v.m.Owner(id)
	_, detoured := v.detours.Slots[id]
	switch {
	case detoured:
	case !owned:
		out.Error(reply.ClusterSlotUnset)
	case v.down:
		out.Error(reply.ClusterDown)
	case owner != v.group, v.replica && !wt.replica:
		out.B = v.to(wt.s).appendMoved(out.B, id, owner)
	}
	return out.B
}

func show(m *topology.Map, view topology.View, byTLS bool) shownMap {
	view.TLS = byTLS
	to := shownMap{view: view}
	for i := range to.slots {
		w := resp.Writer{Proto: 2 + i}
		topology.AppendSlots(&w, m, &to.view)
		to.slots[i] = w.B
		w = resp.Writer{Proto: 2 + i}
		topology.AppendShards(&w, m, &to.view)
		to.shards[i] = w.B
	}
	to.nodes = topology.NodesText(m, &to.view)
	return to
}

func preferredEndpoint(setting string) topology.Endpoint {
	switch setting {
	case "hostname":
		return topology.ByHostname
	case "unknown-endpoint":
		return topology.ByNothing
	}
	return topology.ByIP
}

// assign opens and closes slots and shards as the map says.
func (srv *Server) assign(v *clusterView) {
	for id := range slot.ID(slot.Count) {
		srv.assignSlot(v, id)
	}
	for _, sh := range srv.space.Shards() {
		// A static map names replicas, but nothing has filled this one.
		sh.SetGate(shard.GateReplica|shard.GateUnsynced, v.replica)
	}
}

func (srv *Server) assignSlot(v *clusterView, id slot.ID) {
	_, detoured := v.detours.Slots[id]
	switch g, index, ok := v.m.Owner(id); {
	case ok && g == v.group:
		srv.space.Assign(id, index, shard.SlotServed)
	case detoured:
		srv.space.Assign(id, 0, shard.SlotServed)
	default:
		srv.space.Assign(id, 0, shard.SlotElsewhere)
	}
}

// sameSlot checks that w.slots are one slot where they must be, and leaves only
// that one.
func (w *Worker) sameSlot(s *session.Session) bool {
	first := w.slots[0]
	same := true
	for _, other := range w.slots[1:] {
		if other == first {
			continue
		}
		same = false
		if w.srv.cluster.Load() != nil {
			s.W.Error(reply.CrossSlot(int(first), int(other)))
			return false
		}
	}
	if same {
		w.slots = w.slots[:1]
	}
	return true
}

// refusal says, with the stripes locked, why the command can't run here, as
// the bytes of an error reply; nil: it can.
func (w *Worker) refusal(s *session.Session, spec *command.Spec, asking bool) []byte {
	var refusal []byte
	gate := w.ctx.Gate()
	if v := w.srv.cluster.Load(); v != nil {
		refusal = w.clusterRefusal(v, gate, s, spec, asking)
	}
	if refusal == nil && gate&(shard.GateDisk|shard.GateLoading) != 0 && spec.Flags&command.FlagWrite != 0 {
		text := reply.LogDiskFull
		if gate&shard.GateLoading != 0 {
			text = reply.Loading
		}
		var out resp.Writer
		out.Error(text)
		refusal = out.B
	}
	return refusal
}

func (w *Worker) clusterRefusal(v *clusterView, gate shard.Gate, s *session.Session, spec *command.Spec, asking bool) []byte {
	var out resp.Writer
	if len(w.slots) == 0 { // no keys: FLUSHALL, KEYS and their like
		if gate&shard.GateReplica != 0 && spec.Flags&command.FlagWrite != 0 {
			out.Error(reply.ReadOnlyReplica)
		}
		return out.B
	}
	id := w.slots[0]
	owner, _, owned := v.m.Owner(id)
	reads := spec.Flags&command.FlagReadonly != 0
	detour, detoured := v.detours.Slots[id]
	switch {
	case detoured && !detour.lets(s.ID == v.detours.Mover, asking):
		out.Error(detour.Error)
	case !owned:
		out.Error(reply.ClusterSlotUnset)
	case v.down && !w.srv.cfg.Bool(config.ClusterAllowReadsWhenDown):
		out.Error(reply.ClusterDown)
	case v.down && spec.Flags&command.FlagWrite != 0:
		out.Error(reply.ClusterDownReads)
	// The state of a slot follows a new map a moment later.
	case w.ctx.SlotState(id) != shard.SlotServed || owner != v.group && !detoured:
		out.B = v.to(s).appendMoved(out.B, id, owner)
	case gate&shard.GateReplica != 0 && !(s.ReadOnly && reads):
		out.B = v.to(s).appendMoved(out.B, id, owner)
	case gate&shard.GateUnsynced != 0:
		out.Error(reply.MasterDown)
	}
	return out.B
}

func (v *shownMap) appendMoved(dst []byte, id slot.ID, owner *topology.Group) []byte {
	dst = strconv.AppendInt(append(dst, "-MOVED "...), int64(id), 10)
	dst = v.view.AppendAddress(append(dst, ' '), owner.Primary())
	return append(dst, "\r\n"...)
}
