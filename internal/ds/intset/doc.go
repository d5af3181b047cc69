// Package intset keeps a small set of integers in one piece of bytes.
//
// A [Set] is the width of its values and then the values, ascending,
// little-endian:
//
//	| width 1: 2, 4 or 8 | value | value | ... |
//
// All values have the width of the widest that was ever added, as in the intsets
// of RDB files, to which [Set.AppendIntset] and [FromIntset] convert. The latter
// takes nothing on trust; everything else expects a Set that is valid.
//
// Looking up is O(log n), changing moves the bytes behind. Nothing allocates, but
// for the growth of the bytes. There is no lock: the caller holds one.
package intset
