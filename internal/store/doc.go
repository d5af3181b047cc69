// Package store is the key space of one stripe: keys, typed values, expiry
// times, and the ways to find, walk, count and forget them.
//
// A [Table] holds the keys of one stripe of one database. It has no goroutine,
// clock, lock or socket in it: the caller holds the stripe's lock around every
// call and says what time it is. Work that takes long is cut in steps by the
// caller ([Table.Scan], [Table.Due]).
//
// An [Entry] is a view into a table. It is valid until the next change of that
// table and must not leave the stripe's lock.
//
// Only package shard changes a table: it is the one that tells watchers,
// the log and the counters about a change.
package store
