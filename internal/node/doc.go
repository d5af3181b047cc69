// Package node is the composition root: a running node from a configuration.
// It opens the listeners, reads files and clocks, starts the background work,
// and stops it all again. Everything else in a node gets these from here.
package node
