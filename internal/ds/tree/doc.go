// Package tree is the ordered half of a large sorted set: a counted B+ tree of
// (score, reference) outside the collector's heap.
//
// Entries are ordered by score, and entries of one score by the members that the
// references name, which the tree reads through the caller's [Order]. A node is a
// page of a [page.Pool]:
//
//	inner:  for each child its first entry, its number, and the entries below it
//	          |            |             |
//	leaf:   340 entries <-> entries <-> entries
//
// Inner nodes hold copies of the first entries below them, up to 204, so that a
// million entries are three levels. Nodes are numbered by tree: they can move to
// other pages without a change to their parents ([Tree.Leave]).
//
// A full node first gives to a neighbor, is then cut in halves, and at either
// end of the tree is cut so that one side stays full: an entry takes about 14
// bytes after random inserts, and 12.2 after ascending or descending ones. A node
// that gets small is merged with a neighbor or takes of it, so that nodes are at
// least a quarter full, but for those at the two ends, which may hold one entry.
//
// Searching, inserting, deleting and counting are O(log n) and allocate nothing,
// but for pages, which are given back as soon as they are empty. There is no
// lock: the caller holds one, and a [Pos] ends with it or with the next change.
// Start with [New].
package tree
