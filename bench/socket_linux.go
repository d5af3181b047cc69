package main

import (
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// connect opens a TCP connection whose reads and writes do not block.
func connect(address string) (fd int, err error) {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return -1, fmt.Errorf("parse the server's address: %w", err)
	}
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("make a socket: %w", err)
	}
	err = unix.Connect(fd, &unix.SockaddrInet4{Port: int(ap.Port()), Addr: ap.Addr().As4()})
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("connect to %s: %w", address, err)
	}
	return fd, nil
}

// ownCPU is the CPU time that this process used, 0 when the system does not say.
func ownCPU() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// processCPU is the CPU time that all threads of a process used: what utime and
// stime in /proc/PID/stat count, without their rounding to hundredths of a second.
func processCPU(pid int) (time.Duration, error) {
	// The kernel's number for "the CPU clock of this process".
	const scheduledTime = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduledTime), &t); err != nil {
		return 0, fmt.Errorf("read the CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}
