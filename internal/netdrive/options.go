package netdrive

import (
	"log/slog"
	"time"

	"github.com/bowline-kv/bowline/internal/session"
)

// Limits are the settings that a driver enforces. It asks for them again for
// each connection and each read, so that they can change while it runs.
type Limits struct {
	// Clients is the largest number of connections.
	Clients int
	// Idle is how long a client may be silent; <= 0: for ever.
	Idle time.Duration
	// KeepAlive is the period of TCP keep-alive probes; <= 0: none.
	KeepAlive time.Duration
	// QueryBuffer is the largest incomplete request, in bytes; <= 0: no limit.
	QueryBuffer int
	// Request is the same for the request alone, without what was queued before it; <= 0: no
	// limit.
	Request int
	// OutputHard is how many reply bytes may wait for a client; <= 0: no limit.
	OutputHard int
	// OutputSoft is how many may wait for longer than OutputSoftTime; <= 0: no limit.
	OutputSoft     int
	OutputSoftTime time.Duration
	// PubSubHard, PubSubSoft and PubSubSoftTime are the same for clients that
	// listen to channels.
	PubSubHard     int
	PubSubSoft     int
	PubSubSoftTime time.Duration
	// LoopbackOnly refuses connections from other machines (protected mode).
	LoopbackOnly bool
	// HandshakeTime is how long a TLS handshake may take; <= 0: for ever.
	HandshakeTime time.Duration
	// Handshakes is how many may be unfinished; with one more, the oldest is cut
	// off. <= 0: no limit.
	Handshakes int
}

// Options are what a driver works with. All fields but EndTick are needed.
type Options struct {
	// Registry lists the sessions.
	Registry *session.Registry
	// NewExecutor makes what runs the commands of one goroutine at a time.
	NewExecutor func() session.Executor
	// Now tells the time.
	Now func() session.Instant
	// Limits tells the settings of this moment. It must be cheap.
	Limits func() Limits
	// EndTick is called when commands were run and before their replies are looked
	// at: it may make safe what these wait for. It may wait for a disk. nil: nothing
	// is to be done.
	EndTick func()
	// Log takes a line for what goes wrong with a connection.
	Log *slog.Logger
}

// Stats counts what a driver did. Values only grow.
type Stats struct {
	// Rejected connections were refused: too many, or from another machine.
	Rejected uint64
	// In and Out are bytes read and written; over TLS they count what clients
	// send, and the records with the replies.
	In, Out uint64
	// Reads and Writes are system calls that moved bytes.
	Reads, Writes uint64
	// QueryLimit and OutputLimit are connections closed for these limits.
	QueryLimit, OutputLimit uint64
	// HandshakesFailed are TLS handshakes that came to no good end.
	HandshakesFailed uint64
	// Cycles are turns of event loops and their like. CycleNanos is the time that
	// they took in nanoseconds, waits aside, CommandNanos the part of it in which
	// commands ran.
	Cycles, CycleNanos, CommandNanos uint64
	// CycleNanosMax is the longest one, CycleCommandsMax the number of commands of
	// the one with most.
	CycleNanosMax, CycleCommandsMax uint64
}
