package node

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// residentBytes is the memory of this process that is in RAM, 0 when the system
// does not say.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// systemBytes tells the memory of the machine.
func systemBytes() func() int64 {
	return func() int64 {
		var info unix.Sysinfo_t
		if unix.Sysinfo(&info) != nil {
			return 0
		}
		return int64(info.Totalram) * int64(info.Unit)
	}
}
