//go:build unix

package node

import "syscall"

// cpuSeconds tells the CPU time that this process used, 0 when the system does
// not say.
func cpuSeconds() (system, user float64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return seconds(u.Stime), seconds(u.Utime)
}

func seconds(t syscall.Timeval) float64 { return float64(t.Nano()) / 1e9 }
