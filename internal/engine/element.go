package engine

import (
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/resp"
)

// Element writes an element of a collection as a bulk string.
func (c *Ctx) Element(e pack.Element) {
	n, ok := e.Int()
	if !ok {
		c.W.Bulk(e.Bytes())
		return
	}
	var digits [20]byte
	c.W.Bulk(resp.AppendInt(digits[:0], n))
}

// Span is the part of a sequence of length elements from number start to number
// end, both included, where negative numbers count from the end: the number of
// its first element, and how many they are.
func Span(start, end int64, length int) (from, n int) {
	size := int64(length)
	if start < 0 {
		start = max(0, start+size)
	}
	if end < 0 {
		end += size
	}
	end = min(end, size-1)
	if start > end {
		return 0, 0
	}
	return int(start), int(end - start + 1)
}
