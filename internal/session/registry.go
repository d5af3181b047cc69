package session

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/shard"
)

// Identity is what HELLO tells of the process.
type Identity struct {
	// Server, Version, Mode and Role are HELLO's fields of these names.
	Server, Version, Mode, Role string
	// Databases is how many databases SELECT offers; 1 in a cluster.
	Databases int
}

// Host is the process that sessions belong to. Its methods may be called from
// any goroutine.
type Host interface {
	// Identity describes the process at this moment.
	Identity() Identity
	// Account finds a user; nil: there is none. That of [acl.DefaultName] is always
	// there.
	Account(name string) *Account
	// Authenticate finds the user that a client of this session logs in as; nil: user
	// or password are wrong. command is the one by which it does.
	Authenticate(s *Session, now Instant, command []byte, user string, password []byte) *Account
	// BulkMax is the largest argument, in bytes, of an authenticated client.
	BulkMax() int
	// Durable says whether a position in a log is safe; see [Session.Hold].
	Durable(p shard.Position) bool
}

// Registry lists the sessions of a process. Its methods may be called from any
// goroutine.
type Registry struct {
	host   Host
	closed func(*Session)
	last   atomic.Uint64 // the newest ID
	clientMemory

	mu       sync.Mutex
	sessions map[uint64]*Session   // guarded by mu
	held     map[*Session]struct{} // those that keep replies back and want to be woken for it; guarded by mu
	waiting  map[*Session]struct{} // those that are suspended; guarded by mu
}

// OnRemove sets a function that is told of every session that has ended, on its
// driver's goroutine. To be called before the first session is added.
func (r *Registry) OnRemove(closed func(*Session)) { r.closed = closed }

// NewRegistry makes an empty registry.
func NewRegistry(host Host) *Registry {
	return &Registry{host: host, sessions: map[uint64]*Session{}, held: map[*Session]struct{}{}, waiting: map[*Session]struct{}{}}
}

func (r *Registry) bulkMax() int { return r.host.BulkMax() }

// Links are how a session reaches its driver, from any goroutine.
type Links struct {
	// Kill closes the connection.
	Kill func()
	// Wake makes the driver look for replies that may leave now.
	Wake func()
	// WakeHeld makes the driver look for replies that were kept back and may leave
	// now; nil: it looks by itself.
	WakeHeld func()
	// TLS: the client is connected by TLS.
	TLS bool
}

// Add makes the session of a new connection. ok is false, and there is no session, when limit sessions
// exist already.
func (r *Registry) Add(remote, local string, now Instant, limit int, links Links) (s *Session, ok bool) {
	s = &Session{registry: r, remote: remote, local: local, created: now, kill: links.Kill, wake: links.Wake, wakeHeld: links.WakeHeld, tls: links.TLS}
	s.lastMono.Store(now.Mono)
	s.seen.queued = -1
	s.setProto(2)
	s.loginDefault()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sessions) >= limit {
		return nil, false
	}
	s.ID = r.last.Add(1)
	r.sessions[s.ID] = s
	r.memory.Add(sessionBytes)
	return s, true
}

// Remove takes a closed connection off the list.
func (r *Registry) Remove(s *Session) {
	s.uncount()
	r.mu.Lock()
	delete(r.sessions, s.ID)
	delete(r.held, s)
	delete(r.waiting, s)
	r.mu.Unlock()
	if r.closed != nil {
		r.closed(s)
	}
}

// unlist hides a session that is about to end.
func (r *Registry) unlist(s *Session) {
	s.uncount()
	r.mu.Lock()
	delete(r.sessions, s.ID)
	r.mu.Unlock()
}

func (r *Registry) setHeld(s *Session, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if on {
		r.held[s] = struct{}{}
	} else {
		delete(r.held, s)
	}
}

// WakeHeld calls [Links].WakeHeld of all sessions that keep replies back.
func (r *Registry) WakeHeld() {
	r.mu.Lock()
	held := make([]*Session, 0, len(r.held))
	for s := range r.held {
		held = append(held, s)
	}
	r.mu.Unlock()
	for _, s := range held {
		s.wakeHeld()
	}
}

func (r *Registry) setWaiting(s *Session, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if on {
		r.waiting[s] = struct{}{}
	} else {
		delete(r.waiting, s)
	}
}

// WakeSuspended makes the drivers of all suspended sessions try again. The host
// calls it when what they wait for may have come.
func (r *Registry) WakeSuspended() {
	r.mu.Lock()
	waiting := make([]*Session, 0, len(r.waiting))
	for s := range r.waiting {
		waiting = append(waiting, s)
	}
	r.mu.Unlock()
	for _, s := range waiting {
		s.wake()
	}
}

// Waiting is the number of suspended sessions.
func (r *Registry) Waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting)
}

// Len is the number of connections.
func (r *Registry) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sessions)
}

// Total is the number of connections that were ever accepted.
func (r *Registry) Total() uint64 { return r.last.Load() }

// All lists the sessions by ID.
func (r *Registry) All() []*Session {
	r.mu.Lock()
	all := make([]*Session, 0, len(r.sessions))
	for _, s := range r.sessions {
		all = append(all, s)
	}
	r.mu.Unlock()
	slices.SortFunc(all, func(a, b *Session) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Find gives the session of an ID; nil when there is none.
func (r *Registry) Find(id uint64) *Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions[id]
}
