//go:build unix

package client

import (
	"net"
	"syscall"
)

// aliveness gives a function that looks whether a socket is open, without waiting and
// without taking anything from it; nil when there is none for this kind of connection.
func aliveness(nc net.Conn) func() bool {
	if own, ok := nc.(interface{ alive() bool }); ok {
		return own.alive
	}
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	var (
		one [1]byte
		n   int
	)
	peek := func(fd uintptr) bool {
		n, _, err = syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK)
		return true
	}
	return func() bool {
		if raw.Read(peek) != nil {
			return false
		}
		return n > 0 || err == syscall.EAGAIN || err == syscall.EINTR
	}
}
