package chain

import "github.com/bowline-kv/bowline/internal/page"

// Limit is how large a node may be.
type Limit struct {
	// Bytes is the most bytes of elements, a multiple of a page.
	Bytes int
	// Count is the most elements, beyond what fits a page.
	Count int
}

const (
	// countedBytes bounds nodes that are limited by their count.
	countedBytes = 8 << 10
	countMax     = 1<<16 - 2 // a listpack can say so
)

// LimitOf is the limit that a value of list-max-listpack-size stands for: -1 to
// -5 are 4 to 64 KiB, a positive number is a count of elements, in at most 8 KiB.
func LimitOf(size int) Limit {
	if size > 0 {
		return Limit{Bytes: countedBytes, Count: min(size, countMax)}
	}
	return Limit{Bytes: page.Size << (max(1, min(-size, 5)) - 1), Count: countMax}
}

// fits says whether a node of so much is within the limit. A page is the least
// that a node takes, so it may be filled whatever the count.
func (l Limit) fits(bytes, count int) bool {
	return bytes <= l.Bytes && (count <= l.Count || bytes <= page.Size)
}

// small says whether two nodes of so much together should be one.
func (l Limit) small(bytes, count int) bool {
	return bytes <= l.Bytes*3/4 && (count <= l.Count*3/4 || bytes <= page.Size*3/4)
}

// Packed says whether a list of so many bytes and elements may be packed: the
// limit to the letter.
func (l Limit) Packed(bytes, count int) bool { return bytes <= l.Bytes && count <= l.Count }
