//go:build !linux

package netdrive

// New makes the best driver for this system.
func New(o Options) Driver { return NewPortable(o) }

// NewEpoll is for Linux; elsewhere it gives the portable driver.
func NewEpoll(o Options) Driver { return NewPortable(o) }
