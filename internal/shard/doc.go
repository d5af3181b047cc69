// Package shard is the only place that mutates data: stripes and their locks,
// gates, the key space, the log of effects, and expiry.
//
// A [Space] is the key space of one node: one or more shards, each with 64
// stripes and a log of its own numbering. A command works in a [Tx]:
//
//	tx.Lock(keys or everything)   stripes in ascending order
//	tx.Gate, tx.SlotState         may this be answered here? read under the lock
//	tx.Lookup, tx.SetString, ...  the handler's work; Emit says what happened
//	tx.Unlock()                   number and append the effects, then unlock
//
// Locks are taken in one order: shards by number, stripes ascending, then the
// shard's append lock. No lock is held across a system call.
//
// Every change passes through Tx, which tells [Hooks] of it (watched keys,
// client tracking, blocked clients, notifications) and counts it.
//
// A [Snapshot] is the space as of one moment, written while commands go on, and a
// [Loader] reads one back.
package shard
