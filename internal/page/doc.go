// Package page hands out memory outside the collector's heap, in pages of 4 KiB.
//
// A [Pool] belongs to one node. It maps anonymous memory in superchunks of
// 2 MiB, aligned and marked for huge pages, so that a node with gigabytes of
// data costs the collector nothing and the processor few TLB misses:
//
//	superchunk (2 MiB)                                   bitmap: 1 = free
//	+------+------+------+------+------+-- ... --+------+
//	| page | run of 3 pages     | free | ...     | page |   000 0 1 ... 0
//	+------+------+------+------+------+-- ... --+------+
//	 0      1                    4                  511
//
// [Pool.Alloc] gives a run of neighboring pages; runs longer than a superchunk
// are mappings of their own. Pages are not zeroed. [Pool.Trim] gives wholly free
// superchunks back to the system, so that resident memory falls, and when too
// many are half empty it names some as draining: their users ask
// [Pool.Leaving] and move out. Alloc and Free make a system call only when the
// pool grows, Trim is for a background goroutine that holds no other lock.
//
// The pool promises exact accounting ([Pool.Stats]) and that addresses stay
// mapped until [Pool.Close]; it refuses, by a panic, a run that is freed twice.
// When the system gives no more memory the process ends, as it does when the Go
// runtime gets none.
//
// Under `go test -race`, and on systems other than Linux, the memory comes from
// the Go heap instead: the race detector does not see mapped memory.
//
// Start with [New].
package page
