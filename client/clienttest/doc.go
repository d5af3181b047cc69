// Package clienttest runs real Bowline nodes inside a test, and makes them fail on
// demand, so that a program can be tested against what clusters do: a node that dies or
// hangs, a slot that moves, a connection that breaks in the middle of a reply.
//
// [Start] gives a single server, [StartCluster] a cluster; [Options] have the same with
// settings. It is the engine of the bowline binary, on free ports of 127.0.0.1, and it
// ends with the test: no process, file or goroutine is left behind.
//
//	c := clienttest.StartCluster(t, 3)
//	db, err := client.Open(ctx, client.Options{Addrs: c.Addrs()})
//	...
//	c.Owner("greeting").Kill()
//
// Any client can connect, not only package client. Data is in memory: a node that is
// killed loses its keys, unless its settings keep them on disk.
//
// All methods may be called from any goroutine, but those that can fail end the test by
// testing.TB's Fatal, which is for the test's own goroutine. The package is for tests
// only: it brings the whole server with it.
package clienttest
