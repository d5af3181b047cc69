package shard

import "github.com/bowline-kv/bowline/internal/wal"

// DiskLog is a [Log] that a stream of the node's log on disk keeps; the newest
// records stand in a ring of memory too, for Read. It begins in recovery: the
// records that are applied then are in the stream already, so Append only tells the
// number that [DiskLog.Recovered] was given. [DiskLog.Attach] ends that.
type DiskLog struct {
	ring *ringLog
	// stream is nil during recovery. It is set before any other goroutine knows the
	// log.
	stream *wal.Stream
}

// NewDiskLog makes a log in recovery with a ring of so many bytes; <= 0: 1 MiB.
func NewDiskLog(ringBytes int) *DiskLog {
	if ringBytes <= 0 {
		ringBytes = logBytesDefault
	}
	return &DiskLog{ring: newRingLog(ringBytes)}
}

// Recovered says that the record of this number is applied next, or, after the
// last one, that it was.
func (l *DiskLog) Recovered(seq Sequence) { l.ring.startAfter(seq) }

// Attach ends the recovery: from here on records go to the stream.
func (l *DiskLog) Attach(stream *wal.Stream) {
	l.ring.startAfter(stream.Last())
	l.stream = stream
}

// Append implements [Log].
func (l *DiskLog) Append(payload []byte) Sequence {
	// One lock over both, so that their numbers agree.
	l.ring.mu.Lock()
	defer l.ring.mu.Unlock()
	if l.stream == nil {
		return l.ring.last
	}
	l.ring.append(payload)
	return l.stream.Append(payload)
}

// Last implements [Log].
func (l *DiskLog) Last() Sequence {
	if l.stream == nil {
		return l.ring.Last()
	}
	return l.stream.Last()
}

// Durable implements [Log]: what was synced.
func (l *DiskLog) Durable() Sequence {
	if l.stream == nil {
		return l.ring.Last()
	}
	return l.stream.Durable()
}

// Read implements [Log].
func (l *DiskLog) Read(from Sequence, limit int) (payloads [][]byte, ok bool) {
	return l.ring.Read(from, limit)
}
