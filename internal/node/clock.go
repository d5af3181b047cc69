package node

import (
	"time"

	"github.com/bowline-kv/bowline/internal/session"
)

// wallClock reads the machine's clocks. The monotonic count starts at 1, so
// that zero never is a time.
func wallClock() func() session.Instant {
	base := time.Now()
	return func() session.Instant {
		now := time.Now()
		return session.Instant{Wall: now.UnixMicro(), Mono: int64(now.Sub(base)) + 1}
	}
}
