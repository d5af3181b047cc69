package netdrive

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls below never block, as the sockets do not: they spare the runtime
// the hand-over of the processor that a blocking call needs. This is the only
// file of the package with unsafe in it; each pointer lives in the call alone.

func readNow(fd int, buf []byte) (int, error) {
	return answer(unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(len(buf))))
}

// writeNow sends without a SIGPIPE for a connection that is closed.
func writeNow(fd int, buf []byte) (int, error) {
	r, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(len(buf)), unix.MSG_NOSIGNAL, 0, 0)
	return answer(r, 0, errno)
}

// pollNow gives the number of ready sockets, 0 when there are none, or -1 after
// an interruption.
func pollNow(poll int, events []unix.EpollEvent) int {
	r, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(poll), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
	n, err := answer(r, 0, errno)
	if err != nil {
		return -1
	}
	return n
}

func answer(r, _ uintptr, errno unix.Errno) (int, error) {
	if errno != 0 {
		return -1, errno
	}
	return int(r), nil
}
