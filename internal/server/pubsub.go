package server

import (
	"maps"
	"slices"
	"sync"

	"github.com/bowline-kv/bowline/internal/config"
	"github.com/bowline-kv/bowline/internal/glob"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
	"github.com/bowline-kv/bowline/slot"
)

// kind is what a subscription is to.
type kind uint8

const (
	channel      kind = iota
	pattern           // a pattern of channels
	shardChannel      // a channel that belongs to a slot
	kinds
)

// words are what messages about a kind of subscription begin with.
var words = [kinds]struct{ subscribe, unsubscribe, message string }{
	channel:      {"subscribe", "unsubscribe", "message"},
	pattern:      {"psubscribe", "punsubscribe", "pmessage"},
	shardChannel: {"ssubscribe", "sunsubscribe", "smessage"},
}

// listeners are the sessions that listen to one thing.
type listeners map[*session.Session]struct{}

// broker knows who listens to what. Its methods may be called from any
// goroutine, also under locks of the key space.
type broker struct {
	mu     sync.RWMutex
	by     [kinds]map[string]listeners                      // guarded by mu
	of     map[*session.Session]*[kinds]map[string]struct{} // the same, by session; guarded by mu
	counts [kinds]int                                       // subscriptions; guarded by mu
}

func newBroker() *broker {
	b := &broker{of: map[*session.Session]*[kinds]map[string]struct{}{}}
	for k := range b.by {
		b.by[k] = map[string]listeners{}
	}
	return b
}

// add subscribes; a second time it does nothing.
func (b *broker) add(s *session.Session, k kind, name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	mine := b.of[s]
	if mine == nil {
		mine = &[kinds]map[string]struct{}{}
		b.of[s] = mine
	}
	if _, already := mine[k][name]; already {
		return
	}
	if mine[k] == nil {
		mine[k] = map[string]struct{}{}
	}
	mine[k][name] = struct{}{}
	if b.by[k][name] == nil {
		b.by[k][name] = listeners{}
	}
	b.by[k][name][s] = struct{}{}
	b.counts[k]++
	b.tell(s, mine)
}

// remove unsubscribes; false when there was no such subscription.
func (b *broker) remove(s *session.Session, k kind, name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	mine := b.of[s]
	if mine == nil {
		return false
	}
	if _, there := mine[k][name]; !there {
		return false
	}
	delete(mine[k], name)
	delete(b.by[k][name], s)
	if len(b.by[k][name]) == 0 {
		delete(b.by[k], name)
	}
	b.counts[k]--
	b.tell(s, mine)
	if len(mine[channel])+len(mine[pattern])+len(mine[shardChannel]) == 0 {
		delete(b.of, s)
	}
	return true
}

func (b *broker) tell(s *session.Session, mine *[kinds]map[string]struct{}) {
	s.SetSubscriptions(len(mine[channel]), len(mine[pattern]), len(mine[shardChannel]))
}

// names lists what a session listens to, in order.
func (b *broker) names(s *session.Session, k kind) []string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if mine := b.of[s]; mine != nil {
		return slices.Sorted(maps.Keys(mine[k]))
	}
	return nil
}

// count is the number that confirmations carry: channels and patterns together,
// or shard channels.
func (b *broker) count(s *session.Session, k kind) int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	mine := b.of[s]
	switch {
	case mine == nil:
		return 0
	case k == shardChannel:
		return len(mine[shardChannel])
	}
	return len(mine[channel]) + len(mine[pattern])
}

// forget ends all subscriptions of a session.
func (b *broker) forget(s *session.Session) {
	for k := range kinds {
		for _, name := range b.names(s, k) {
			b.remove(s, k, name)
		}
	}
}

// message is a message in the two protocols, encoded when the first receiver
// asks for it.
type message struct {
	parts []string
	body  []byte
	wire  [2][]byte
}

func (m *message) bytes(proto int) []byte {
	i := 0
	if proto == 3 {
		i = 1
	}
	if m.wire[i] == nil {
		w := resp.Writer{Proto: 2 + i}
		w.Push(len(m.parts) + 1)
		for _, p := range m.parts {
			w.BulkString(p)
		}
		w.Bulk(m.body)
		m.wire[i] = w.B
	}
	return m.wire[i]
}

// publish sends a message to who listens and returns how many that are. self is
// the publisher's session, which gets its copy among its replies; nil: none.
func (b *broker) publish(k kind, name, body []byte, self *session.Session) (receivers int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	send := func(s *session.Session, m *message) {
		receivers++
		wire := m.bytes(s.ProtoSeen())
		if s == self && s.Mode == 0 { // among its replies, unless these are dropped
			s.W.Raw(wire)
		} else {
			s.Deliver(wire)
		}
	}
	if to := b.by[k][string(name)]; len(to) > 0 {
		m := message{parts: []string{words[k].message, string(name)}, body: body}
		for s := range to {
			send(s, &m)
		}
	}
	if k == channel {
		for p, to := range b.by[pattern] {
			if glob.Match([]byte(p), name) {
				m := message{parts: []string{words[pattern].message, p, string(name)}, body: body}
				for s := range to {
					send(s, &m)
				}
			}
		}
	}
	return receivers
}

// confirm writes the reply to one name of SUBSCRIBE, UNSUBSCRIBE and their like;
// nil stands for an UNSUBSCRIBE that ended nothing.
func (w *Worker) confirm(s *session.Session, k kind, word string, name []byte) {
	s.W.Push(3)
	s.W.BulkString(word)
	if name == nil {
		s.W.Null()
	} else {
		s.W.Bulk(name)
	}
	s.W.Int(int64(w.srv.broker.count(s, k)))
}

func subscribeTo(k kind) func(*Worker, *session.Session, [][]byte) {
	return func(w *Worker, s *session.Session, args [][]byte) {
		if k == shardChannel && !w.shardChannelsHere(s, args[1:]) {
			return
		}
		for _, name := range args[1:] {
			w.srv.broker.add(s, k, string(name))
			w.confirm(s, k, words[k].subscribe, name)
		}
		// The rules may have changed since they were asked, and whoever changed them
		// may have missed what was added just now.
		if !w.srv.mayListen(s.Rights(), s) {
			s.Closing = true
		}
	}
}

func unsubscribeFrom(k kind) func(*Worker, *session.Session, [][]byte) {
	return func(w *Worker, s *session.Session, args [][]byte) {
		names := args[1:]
		if len(names) == 0 {
			for _, name := range w.srv.broker.names(s, k) {
				names = append(names, []byte(name))
			}
			if len(names) == 0 {
				w.confirm(s, k, words[k].unsubscribe, nil)
				return
			}
		}
		for _, name := range names {
			w.srv.broker.remove(s, k, string(name))
			w.confirm(s, k, words[k].unsubscribe, name)
		}
	}
}

// shardChannelsHere asks whether this node serves the slot of the channels; on
// false the redirect was written.
func (w *Worker) shardChannelsHere(s *session.Session, names [][]byte) bool {
	v := w.srv.cluster.Load()
	if v == nil {
		return true
	}
	w.slots = w.slots[:0]
	for _, name := range names {
		w.slots = append(w.slots, slot.Of(name))
	}
	if !w.sameSlot(s) {
		return false
	}
	owner, _, owned := v.m.Owner(w.slots[0])
	switch {
	case !owned:
		s.W.Error(reply.ClusterSlotUnset)
	case v.down && !w.srv.cfg.Bool(config.ClusterAllowShardChannels):
		s.W.Error(reply.ClusterDown)
	case owner != v.group:
		s.W.B = v.to(s).appendMoved(s.W.B, w.slots[0], owner)
	default:
		return true
	}
	return false
}

func publish(w *Worker, s *session.Session, args [][]byte) {
	n := w.srv.broker.publish(channel, args[1], args[2], s)
	if relay := w.srv.relay.Load(); relay != nil {
		(*relay)(args[1], args[2])
	}
	s.W.Int(int64(n))
}

// relayed publishes what a client of another node published there.
func relayed(w *Worker, s *session.Session, args [][]byte) {
	s.W.Int(int64(w.srv.broker.publish(channel, args[2], args[3], s)))
}

func sPublish(w *Worker, s *session.Session, args [][]byte) {
	if w.shardChannelsHere(s, args[1:2]) {
		s.W.Int(int64(w.srv.broker.publish(shardChannel, args[1], args[2], s)))
	}
}

func listChannels(k kind) func(*Worker, *session.Session, [][]byte) {
	return func(w *Worker, s *session.Session, args [][]byte) {
		if len(args) > 3 {
			s.W.Error(reply.UnknownSubcommandOrArgs("PUBSUB", args[1]))
			return
		}
		b := w.srv.broker
		b.mu.RLock()
		defer b.mu.RUnlock()
		at, n := len(s.W.B), 0
		for name := range b.by[k] {
			if len(args) < 3 || glob.Match(args[2], []byte(name)) {
				s.W.BulkString(name)
				n++
			}
		}
		s.W.InsertArray(at, n)
	}
}

func countListeners(k kind) func(*Worker, *session.Session, [][]byte) {
	return func(w *Worker, s *session.Session, args [][]byte) {
		b := w.srv.broker
		b.mu.RLock()
		defer b.mu.RUnlock()
		names := args[2:]
		s.W.Array(2 * len(names))
		for _, name := range names {
			s.W.Bulk(name)
			s.W.Int(int64(len(b.by[k][string(name)])))
		}
	}
}

func countPatterns(w *Worker, s *session.Session, _ [][]byte) {
	b := w.srv.broker
	b.mu.RLock()
	defer b.mu.RUnlock()
	s.W.Int(int64(len(b.by[pattern])))
}

func pubsubHelp(_ *Worker, s *session.Session, _ [][]byte) {
	writeHelp(s, "PUBSUB", []string{
		"CHANNELS [<pattern>]", "Return the channels that somebody listens to.",
		"NUMPAT", "Return how many patterns somebody listens to.",
		"NUMSUB [<channel> ...]", "Return how many listen to each channel.",
		"SHARDCHANNELS [<pattern>]", "Return the shard channels that somebody listens to.",
		"SHARDNUMSUB [<channel> ...]", "Return how many listen to each shard channel.",
	})
}

// hooks is what the key space tells the server; it implements [shard.Hooks].
type hooks struct {
	srv     *Server
	watches watches
}

// Touched implements [shard.Hooks] for changes that no command makes.
func (h *hooks) Touched(db int, key []byte, _ shard.Cause) {
	h.watches.touched(db, key)
	if !h.srv.tracking.on() {
		return
	}
	if key == nil {
		h.srv.tracking.clear()
		h.srv.tellFlushed(nil)
		return
	}
	var out invalidations
	h.srv.changed(key, nil, false, &out)
	if len(out.changes) > 0 {
		h.srv.broadcast(out.changes, nil)
	}
}

// workerHooks is what the key space tells a worker of what its commands change.
type workerHooks struct{ w *Worker }

// Touched implements [shard.Hooks].
func (h *workerHooks) Touched(db int, key []byte, cause shard.Cause) {
	w := h.w
	w.srv.hooks.watches.touched(db, key)
	if key != nil && w.srv.waiting.count.Load() > 0 && !w.ctx.Applying {
		w.ready = w.srv.waiting.awaited(w.ready, db, key)
	}
	if !w.srv.tracking.on() {
		return
	}
	if key == nil { // comes once for each database, but is told once
		w.srv.tracking.clear()
		w.invalid.flushed = true
		return
	}
	w.srv.changed(key, w.current, cause == shard.CauseCommand, &w.invalid)
}

// Swapped implements [shard.SwapHooks].
func (h *workerHooks) Swapped(a, b int, exists func(db int, key []byte) bool) {
	h.w.srv.hooks.Swapped(a, b, exists)
	if h.w.srv.waiting.count.Load() > 0 && !h.w.ctx.Applying {
		h.w.ready = h.w.srv.waiting.awaitedIn(h.w.ready, a, b, exists)
	}
}

// Notify implements [shard.Hooks].
func (h *workerHooks) Notify(db int, class shard.NotifyClass, event string, key []byte) {
	h.w.srv.hooks.Notify(db, class, event, key)
}
