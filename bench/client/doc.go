// Command client compares Bowline's Go client with other Go clients on one machine
// and prints one table:
//
//	make bench-client                    or, in bench/client: go run .
//	make bench-client ARGS=--short       a quick form
//	go run . --rows '^GET/'              some rows only
//	go run . --json report.json          all figures, those of every run included
//
// It starts a Redis Cluster of three primaries (Debian's redis-server, on loopback,
// without persistence), and lets every client do the same work against it in turn, five
// times by default. Each run is a process of its own (this binary again, with the
// argument "run"), so that CPU, allocations and collections are the client's and the
// load loop's alone. A run has a lead that is not measured.
//
// A row is an operation and a number of goroutines, each of which sends its next
// command, or pipeline, when it has the reply to the last. What is printed for it:
//
//   - cpu: microseconds of user and system time of the process for each command.
//   - ops/s: commands in a second.
//   - allocs: heap allocations for each command, the load loop's own (none) included.
//   - p50, p99: microseconds of an operation, a whole pipeline for pipelines. Every
//     eighth is timed.
//   - ratios: Bowline's over those of the best other client of the row, which is the
//     one with the lowest CPU, or the highest throughput, by median. Each is the median
//     over the rounds. CPU: less is better, throughput: more is better.
//
// Two more rows: how long after the death of a primary a client goes on, and how much CPU
// it takes to compile a program that uses it. See docs/benchmarks-client.md.
//
// It runs on Linux only.
package main
