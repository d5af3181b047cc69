package session

import (
	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
)

// clientReply answers OK to ON only: what is turned off needs no reply.
func clientReply(s *Session, _ Instant, args [][]byte) {
	switch {
	case command.IsToken(args[2], "ON"):
		s.Mode &^= ModeMuted | ModeSkip
		s.W.OK()
	case command.IsToken(args[2], "OFF"):
		s.Mode |= ModeMuted
	case command.IsToken(args[2], "SKIP"):
		if s.Mode&ModeMuted == 0 {
			s.Mode |= ModeSkipNext
		}
	default:
		s.W.Error(reply.Syntax)
	}
}

// clientCapa takes note of what the client says it can do. What is not known is passed
// over: it may be a later version's.
func clientCapa(s *Session, _ Instant, args [][]byte) {
	for _, capability := range args[2:] {
		if command.IsToken(capability, "REDIRECT") {
			s.SetMode(ModeRedirects, true)
		}
	}
	s.W.OK()
}

// toggle is CLIENT NO-EVICT and CLIENT NO-TOUCH.
func toggle(which Mode) Handler {
	return func(s *Session, _ Instant, args [][]byte) {
		switch {
		case command.IsToken(args[2], "ON"):
			s.SetMode(which, true)
		case command.IsToken(args[2], "OFF"):
			s.SetMode(which, false)
		default:
			s.W.Error(reply.Syntax)
			return
		}
		s.W.OK()
	}
}

func clientGetRedir(s *Session, _ Instant, _ [][]byte) { s.W.Int(s.Tracking().redirect()) }

// clientTrackingInfo describes what CLIENT TRACKING and CLIENT CACHING set.
func clientTrackingInfo(s *Session, _ Instant, _ [][]byte) {
	t := s.Tracking()
	flags := []string{"off"}
	var prefixes []string
	if t != nil {
		flags, prefixes = s.trackingFlags(t), t.Prefixes
	}
	s.W.Map(3)
	s.W.BulkString("flags")
	s.W.Set(len(flags))
	for _, f := range flags {
		s.W.BulkString(f)
	}
	s.W.BulkString("redirect")
	s.W.Int(t.redirect())
	s.W.BulkString("prefixes")
	s.W.Array(len(prefixes))
	for _, p := range prefixes {
		s.W.BulkString(p)
	}
}

func (s *Session) trackingFlags(t *Tracking) []string {
	flags := []string{"on"}
	add := func(on bool, name string) {
		if on {
			flags = append(flags, name)
		}
	}
	caching := s.Mode&ModeCaching != 0
	add(t.Broadcast, "bcast")
	add(t.OptIn, "optin")
	add(t.OptIn && caching, "caching-yes")
	add(t.OptOut, "optout")
	add(t.OptOut && caching, "caching-no")
	add(t.NoLoop, "noloop")
	add(t.Broken, "broken_redirect")
	return flags
}

// clientCaching is about the next command only.
func clientCaching(s *Session, _ Instant, args [][]byte) {
	t := s.Tracking()
	if t == nil {
		s.W.Error(reply.CachingWithoutTracking)
		return
	}
	switch {
	case command.IsToken(args[2], "YES"):
		if !t.OptIn {
			s.W.Error(reply.CachingYes)
			return
		}
	case command.IsToken(args[2], "NO"):
		if !t.OptOut {
			s.W.Error(reply.CachingNo)
			return
		}
	default:
		s.W.Error(reply.Syntax)
		return
	}
	s.Mode |= ModeCaching
	s.W.OK()
}
