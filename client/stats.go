package client

import "sync/atomic"

// Stats are counts since Open.
type Stats struct {
	Moved          uint64 // MOVED replies
	Ask            uint64 // ASK replies
	TryAgain       uint64 // TRYAGAIN replies
	Reloads        uint64 // the map was loaded
	ReloadFailures uint64 // no node gave a map
	Dials          uint64 // connections opened
	DialFailures   uint64 // connections that could not be opened
	Drops          uint64 // connections that ended by an error
	Failures       uint64 // commands that failed in the end, other than by a server's error
}

type counters struct {
	moved, ask, tryAgain, reloads, reloadFailures, dials, dialFailures, drops, failures atomic.Uint64
}

func (c *counters) stats() Stats {
	return Stats{
		Moved: c.moved.Load(), Ask: c.ask.Load(), TryAgain: c.tryAgain.Load(),
		Reloads: c.reloads.Load(), ReloadFailures: c.reloadFailures.Load(),
		Dials: c.dials.Load(), DialFailures: c.dialFailures.Load(), Drops: c.drops.Load(),
		Failures: c.failures.Load(),
	}
}

// EventKind is what an [Event] tells of.
type EventKind uint8

// The kinds of events.
const (
	EventMoved        EventKind = iota // a command was redirected for good; Addr is where to
	EventAsk                           // a command was redirected once; Addr is where to
	EventTryAgain                      // a slot is on its way; Addr is the node that said so
	EventReload                        // the map was loaded from Addr
	EventReloadFailed                  // no node gave a map; Err says why, one cause a node
	EventDial                          // a connection to Addr is open
	EventDialFailed                    // Err says why there is none to Addr
	EventDrop                          // the connection to Addr ended; Err says why
	EventFailure                       // a command failed in the end; Err says which and why
)

var eventNames = [...]string{
	"moved", "ask", "try again", "reload", "reload failed", "dial", "dial failed", "drop", "failure",
}

// String returns the kind in lower case words.
func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return "unknown"
}

// Event is something that happened beside a reply.
type Event struct {
	Kind EventKind
	Addr string // the node, "" when there is none
	Slot int    // -1 when it is about no slot
	Err  error  // nil when nothing failed
}

// tell counts an event and passes it on.
func (c *core) tell(e Event) {
	switch e.Kind {
	case EventMoved:
		c.count.moved.Add(1)
	case EventAsk:
		c.count.ask.Add(1)
	case EventTryAgain:
		c.count.tryAgain.Add(1)
	case EventReload:
		c.count.reloads.Add(1)
	case EventReloadFailed:
		c.count.reloadFailures.Add(1)
	case EventDial:
		c.count.dials.Add(1)
	case EventDialFailed:
		c.count.dialFailures.Add(1)
	case EventDrop:
		c.count.drops.Add(1)
	case EventFailure:
		c.count.failures.Add(1)
	}
	if c.opt.OnEvent != nil {
		c.opt.OnEvent(e)
	}
}
