// Package wal is the log of a node on disk: one physical log, in which every
// shard has a stream of records of its own numbering.
//
// The log is a row of segments, files of a fixed size that are zero-filled before
// use and used again under a new generation number. A segment is a row of pages:
//
//	page 0     header: magic, generation, salt, size, CRC; zeros
//	page 1..   blocks
//
//	block      +--------------+--------+--------+-- ... --+-------+
//	           | block header | record | record |         | zeros |
//	           +--------------+--------+--------+-- ... --+-------+
//	           ^ start of a page                                  ^ end of a page
//
//	block header   CRC 4, offset 4, synced before 8, end of the record before 4, sum of the states 4
//	record         CRC 4, size 4, sequence 8, shard 2, kind 1, zero 1, payload
//
// All numbers are little-endian; every CRC is a CRC32C over all that follows it in
// its header and payload, and begins with the segment's generation and salt, so that
// what an earlier use of the file left behind is never taken for a record.
//
// A sync ends a block: what comes later starts on a new page, and no page with
// synced bytes is ever written again. A record that is not synced yet may be
// followed in its block by others; only a record that ends with its page ends the
// block as well. Each block says where the record before it ended, because a page that
// was not written whole may look like the end of a block, and up to where the log was
// synced. So recovery can tell: damage behind everything that a later block calls synced is a
// torn tail, which was promised to nobody, and is cut off at the last whole record;
// damage before that is corruption, a [CorruptError] with file and offset. A segment
// is synced before the next one gets its first block, which says where it ended.
//
// A segment begins with the state of every shard before it: last sequence and
// history. So older segments can go; see [Log.TrimBefore]. And each block has a sum of the
// states where it begins. So reading can go on behind damage when a snapshot has what
// was there; see RecoverOptions.Base.
//
// An empty file, whose name tells the newest segment, is there so that it is noticed when
// the newest segments are gone.
//
// A fork ([Stream.Fork]) marks each start of a writer. When its first sequence is not
// above the last one it takes back what the stream had from there on: the bytes stay
// in the log, but readers pass over them. [Stream.Reset] takes back everything, for a
// stream that goes on from a copy.
//
// [Recover] reads a directory, [Recovery.Replay] hands out the records, and
// [Recovery.Start] makes a [Log] for writing. Appending copies into memory and waits
// for nothing. A commit writes what all streams hold and syncs it; whoever commits
// first does it for all. The package starts no goroutine: event loops call
// [Log.EndTick], and one goroutine runs [Log.Run].
//
// A failed write or sync is final: [Log.Err] tells it, and nothing becomes durable
// after it. A full disk is not: see [ErrDiskFull].
package wal
