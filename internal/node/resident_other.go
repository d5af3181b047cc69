//go:build !linux

package node

// residentBytes is the memory of this process that is in RAM; 0: unknown.
func residentBytes() int64 { return 0 }

// systemBytes tells the memory of the machine; nil: unknown.
func systemBytes() func() int64 { return nil }
