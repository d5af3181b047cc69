// Command bench compares Bowline with Debian's redis-server on one machine and
// prints one table:
//
//	make bench                       or: go run ./bench
//	go run ./bench --short           what continuous integration runs: about a minute
//	go run ./bench --rows '^GET/'    some rows only
//	go run ./bench --full            more keys, for the memory, collector and eviction rows
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
//   - raw: the same without that division.
//   - load: the load's own CPU per command, Bowline's over redis-server's.
//   - judged, and by which of the two: by raw when the loads differ by more than a
//     tenth, see judge.go.
//   - throughput: commands in a second, Bowline's over redis-server's. More is better.
//   - each as the median over the pairs of slices, some with the lowest and highest.
//
// The rows about stalls have meters: processes that send one GET after another
// while something big goes on, one of them to a key in the same stripe as the thing
// that goes on (near), one to a key elsewhere (far). Each round has a new server;
// the calmest round is judged, see stallSide, and the worst is printed too. Before
// each the same meters watch the server idle: what is not below the target even
// then is the machine's noise.
//
// The short form measures a row again, up to twice, that is off its target by more
// than a quarter, and judges the best: on a shared machine one bad moment proves
// nothing, three in a row do. Its notes say so.
//
// The load is closed: a connection sends its next pipeline when it has read all
// replies to the last. So the latencies, which are those of whole pipelines, are
// for comparison of the two columns, not for planning.
//
// It refuses to judge what it can't see: a command that a server does not know is
// left out with a note, and a slice with an error reply or a missing key fails
// its row. It runs on Linux only.
package main
