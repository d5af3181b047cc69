// Package session is one client connection as a state machine: request bytes
// in, reply bytes out. It owns no goroutine, socket or clock; a driver (package
// netdrive) feeds it and tells the time, an [Executor] (package server) runs
// what it parses.
//
//	driver -> Batch.Feed(session, now, bytes)
//	            parse up to 32 commands -> Executor.Execute -> Session.W
//	driver <- Session.W.B, Session.Closing
//
// It also answers the commands that concern only the connection: see
// [Handlers]. All sessions of a process are listed in a [Registry].
package session
