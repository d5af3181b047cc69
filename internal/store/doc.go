// Package store is the key space of one stripe: keys, typed values, expiry
// times, and the ways to find, walk, count and forget them.
//
// A [Table] holds the keys of one stripe of one database. It has no goroutine,
// clock, lock or socket in it: the caller holds the stripe's lock around every
// call and says what time it is. Work that takes long is cut in steps by the
// caller ([Table.Scan], [Table.Due], [Table.Step], [Dropped.Step]).
//
// Index, records and values are outside the collector's heap, in pages of a
// [page.Pool] (start with [NewTable]):
//
//	path = slot's place, hash         directory -> segment -> line of 10 cells
//	tag  = other bits of the hash                              | tag, reference
//	                                                           v
//	                              slab table -> slab -> slot with a record
//	                                                           |  key, value, expiry, access
//	                                                           v
//	                              large table -> run of pages (values over a page)
//
// What each costs and promises stands beside it: directory.go, segment.go and
// line.go (8 bytes a key at the usual load; growing reads no records but at every
// third split), class.go, slab.go and record.go (3 bytes and what is left of 8),
// large.go, wheel.go (16 bytes for a key that expires), walk.go, sweep.go.
//
// The commands of a warm table allocate nothing, and touch two cache lines that
// are likely not in the cache: one of the index, and the record; see
// [Table.Prepare] for batches. The longest step is a split, which moves some
// 2700 cells.
//
// An [Entry] is a view into a table. It is valid until the next change of that
// table and must not leave the stripe's lock; a long value can be kept beyond it
// with [Table.Pin].
//
// A snapshot reads keys by [Table.WalkOnce], and large collections, which may change
// and move meanwhile, by an [Image].
//
// Only package shard changes a table: it is the one that tells watchers,
// the log and the counters about a change.
package store
