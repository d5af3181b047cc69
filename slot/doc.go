// Package slot maps keys to the 16384 slots of a Redis Cluster, and handles
// ranges and sets of slots.
//
// It is for everything that routes by key: a server that decides whether it
// serves a key, a client that decides whom to ask, a tool that plans a move.
// Start with [Of] (or [OfString]); [Set], [Range] and [Assignment] have a text
// form that people can write in a file and that parses back to the same value.
//
// The package is pure: it holds no state, starts no goroutine and reads no
// clock. All functions may be called at the same time from anywhere; a Set is
// a plain value and is as safe to share as an array is. Hashing a key does not
// allocate.
package slot
