package wal

// diskLock is a mutex that is held while the disk works. Being a channel it counts
// as waiting for something where time is virtual (testing/synctest), so that a disk
// may stall there.
type diskLock chan struct{}

func newDiskLock() diskLock { return make(diskLock, 1) }

func (l diskLock) Lock()   { l <- struct{}{} }
func (l diskLock) Unlock() { <-l }

func (l diskLock) TryLock() bool {
	select {
	case l <- struct{}{}:
		return true
	default:
		return false
	}
}
