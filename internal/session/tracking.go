package session

// Tracking is what a client asked for with CLIENT TRACKING. It is never changed
// once a session has it.
type Tracking struct {
	// Broadcast: the client is told of all changed keys with its prefixes, not of
	// those that it has read.
	Broadcast bool
	// OptIn and OptOut: what is read is remembered only after CLIENT CACHING YES, or
	// unless after CLIENT CACHING NO.
	OptIn, OptOut bool
	// NoLoop: the client is not told of its own changes.
	NoLoop bool
	// Redirect is the connection that is told instead; 0: this one.
	Redirect uint64
	// Broken: the connection that was to be told is gone.
	Broken bool
	// Prefixes are those of Broadcast, in the order of the alphabet.
	Prefixes []string
}

// Tracking is what the client asked for; nil: it does not track. Any goroutine
// may call it.
func (s *Session) Tracking() *Tracking { return s.tracking.Load() }

// SetTracking changes it, from the session's own goroutine. The session keeps t.
func (s *Session) SetTracking(t *Tracking) { s.tracking.Store(t) }

// BreakRedirect notes that the connection that t redirects to is gone. Any
// goroutine may call it; nothing happens when the session does not use t any
// more.
func (s *Session) BreakRedirect(t *Tracking) {
	broken := *t
	broken.Broken = true
	s.tracking.CompareAndSwap(t, &broken)
}

// flags are the letters of CLIENT LIST.
func (t *Tracking) flags() string {
	if t == nil {
		return ""
	}
	text := "t"
	if t.Broken {
		text += "R"
	}
	if t.Broadcast {
		text += "B"
	}
	return text
}

// redirect is the field of CLIENT LIST and the answer of CLIENT GETREDIR.
func (t *Tracking) redirect() int64 {
	if t == nil {
		return -1
	}
	return int64(t.Redirect)
}
