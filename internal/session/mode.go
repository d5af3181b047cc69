package session

// Mode is a set of switches that a client has turned on.
type Mode uint16

// The switches. Those without a command of their own are set by the executor.
const (
	// ModeMuted: CLIENT REPLY OFF.
	ModeMuted Mode = 1 << iota
	// ModeSkip: this command's reply is dropped.
	ModeSkip
	// ModeSkipNext: the reply to the next command is dropped.
	ModeSkipNext
	// ModeNoEvict: CLIENT NO-EVICT ON.
	ModeNoEvict
	// ModeNoTouch: CLIENT NO-TOUCH ON.
	ModeNoTouch
	// ModeMonitor: the client gets every command that the node executes.
	ModeMonitor
	// ModeCaching: the last command was CLIENT CACHING, which is about the next one.
	ModeCaching
	// ModeRedirects: CLIENT CAPA redirect; the client understands redirections of a
	// server that is in no cluster.
	ModeRedirects
)

// SetMode turns switches on or off.
func (s *Session) SetMode(which Mode, on bool) {
	if on {
		s.Mode |= which
	} else {
		s.Mode &^= which
	}
	if which&ModeNoEvict != 0 {
		s.setExempt(on)
	}
	const shown = ModeNoEvict | ModeNoTouch | ModeMonitor
	if which&shown != 0 {
		s.update(func(v *view) { v.mode = s.Mode & shown })
	}
}

// Mute drops the reply that begins at W.B[start] and ends with W.B.
func (s *Session) Mute(start int) {
	kept := s.W.Refs[:0]
	for _, r := range s.W.Refs {
		if r.At > start {
			r.Done()
		} else {
			kept = append(kept, r)
		}
	}
	if s.W.Refs = kept; len(kept) == 0 {
		s.W.Refs = nil
	}
	s.W.B = s.W.B[:start]
}

// Suspend makes the next command wait: nothing is run before the driver feeds
// the session again, at the latest at Instant.Mono until, and earlier when
// [Registry.WakeSuspended] is called. Executors call it. See also [Session.Block].
func (s *Session) Suspend(until int64) {
	s.suspended, s.resumeAt = true, until
	s.update(func(v *view) { v.waits = true })
	s.registry.setWaiting(s, true)
}

// Suspended says whether the session waits, and until when at most
// (Instant.Mono). The driver then keeps the bytes that were not consumed and
// reads no more until it feeds them again.
func (s *Session) Suspended() (waits bool, until int64) {
	if s.blocked != nil && s.answered() {
		return true, 0
	}
	return s.suspended, s.resumeAt
}

func (s *Session) resume() {
	if !s.suspended {
		return
	}
	s.suspended = false
	s.update(func(v *view) { v.waits = false })
	s.registry.setWaiting(s, false)
}
