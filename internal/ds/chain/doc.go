// Package chain is the body of a large list: a deque of nodes, each a run of
// elements as in package pack, outside the collector's heap.
//
//	descriptors:  | node | node | node | ... |     32 bytes each, on the Go heap
//	                 |
//	run of pages: | free | element | element | ... | free |
//	                     off                       off+bytes
//
// A node's bytes and elements are limited ([Limit]); an element beyond the limit
// has a node of its own. A run grows by doubling up to the limit, and shrinks when
// three quarters of it are free. Pushing and popping at both ends is O(1) and moves
// nothing: a run filled from the front has its free bytes at its end, and the other way round.
// Elsewhere a change moves the shorter side of one node. A full node is cut in
// two, and neighbors that together fill three quarters of one are merged, so that at
// most the nodes at the ends are small.
//
// An [Image] reads the elements as of one moment, while the chain changes.
//
// Finding element i adds up the counts of nodes from the nearer end, some
// nanoseconds a node. Nothing allocates, but for pages, which are given back as
// soon as they are empty, and the growth of the descriptors. There is no lock:
// the caller holds one, and a [Pos] and the views of a [pack.Element] end with it or
// with the next change. Start with [New].
package chain
