package store

import "container/heap"

// expiryHeap orders the items that have an expiry time, the earliest first.
// Invariant: h[i].heapPos == i.
type expiryHeap []*item

func (h *expiryHeap) push(it *item)   { heap.Push((*heapOrder)(h), it) }
func (h *expiryHeap) fix(it *item)    { heap.Fix((*heapOrder)(h), it.heapPos) }
func (h *expiryHeap) remove(it *item) { heap.Remove((*heapOrder)(h), it.heapPos) }

// heapOrder carries the methods that container/heap wants, which would read as
// operations of the heap itself.
type heapOrder []*item

func (h heapOrder) Len() int           { return len(h) }
func (h heapOrder) Less(i, j int) bool { return h[i].expireAt < h[j].expireAt }
func (h heapOrder) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].heapPos, h[j].heapPos = i, j
}

func (h *heapOrder) Push(x any) {
	it := x.(*item)
	it.heapPos = len(*h)
	*h = append(*h, it)
}

func (h *heapOrder) Pop() any {
	old := *h
	it := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return it
}
