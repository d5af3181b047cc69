// Command bench compares Bowline with Debian's redis-server on one machine and
// prints one table:
//
//	make bench                       or: go run ./bench
//	go run ./bench --short           what continuous integration runs: under a minute
//	go run ./bench --rows '^GET/'    some rows only
//	go run ./bench --full            more keys, for the memory and collector rows
//
// It builds bin/bowline, starts both servers on loopback without persistence,
// and gives them the same load in turn: a slice for one, the same slice for the
// other, at least five times, each after a short lead that is not measured. The
// load comes from a process of its own (this binary again, with the argument
// "load"), so that its CPU is told apart.
//
// What the columns say:
//
//   - cpu: the server's CPU per command, divided by the load's CPU per command in
//     the same slice, Bowline's over redis-server's. The division cancels the
//     machine's drift. Less is better.
//   - raw cpu: the same without that division.
//   - throughput: commands in a second, Bowline's over redis-server's. More is better.
//   - each with the median over the pairs of slices, and the lowest and highest.
//
// The load is closed: a connection sends its next pipeline when it has read all
// replies to the last. So the latencies, which are those of whole pipelines, are
// for comparison of the two columns, not for planning.
//
// It refuses to judge what it can't see: a command that a server does not know is
// left out with a note, and a slice with an error reply or a missing key fails
// its row. It runs on Linux only.
package main
