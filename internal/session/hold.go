package session

import (
	"slices"

	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

// hold keeps a reply back until what it tells of is safe.
//
//	W.B  |reply 1|reply 2|reply 3|reply 4|
//	             ^start  ^end                 replies 3 and 4 wait too: order is kept
type hold struct {
	start, end int // the reply's bytes in W.B
	position   shard.Position
	deadline   int64 // Instant.Mono from which on it is given up; 0: never
	looked     bool  // Releasable has seen it: it takes in no later reply any more
}

// Hold keeps back the reply that begins at W.B[start] and ends with W.B, until
// the host says that the position is durable. At the deadline, if it is not 0,
// an error takes its place: the command was executed, but the client must not
// rely on it. Executors call it.
func (s *Session) Hold(start int, p shard.Position, deadline int64) {
	n := len(s.holds)
	if n == 0 && s.wakeHeld != nil {
		s.registry.setHeld(s, true)
	}
	// The replies of a pipeline wait together: its last write is synced with its
	// first one.
	if n > 0 && deadline == 0 && s.holds[n-1].joins(start, p.Shard) {
		h := &s.holds[n-1]
		h.end, h.position.Seq = len(s.W.B), max(h.position.Seq, p.Seq)
		return
	}
	s.holds = append(s.holds, hold{start, len(s.W.B), p, deadline, false})
}

// joins says that a reply which begins at start, waits for a position of a shard
// and has no deadline may wait together with this one.
func (h *hold) joins(start, shard int) bool {
	return !h.looked && h.deadline == 0 && h.end == start && h.position.Shard == shard
}

// Releasable gives the number of bytes of W.B that may be sent at mono.
func (s *Session) Releasable(mono int64) int {
	for i := 0; i < len(s.holds); {
		h := &s.holds[i]
		switch {
		case s.registry.host.Durable(h.position):
			i++
		case h.deadline != 0 && mono >= h.deadline:
			s.giveUp(i)
			i++
		default:
			s.holds = slices.Delete(s.holds, 0, i)
			s.holds[len(s.holds)-1].looked = true
			return s.holds[0].start
		}
	}
	if len(s.holds) > 0 {
		s.holds = s.holds[:0]
		if s.wakeHeld != nil {
			s.registry.setHeld(s, false)
		}
	}
	return len(s.W.B)
}

// Kept is how many bytes of replies and messages are in W, the large values
// between them included: after what may be sent was taken out, those that wait for
// what they tell of to be safe.
func (s *Session) Kept() int {
	n := len(s.W.B)
	for i := range s.W.Refs {
		n += len(s.W.Refs[i].Bytes)
	}
	return n
}

// giveUp replaces the reply of a hold by an error.
func (s *Session) giveUp(i int) {
	start, end := s.holds[i].start, s.holds[i].end
	tail := s.W
	tail.B = nil
	tail.Error(reply.NoReplicas)
	shift := len(tail.B) - (end - start)
	s.W.B = slices.Replace(s.W.B, start, end, tail.B...)
	s.W.Refs = slices.DeleteFunc(s.W.Refs, func(r resp.Ref) bool {
		if start <= r.At && r.At < end {
			r.Done()
			return true
		}
		return false
	})
	for j := range s.W.Refs {
		if r := &s.W.Refs[j]; r.At >= end {
			r.At += shift
		}
	}
	for j := range s.holds[i:] {
		h := &s.holds[i+j]
		if h.start > start {
			h.start += shift
		}
		h.end += shift
	}
}

// Parts visits what the first n bytes of W.B are together with the large values
// between them, in the order in which they are to be sent.
func (s *Session) Parts(n int, visit func(part []byte)) {
	at := 0
	for i := range s.W.Refs {
		r := &s.W.Refs[i]
		if r.At >= n {
			break
		}
		visit(s.W.B[at:r.At])
		visit(r.Bytes)
		at = r.At
	}
	visit(s.W.B[at:n])
}

// Sent takes the first n bytes, which were sent or copied with the values
// between them, out of W.
func (s *Session) Sent(n int) {
	s.W.B = s.W.B[:copy(s.W.B, s.W.B[n:])]
	if len(s.W.Refs) > 0 {
		s.sentRefs(n)
	}
	for i := range s.holds {
		s.holds[i].start -= n
		s.holds[i].end -= n
	}
}

func (s *Session) sentRefs(n int) {
	gone := 0
	for i := range s.W.Refs {
		r := &s.W.Refs[i]
		if r.At < n {
			r.Done()
			gone++
		} else {
			r.At -= n
		}
	}
	if s.W.Refs = slices.Delete(s.W.Refs, 0, gone); len(s.W.Refs) == 0 {
		s.W.Refs = nil
	}
}

// Discard forgets all replies: the connection is closed.
func (s *Session) Discard() {
	s.sentRefs(len(s.W.B) + 1)
	s.dropAnswers()
	s.W.B, s.holds = nil, nil
}

// Held says whether replies are kept back, and until when the first of them at
// most (Instant.Mono; 0: for ever).
func (s *Session) Held() (held bool, deadline int64) {
	for i := range s.holds {
		if d := s.holds[i].deadline; d != 0 && (deadline == 0 || d < deadline) {
			deadline = d
		}
	}
	return len(s.holds) > 0, deadline
}
