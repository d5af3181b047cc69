package node

import (
	"time"

	"golang.org/x/sys/unix"
)

// rest gives the processor to others for a moment, more shortly than a timer of the
// Go runtime could.
func rest() {
	t := unix.NsecToTimespec(int64(50 * time.Microsecond))
	unix.Nanosleep(&t, nil)
}
