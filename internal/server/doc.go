// Package server runs commands: it looks them up, checks who may run them and
// where, takes the locks, calls the handler, and counts. It also holds the
// commands about the node itself (CLUSTER, CONFIG, COMMAND, INFO, ...).
//
// The life of a command here, for one whose keys share stripes:
//
//	session.Command -> arity, authentication -> keys and slots, CROSSSLOT
//	  -> stripe locks -> gate and slot state: run | MOVED | CLUSTERDOWN | ...
//	  -> handler (package engine/...) -> effects appended -> unlock
//
// A [Server] is made by [New] and given to a driver, which asks it for one
// [Worker] per goroutine. It opens no socket and starts no goroutine.
package server
