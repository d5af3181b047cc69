package shard

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bowline-kv/bowline/slot"
)

// Lanes execute items of work in several goroutines. Items of one stripe are
// executed in their order, by the same goroutine; those of different stripes side by
// side. Its methods belong to one goroutine. The lanes start with the first item
// and end with [Lanes.Close].
type Lanes[T any] struct {
	run   func(lane int, items []T) error
	lanes []lane[T]
	free  chan *Batch[T]
	ended sync.WaitGroup
	busy  sync.WaitGroup // counts batches that are handed over and not executed
	err   atomic.Pointer[error]
}

type lane[T any] struct {
	queue chan *Batch[T]
	open  *Batch[T] // nil: none
}

// Batch is items on their way to a lane.
type Batch[T any] struct {
	// Items are executed in this order; the owner of the lanes appends to it.
	Items []T
	bytes []byte
}

const (
	// A batch of this many items or bytes is full.
	batchItems = 256
	batchBytes = 64 << 10
	// laneDepth is how many batches wait for a lane at most.
	laneDepth = 4
)

// Keep copies bytes that the items refer to; the copy is valid until they were
// executed.
func (b *Batch[T]) Keep(p []byte) []byte {
	n := len(b.bytes)
	b.bytes = append(b.bytes, p...)
	return b.bytes[n:len(b.bytes):len(b.bytes)]
}

// NewLanes makes a lane for each processor, at most max. run executes items in the
// goroutine of a lane; after its first error nothing more is executed.
func NewLanes[T any](max int, run func(lane int, items []T) error) *Lanes[T] {
	return &Lanes[T]{run: run, lanes: make([]lane[T], min(max, runtime.GOMAXPROCS(0), Stripes))}
}

// Len is the number of lanes.
func (l *Lanes[T]) Len() int { return len(l.lanes) }

// At gives the batch to which the next item of a slot is to be added, and which it
// may use until the next call of any method.
func (l *Lanes[T]) At(id slot.ID) *Batch[T] {
	if l.free == nil {
		l.start()
	}
	n := &l.lanes[stripeOf(id)%len(l.lanes)]
	if b := n.open; b != nil && (len(b.Items) >= batchItems || len(b.bytes) >= batchBytes) {
		l.send(n)
	}
	if n.open == nil {
		n.open = <-l.free
	}
	return n.open
}

// send hands a batch over.
func (l *Lanes[T]) send(n *lane[T]) {
	if n.open != nil {
		l.busy.Add(1)
		n.queue <- n.open
		n.open = nil
	}
}

func (l *Lanes[T]) start() {
	// One more than wait and are executed, for each lane, so that At never waits for
	// another one.
	l.free = make(chan *Batch[T], len(l.lanes)*(laneDepth+2))
	for range cap(l.free) {
		l.free <- new(Batch[T])
	}
	for i := range l.lanes {
		queue := make(chan *Batch[T], laneDepth)
		l.lanes[i].queue = queue
		l.ended.Go(func() {
			for b := range queue {
				l.execute(i, b)
			}
		})
	}
}

func (l *Lanes[T]) execute(lane int, b *Batch[T]) {
	defer l.busy.Done()
	if l.err.Load() == nil {
		if err := l.run(lane, b.Items); err != nil {
			l.err.CompareAndSwap(nil, &err)
		}
	}
	clear(b.Items)
	b.Items, b.bytes = b.Items[:0], b.bytes[:0]
	if cap(b.bytes) > 4*batchBytes {
		b.bytes = nil
	}
	l.free <- b
}

// Err is the first error of an item; nil: there was none yet.
func (l *Lanes[T]) Err() error {
	if err := l.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Wait returns when all items are executed, with the first error.
func (l *Lanes[T]) Wait() error {
	for i := range l.lanes {
		l.send(&l.lanes[i])
	}
	l.busy.Wait()
	return l.Err()
}

// Close is Wait, and ends the goroutines. It may be called twice; the lanes may be
// used again.
func (l *Lanes[T]) Close() error {
	err := l.Wait()
	if l.free != nil {
		for i := range l.lanes {
			close(l.lanes[i].queue)
		}
		l.ended.Wait()
		l.free = nil
	}
	return err
}
