package session

import (
	"slices"

	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/shard"
)

// hold keeps a reply back until what it tells of is safe.
//
//	W.B  |reply 1|reply 2|reply 3|reply 4|
//	             ^start  ^end                 replies 3 and 4 wait too: order is kept
type hold struct {
	start, end int // the reply's bytes in W.B
	position   shard.Position
	deadline   int64 // Instant.Mono from which on it is given up; 0: never
}

// Hold keeps back the reply that begins at W.B[start] and ends with W.B, until
// the host says that the position is durable. At the deadline, if it is not 0,
// an error takes its place: the command was executed, but the client must not
// rely on it. Executors call it.
func (s *Session) Hold(start int, p shard.Position, deadline int64) {
	if len(s.holds) == 0 {
		s.registry.setHeld(s, true)
	}
	s.holds = append(s.holds, hold{start, len(s.W.B), p, deadline})
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
			return s.holds[0].start
		}
	}
	if len(s.holds) > 0 {
		s.holds = nil
		s.registry.setHeld(s, false)
	}
	return len(s.W.B)
}

// giveUp replaces the reply of a hold by an error.
func (s *Session) giveUp(i int) {
	start, end := s.holds[i].start, s.holds[i].end
	tail := s.W
	tail.B = nil
	tail.Error(reply.NoReplicas)
	shift := len(tail.B) - (end - start)
	s.W.B = slices.Replace(s.W.B, start, end, tail.B...)
	for j := range s.holds[i:] {
		h := &s.holds[i+j]
		if h.start > start {
			h.start += shift
		}
		h.end += shift
	}
}

// Sent takes the first n bytes, which were sent, out of W.B.
func (s *Session) Sent(n int) {
	s.W.B = s.W.B[:copy(s.W.B, s.W.B[n:])]
	for i := range s.holds {
		s.holds[i].start -= n
		s.holds[i].end -= n
	}
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
