// Package rdb reads and writes Redis's snapshot files and the payloads of DUMP
// and RESTORE, which hold values in the same form:
//
//	file:  "REDIS0010" aux... | database, sizes, (expiry, use, type, key, value)... | ... | end, CRC-64
//	dump:  type, value, version 2, CRC-64
//
// Reading takes nothing on trust: every length is checked before memory is taken
// for it, so that memory follows the bytes that really come (a compressed one may
// stand for up to 264), and what is wrong is an error that wraps [ErrCorrupt] and
// names offset and key. Values are
// given element by element to a [Sink], whatever their encoding was: all those
// of versions 1 to 12 are read (ziplists, zipmaps, integer sets, listpacks,
// quicklists, field expiry). Streams, functions and module data, which have no
// place to go yet, are passed over or refused, as [Options] says.
//
// Writing appends encoded parts to bytes; [Writer] puts a file around them. What
// it writes Redis 7.0 reads, but for hashes with field expiry, which came with 7.4.
//
// The facts about the format are those of Redis's rdb.h and of files that
// redis-server writes. There is no goroutine, clock or lock here.
package rdb
