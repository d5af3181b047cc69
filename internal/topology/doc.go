// Package topology is the cluster map: which groups of nodes there are, who is
// in them, and which group and shard serves each slot.
//
// A [Map] is a value that never changes; a newer map replaces it as a whole.
// It comes from a text ([Parse], the file of a static cluster), from code
// ([New], or [Even] for equal parts), and later from the coordinators. Whoever
// routes asks [Map.Owner]; CLUSTER SLOTS, SHARDS, NODES and INFO are written
// from a map and a [View], which carries what only the answering node knows.
//
// The package promises that a Map that exists is consistent: every slot has at
// most one owner, every node is in one group, every group has one primary. New
// and Parse refuse anything else and say why, Parse with the line. It is pure:
// no goroutine, clock, socket, file or name lookup.
//
// # Text form
//
// One statement a line, words with spaces between, '#' starts a comment:
//
//	version 7 epoch 12
//	group g1 epoch 3 slots 0-5460@0
//	  member 07c3...40 digits 127.0.0.1:7001 primary
//	  member 1b22...40 digits [::1]:7004 replica zone=a hostname=db4.example
//	group g2 epoch 12 slots 5461-8000@0,8001-16383@1
//	  member 5d9a...40 digits 127.0.0.1:7002 primary tls=7102 bus=17002
//
// "version" comes first. Its "epoch" is the cluster's configuration epoch; left
// out, it is the highest of the groups'. A group's "epoch" defaults to 0 and
// its "slots" to none; "@1" names the shard, left out it is 0. A member belongs
// to the group above it. Its address is the plain port, 0 when it has only a
// TLS port; the further settings are tls=PORT, bus=PORT, hostname=NAME,
// zone=NAME and health=online|loading|failed.
package topology
