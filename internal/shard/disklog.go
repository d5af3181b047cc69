package shard

import (
	"sync/atomic"

	"github.com/bowline-kv/bowline/internal/wal"
)

// DiskLog is a [Log] that a stream of the node's log on disk may keep. It is in one
// of three states:
//
//	memory     the newest records stand in a ring of memory; so it begins
//	recovery   what is applied is in the log already, so that Append only tells the
//	           number that [DiskLog.Recovered] was given
//	disk       records go to the stream
//
// The state changes while nobody appends: before other goroutines know the log, or
// with the whole space locked.
type DiskLog struct {
	ring       *ringLog
	recovering bool                       // guarded by ring.mu
	stream     atomic.Pointer[wal.Stream] // nil: not on disk; changed under ring.mu
	bytes      atomic.Int64
}

// NewDiskLog makes a log in memory with a ring of so many bytes; <= 0: 1 MiB.
func NewDiskLog(ringBytes int) *DiskLog {
	if ringBytes <= 0 {
		ringBytes = logBytesDefault
	}
	return &DiskLog{ring: newRingLog(ringBytes)}
}

// Recover begins a recovery.
func (l *DiskLog) Recover() {
	l.ring.startAfter(l.Last())
	l.ring.mu.Lock()
	defer l.ring.mu.Unlock()
	l.recovering = true
	l.stream.Store(nil)
}

// Recovered says that the record of this number is applied next, or, after the
// last one, that it was.
func (l *DiskLog) Recovered(seq Sequence) { l.ring.startAfter(seq) }

// Attach lets records go to a stream, of which the last record is the newest that
// was appended or recovered.
func (l *DiskLog) Attach(stream *wal.Stream) {
	l.ring.startAfter(stream.Last())
	l.ring.mu.Lock()
	defer l.ring.mu.Unlock()
	l.recovering = false
	l.stream.Store(stream)
}

// Detach goes on in memory.
func (l *DiskLog) Detach() {
	l.ring.startAfter(l.Last())
	l.ring.mu.Lock()
	defer l.ring.mu.Unlock()
	l.recovering = false
	l.stream.Store(nil)
}

// Append implements [Log].
func (l *DiskLog) Append(payload []byte) Sequence {
	if s := l.stream.Load(); s != nil {
		l.bytes.Add(int64(len(payload)))
		return s.Append(payload)
	}
	l.ring.mu.Lock()
	seq := l.ring.last
	if !l.recovering {
		seq = l.ring.append(payload)
	}
	l.ring.mu.Unlock()
	return seq
}

// Bytes is the size of all payloads that went to a stream; it only grows.
func (l *DiskLog) Bytes() int64 { return l.bytes.Load() }

// Last implements [Log].
func (l *DiskLog) Last() Sequence {
	if s := l.stream.Load(); s != nil {
		return s.Last()
	}
	return l.ring.Last()
}

// Durable implements [Log]: what was synced, where there is a stream.
func (l *DiskLog) Durable() Sequence {
	if s := l.stream.Load(); s != nil {
		return s.Durable()
	}
	return l.ring.Last()
}

// History implements [Log].
func (l *DiskLog) History() wal.History {
	if s := l.stream.Load(); s != nil {
		return s.History()
	}
	return nil
}

// Read implements [Log]. What is on disk is not kept in memory: that is read by
// [wal.Log.Cursor].
func (l *DiskLog) Read(from Sequence, limit int) (payloads [][]byte, ok bool) {
	return l.ring.Read(from, limit)
}
