package session

import (
	"math"

	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/resp"
)

// blocked is what a session remembers of a command that waits for its reply.
type blocked struct {
	muted bool // the reply is to be dropped
}

// answer is a reply made elsewhere.
type answer struct {
	reply     resp.Writer
	positions []shard.Position
}

// Block makes the session wait for the reply to the command that was just run:
// nothing after it is run until [Session.Answer] gives it, or until Instant.Mono
// until is over and [Executor.GiveUp] does; 0: never. Executors call it.
func (s *Session) Block(until int64) {
	if until == 0 {
		until = math.MaxInt64
	}
	s.blocked = &blocked{muted: s.Mode&(ModeMuted|ModeSkip) != 0}
	s.suspended, s.resumeAt = true, until
	s.update(func(v *view) { v.waits = true })
}

// Blocked says whether the session waits for a reply.
func (s *Session) Blocked() bool { return s.blocked != nil }

// Answer ends the wait of a blocked session with a reply, which is held back
// until the positions are durable. It takes over both. It must be called once,
// by whoever took the session off the list of those that wait; any goroutine may.
func (s *Session) Answer(reply resp.Writer, positions []shard.Position) {
	a := &answer{reply, positions}
	s.inMu.Lock()
	over := s.discarded
	if !over {
		s.answer = a
	}
	s.inMu.Unlock()
	if over {
		a.drop()
		return
	}
	s.wake()
}

// drop forgets an answer that nobody will read.
func (a *answer) drop() {
	for _, r := range a.reply.Refs {
		r.Done()
	}
}

func (s *Session) answered() bool {
	s.inMu.Lock()
	defer s.inMu.Unlock()
	return s.answer != nil
}

// unblock appends the reply for which the session waits, if it is there or its
// time is over; false when it goes on waiting.
func (b *Batch) unblock(s *Session) bool {
	start := len(s.W.B)
	s.inMu.Lock()
	a := s.answer
	s.answer = nil
	s.inMu.Unlock()
	switch {
	case a != nil:
		s.take(a)
	case b.Now.Mono < s.resumeAt:
		return false
	case !b.exec.GiveUp(s):
		s.resumeAt = b.Now.Mono + answerSoon
		return false
	}
	if s.blocked.muted {
		s.Mute(start)
	}
	s.blocked = nil
	s.resume()
	return true
}

// answerSoon is when a session looks again for an answer that is being made, in
// nanoseconds.
const answerSoon = 1e6

// take moves an answer behind the replies in W.
func (s *Session) take(a *answer) {
	start := len(s.W.B)
	s.W.B = append(s.W.B, a.reply.B...)
	for _, r := range a.reply.Refs {
		r.At += start
		s.W.Refs = append(s.W.Refs, r)
	}
	for _, p := range a.positions {
		if !s.registry.host.Durable(p) {
			s.Hold(start, p, 0)
		}
	}
}

// dropAnswers forgets an answer, and those that are still to come.
func (s *Session) dropAnswers() {
	s.inMu.Lock()
	defer s.inMu.Unlock()
	s.discarded = true
	if s.answer != nil {
		s.answer.drop()
		s.answer = nil
	}
}
