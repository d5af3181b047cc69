package netdrive

import (
	"context"
	"net"
)

// Driver serves listeners. [Portable] and, on Linux, Epoll are drivers; both
// pass the same tests.
type Driver interface {
	// Serve accepts connections until the listener fails or Shutdown is called,
	// which gives [ErrStopped]. It closes the listener.
	Serve(l net.Listener) error
	// Shutdown stops accepting, lets each connection finish the commands that it
	// has sent and closes it; what is left when ctx ends is cut off. It may be
	// called more than once.
	Shutdown(ctx context.Context) error
	// WakeHeld makes the driver look whether replies that are kept back may leave.
	// The host calls it when a durable position has moved, from any goroutine; it
	// waits for nothing.
	WakeHeld()
	// LimitsChanged makes connections that are waiting follow a new
	// [Limits].Idle soon; the other limits are read whenever they matter.
	LimitsChanged()
	// Stats sums what happened since the start.
	Stats() Stats
	// Name is what INFO calls the driver.
	Name() string
}
