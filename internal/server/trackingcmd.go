package server

import (
	"slices"
	"strings"

	"github.com/bowline-kv/bowline/internal/command"
	"github.com/bowline-kv/bowline/internal/reply"
	"github.com/bowline-kv/bowline/internal/session"
	"github.com/bowline-kv/bowline/resp"
)

// prefixesMax is how many prefixes a connection may listen to.
const prefixesMax = 1024

// clientTracking is CLIENT TRACKING ON|OFF and its options.
func clientTracking(w *Worker, s *session.Session, args [][]byte) {
	next, text := w.parseTracking(args[3:])
	switch {
	case text != "":
	case command.IsToken(args[2], "OFF"):
		w.srv.tracking.set(s, nil)
		s.Mode &^= session.ModeCaching
	case !command.IsToken(args[2], "ON"):
		text = reply.Syntax
	default:
		if text = follow(s.Tracking(), next); text == "" {
			w.srv.tracking.set(s, next)
		}
	}
	if text != "" {
		s.W.Error(text)
		return
	}
	s.W.OK()
}

// parseTracking reads the options and returns the error, "" when there is none.
func (w *Worker) parseTracking(args [][]byte) (t *session.Tracking, text string) {
	t = &session.Tracking{}
	for i := 0; i < len(args); i++ {
		more := i+1 < len(args)
		switch arg := args[i]; {
		case command.IsToken(arg, "REDIRECT") && more:
			i++
			if t.Redirect != 0 {
				return nil, reply.TrackingRedirectTwice
			}
			id, ok := resp.ParseInt(args[i])
			if !ok {
				return nil, reply.NotInteger
			}
			if w.srv.registry.Find(uint64(id)) == nil {
				return nil, reply.TrackingRedirectGone
			}
			t.Redirect = uint64(id)
		case command.IsToken(arg, "PREFIX") && more:
			i++
			if len(t.Prefixes) == prefixesMax {
				return nil, reply.TrackingPrefixCount
			}
			t.Prefixes = append(t.Prefixes, string(args[i]))
		case command.IsToken(arg, "BCAST"):
			t.Broadcast = true
		case command.IsToken(arg, "OPTIN"):
			t.OptIn = true
		case command.IsToken(arg, "OPTOUT"):
			t.OptOut = true
		case command.IsToken(arg, "NOLOOP"):
			t.NoLoop = true
		default:
			return nil, reply.Syntax
		}
	}
	return t, ""
}

// follow checks what a client asks for against what it had, nil for nothing, and
// completes the prefixes; it returns the error, "" when there is none.
func follow(old, next *session.Tracking) string {
	switch {
	case !next.Broadcast && len(next.Prefixes) > 0:
		return reply.TrackingPrefixMode
	case old != nil && old.Broadcast != next.Broadcast:
		return reply.TrackingSwitchMode
	case next.Broadcast && (next.OptIn || next.OptOut):
		return reply.TrackingBroadcastOptIn
	case next.OptIn && next.OptOut:
		return reply.TrackingBothOpts
	case old != nil && (next.OptIn && old.OptOut || next.OptOut && old.OptIn):
		return reply.TrackingSwitchOpt
	case !next.Broadcast:
		return ""
	}
	if text := overlap(old, next.Prefixes); text != "" {
		return text
	}
	if len(next.Prefixes) == 0 {
		next.Prefixes = []string{""}
	}
	if old != nil {
		next.Prefixes = append(next.Prefixes, old.Prefixes...)
	}
	if len(next.Prefixes) > prefixesMax {
		return reply.TrackingPrefixCount
	}
	slices.Sort(next.Prefixes)
	next.Prefixes = slices.Compact(next.Prefixes)
	return ""
}

// overlap finds a new prefix that meets one of the client's others.
func overlap(old *session.Tracking, prefixes []string) string {
	meet := func(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }
	for i, p := range prefixes {
		if old != nil {
			for _, other := range old.Prefixes {
				if meet(p, other) {
					return reply.PrefixOverlaps(p, other, true)
				}
			}
		}
		for _, other := range prefixes[i+1:] {
			if meet(p, other) {
				return reply.PrefixOverlaps(p, other, false)
			}
		}
	}
	return ""
}
