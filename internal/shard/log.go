package shard

import (
	"encoding/binary"
	"sync"

	"github.com/bowline-kv/bowline/internal/wal"
)

// Sequence is the number of a record in a shard's log: 1, 2, 3, ... without
// gaps. Zero: nothing was written yet.
type Sequence = wal.Sequence

// Log numbers the records of one shard and keeps them. Its methods may be called
// from any goroutine.
type Log interface {
	// Append numbers a record and takes a copy. It is called under the locks of
	// the stripes that the record is about, so it must not wait for a disk.
	Append(payload []byte) Sequence
	// Last is the number of the newest record.
	Last() Sequence
	// Durable is the number of the newest record that is safe: on disk, where the
	// log is on disk. Invariant: Durable <= Last, and neither goes back.
	Durable() Sequence
	// History is the chain of writers up to the newest record; nil for a log in memory.
	// The caller must not change it.
	History() wal.History
	// Read gives copies of the payloads of up to limit records from a number on;
	// ok is false when they are no longer kept.
	Read(from Sequence, limit int) (payloads [][]byte, ok bool)
}

// Position is a place in the log of one shard of a node.
type Position struct {
	// Shard is the shard's number in its node.
	Shard int
	// Seq is the record's number.
	Seq Sequence
}

// ringLog keeps the newest records of one shard in a bounded ring of memory,
// for readers that follow the shard.
//
//	buf    |....record 7|record 8|record 9|.......|
//	            ^head                      ^tail      absolute byte positions
//
// A record is a 4-byte length and its payload, and may wrap around the end.
type ringLog struct {
	mu    sync.Mutex // the shard's append lock
	buf   []byte     // guarded by mu, like all below
	head  uint64
	tail  uint64
	first Sequence // the record at head; last+1 when the ring is empty
	last  Sequence
}

const ringHeader = 4

func newRingLog(size int) *ringLog { return &ringLog{buf: make([]byte, size), first: 1} }

// startAfter empties the ring; the next record gets the number behind last.
func (l *ringLog) startAfter(last Sequence) {
	l.mu.Lock()
	l.head, l.first, l.last = l.tail, last+1, last
	l.mu.Unlock()
}

// Append numbers a record and keeps it; the oldest ones make place. A record
// larger than the ring is numbered but not kept, nor is anything before it.
func (l *ringLog) Append(payload []byte) Sequence {
	l.mu.Lock()
	seq := l.append(payload)
	l.mu.Unlock()
	return seq
}

func (l *ringLog) append(payload []byte) Sequence {
	l.last++
	need := uint64(ringHeader + len(payload))
	if need > uint64(len(l.buf)) {
		l.head, l.first = l.tail, l.last+1
		return l.last
	}
	for l.tail+need-l.head > uint64(len(l.buf)) {
		l.head += ringHeader + uint64(l.sizeAt(l.head))
		l.first++
	}
	var header [ringHeader]byte
	binary.LittleEndian.PutUint32(header[:], uint32(len(payload)))
	l.put(header[:])
	l.put(payload)
	return l.last
}

func (l *ringLog) put(b []byte) {
	n := copy(l.buf[l.tail%uint64(len(l.buf)):], b)
	copy(l.buf, b[n:])
	l.tail += uint64(len(b))
}

func (l *ringLog) get(dst []byte, at uint64, n int) []byte {
	start := at % uint64(len(l.buf))
	part := l.buf[start:min(start+uint64(n), uint64(len(l.buf)))]
	dst = append(dst, part...)
	return append(dst, l.buf[:n-len(part)]...)
}

func (l *ringLog) sizeAt(at uint64) uint32 {
	var header [ringHeader]byte
	return binary.LittleEndian.Uint32(l.get(header[:0], at, ringHeader))
}

// Read implements [Log].
func (l *ringLog) Read(from Sequence, limit int) (payloads [][]byte, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if from < l.first {
		return nil, false
	}
	at := l.head
	for seq := l.first; seq <= l.last && len(payloads) < limit; seq++ {
		n := int(l.sizeAt(at))
		if seq >= from {
			payloads = append(payloads, l.get(nil, at+ringHeader, n))
		}
		at += ringHeader + uint64(n)
	}
	return payloads, true
}

// Last implements [Log].
func (l *ringLog) Last() Sequence {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Durable implements [Log]: in memory nothing is waited for.
func (l *ringLog) Durable() Sequence { return l.Last() }

// History implements [Log].
func (l *ringLog) History() wal.History { return nil }
