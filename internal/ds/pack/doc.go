// Package pack keeps a small collection in one piece of bytes.
//
// A [Pack] is a count and then the elements, one behind the other. An element is
// encoded as in the listpacks of RDB files, so that a listpack is a Pack with
// six bytes around it (see [Pack.AppendListpack] and [FromListpack]):
//
//	Pack:     | count 2 | element | element | ...
//	listpack: | bytes 4 | count 2 | element | element | ... | 0xFF |
//
//	element:  | encoding, data | length of these two, readable from behind |
//	              body                 back, 1..5 bytes
//
//	body:     0xxxxxxx                 integer 0..127
//	          10xxxxxx ...             string of up to 63 bytes
//	          110xxxxx x               integer of 13 bits, signed like all below
//	          1110xxxx x ...           string of up to 4095 bytes
//	          11110000 4 ...           string of up to 4 GiB
//	          11110001 2, ..010 3,
//	          ..011 4, ..100 8         integer of 16, 24, 32, 64 bits
//
// A value that is the canonical decimal spelling of an int64 is always stored as
// an integer, and always in the shortest form: equal values are equal bytes.
// Bytes from outside are brought into this form by [FromListpack], which takes
// nothing on trust; everything else expects a Pack that is valid.
//
// Positions are offsets into the bytes: [Pack.First] up to, but not including,
// [Pack.End]. A change makes all later positions void. The functions [Next],
// [Prev], [Get], [Find], [FindBack] and [Count] work on elements without a count in front,
// for those who keep the count elsewhere.
//
// Nothing here allocates, but for the growth of the bytes. There is no lock:
// the caller holds one, and a view ([Element.Bytes]) ends with it or with the
// next change.
package pack
