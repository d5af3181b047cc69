// Package player plays the same commands against redis-server and against
// Bowline and compares every reply byte by byte.
//
// Programs come from two sources: files in testdata, written by hand, and
// [Generator], which makes random ones from the argument grammar of the command
// table, so that a command takes part as soon as it works. A difference found
// by chance is shrunk to a few lines. What may differ, and why, stands in
// [Rule]. Only tests import this package.
package player
