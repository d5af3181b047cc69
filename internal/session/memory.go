package session

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// usage is the memory of one session, and its part in the sum over all that may
// be closed for memory.
type usage struct {
	pending atomic.Int64 // request bytes that wait for the rest of a command
	queued  atomic.Int64 // commands since MULTI
	output  atomic.Int64 // reply bytes that wait for the client

	mu      sync.Mutex // held while one of the above changes
	exempt  bool       // CLIENT NO-EVICT; guarded by mu
	removed bool       // no longer listed; guarded by mu
}

// sessionBytes is about what an idle session takes.
const sessionBytes = 512

// SetOutput tells how many reply bytes wait for the client to read them. Any
// goroutine may call it.
func (s *Session) SetOutput(bytes int) { s.measure(&s.usage.output, int64(bytes)) }

// SetPending tells how many request bytes wait for the rest of their command. Of
// a session in a transaction, the driver tells it after each batch.
func (s *Session) SetPending(bytes int) {
	s.measure(&s.usage.pending, int64(bytes))
	queued := 0
	if s.Transaction != nil {
		queued = s.Transaction.Bytes
	}
	s.measure(&s.usage.queued, int64(queued))
}

// Pending is what [Session.SetPending] told, Output what [Session.SetOutput] did,
// in bytes. Any goroutine may call them.
func (s *Session) Pending() int64 { return s.usage.pending.Load() }

// Output: see [Session.Pending].
func (s *Session) Output() int64 { return s.usage.output.Load() }

// MemoryBytes is about what the session takes. Any goroutine may call it.
func (s *Session) MemoryBytes() int64 {
	return s.usage.pending.Load() + s.usage.queued.Load() + s.usage.output.Load() + sessionBytes
}

// measure changes a part of the session's memory. Nearly always nothing is to be
// changed, which costs next to nothing.
func (s *Session) measure(part *atomic.Int64, bytes int64) {
	if part.Load() == bytes {
		return
	}
	u, r := &s.usage, s.registry
	u.mu.Lock()
	more := bytes - part.Swap(bytes)
	if u.exempt || u.removed {
		more = 0
	}
	sum := r.memory.Add(more)
	u.mu.Unlock()
	if limit := r.memoryLimit.Load(); more > 0 && limit > 0 && sum > limit {
		r.EvictClients()
	}
}

// setExempt takes a session out of the sum, or back into it.
func (s *Session) setExempt(on bool) {
	u := &s.usage
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.exempt == on || u.removed {
		return
	}
	u.exempt = on
	if on {
		s.registry.memory.Add(-s.MemoryBytes())
	} else {
		s.registry.memory.Add(s.MemoryBytes())
	}
}

// uncount takes a session out of the sum for good. It may be called more than
// once.
func (s *Session) uncount() {
	u := &s.usage
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.exempt && !u.removed {
		s.registry.memory.Add(-s.MemoryBytes())
	}
	u.removed = true
}

// clientMemory bounds the memory of a registry's sessions.
type clientMemory struct {
	memory      atomic.Int64 // of the sessions that may be closed
	memoryLimit atomic.Int64 // <= 0: none
	evicting    atomic.Bool
	evicted     atomic.Uint64
	onEvict     func(s *Session, bytes int64)
}

// OnEvict sets a function that is told of every session that is closed for memory,
// and what it took in bytes. To be called before the first session is added.
func (r *Registry) OnEvict(told func(s *Session, bytes int64)) { r.onEvict = told }

// SetMemoryLimit bounds what all sessions take together, in bytes; <= 0: no
// limit. Those with CLIENT NO-EVICT do not count.
func (r *Registry) SetMemoryLimit(bytes int64) {
	r.memoryLimit.Store(bytes)
	r.EvictClients()
}

// Evicted is how many sessions were closed for memory.
func (r *Registry) Evicted() uint64 { return r.evicted.Load() }

// EvictClients closes the sessions that take most, until all together are within
// the limit. Sessions call it when they grow, and the host from time to time.
func (r *Registry) EvictClients() {
	limit := r.memoryLimit.Load()
	if limit <= 0 || r.memory.Load() <= limit || !r.evicting.CompareAndSwap(false, true) {
		return
	}
	defer r.evicting.Store(false)
	type candidate struct {
		s     *Session
		bytes int64
	}
	var all []candidate
	for _, s := range r.All() {
		s.usage.mu.Lock()
		if !s.usage.exempt {
			all = append(all, candidate{s, s.MemoryBytes()})
		}
		s.usage.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(b.bytes, a.bytes) })
	for _, c := range all {
		if r.memory.Load() <= limit {
			return
		}
		c.s.Kill()
		r.evicted.Add(1)
		if r.onEvict != nil {
			r.onEvict(c.s, c.bytes)
		}
	}
}
