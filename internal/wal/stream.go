package wal

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// chunkBytes is how much memory a stream takes at once.
	chunkBytes = 256 << 10
	// chunksKept is how many chunks a stream keeps for later.
	chunksKept = 16
)

// Stream is the log of one shard. Its methods may be called from any goroutine.
//
// What is appended stands in chunks until a commit takes them. A record is whole in
// one chunk; a large one gets a chunk of its own.
type Stream struct {
	log   *Log
	shard int

	// mu is the shard's append lock: held for a copy, never for a file.
	mu     sync.Mutex
	chunks [][]byte // guarded by mu, as are all below but the atomics
	free   [][]byte
	// history is that of the newest record appended.
	history History
	// cuts counts the records in chunks, or being written, that take back others.
	// While there are some, what is written says nothing of what is durable.
	cuts int

	last    atomic.Uint64 // written under mu
	durable atomic.Uint64 // written under mu

	// written is how far the log on disk is; owned by the holder of Log.commitMu.
	written state
	// batch are the chunks being written, of which the first done bytes of the first
	// are; owned by the holder of Log.commitMu.
	batch [][]byte
	done  int
}

// Append numbers a record of effects and takes a copy. It waits for no disk and may
// be called under the locks that give the record its place in the order. After a
// failure of the log it only numbers.
func (s *Stream) Append(payload []byte) Sequence { return s.AppendKind(KindEffects, payload) }

// AppendKind is Append for a record of KindEffects or KindSlots. A payload of more
// than 2 GiB makes the log fail.
func (s *Stream) AppendKind(kind Kind, payload []byte) Sequence {
	s.mu.Lock()
	seq := Sequence(s.last.Load()) + 1
	s.put(seq, kind, payload)
	s.last.Store(uint64(seq))
	s.mu.Unlock()
	return seq
}

// put copies a record into the last chunk.
func (s *Stream) put(seq Sequence, kind Kind, payload []byte) {
	need := recordHeader + len(payload)
	n := len(s.chunks)
	if n == 0 || cap(s.chunks[n-1])-len(s.chunks[n-1]) < need {
		if !s.grow(need) {
			return
		}
		n = len(s.chunks)
	}
	s.chunks[n-1] = appendRecord(s.chunks[n-1], s.shard, seq, kind, payload)
}

// grow adds a chunk that has room for a record; false when the log has failed.
func (s *Stream) grow(need int) bool {
	if s.log.Err() != nil {
		return false
	}
	if need > payloadMax {
		s.log.fail(fmt.Errorf("append to the log: a record of %d bytes", need))
		return false
	}
	var chunk []byte
	if n := len(s.free); n > 0 && need <= chunkBytes {
		chunk, s.free = s.free[n-1], s.free[:n-1]
	} else {
		chunk = make([]byte, 0, max(need, chunkBytes))
	}
	s.chunks = append(s.chunks, chunk)
	s.log.backlog.Add(int64(cap(chunk)))
	return true
}

// take moves what was appended to the batch, when that is empty.
func (s *Stream) take() {
	if len(s.batch) > 0 {
		return
	}
	s.mu.Lock()
	s.batch, s.chunks = s.chunks, s.batch
	s.mu.Unlock()
}

// drop gives back the first chunk of the batch.
func (s *Stream) drop() {
	chunk := s.batch[0]
	s.batch, s.done = slices.Delete(s.batch, 0, 1), 0
	s.log.backlog.Add(-int64(cap(chunk)))
	if cap(chunk) != chunkBytes {
		return
	}
	s.mu.Lock()
	if len(s.free) < chunksKept {
		s.free = append(s.free, chunk[:0])
	}
	s.mu.Unlock()
}

// Last is the number of the newest record appended.
func (s *Stream) Last() Sequence { return Sequence(s.last.Load()) }

// Durable is the number of the newest record that was synced to disk. Invariant:
// Durable <= Last. Neither goes back, except by Fork and Reset.
func (s *Stream) Durable() Sequence { return Sequence(s.durable.Load()) }

// History is the chain of forks up to the newest record. The caller must not change
// it.
func (s *Stream) History() History {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history
}

// Fork says that a new writer begins. When f.First is not above Last, the records
// from there on are taken back, and Last and Durable fall below it. It is an error
// when records would be missing before f.First. The fork is on disk after the next
// commit.
func (s *Stream) Fork(f Fork) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := Sequence(s.last.Load())
	if f.First == 0 || f.First > last+1 {
		return fmt.Errorf("fork shard %d at %d: its last record is %d", s.shard, f.First, last)
	}
	s.put(f.First, kindFork, History{f}.append(nil))
	s.history = s.history.fork(f)
	if f.First <= last {
		s.cuts++
		s.last.Store(uint64(f.First - 1))
		s.durable.Store(min(s.durable.Load(), uint64(f.First-1)))
	}
	return nil
}

// Reset takes back everything: the stream goes on behind last, with a history of
// its own, because the data was copied from elsewhere. The caller has made the copy
// safe before. Durable is 0 until the next commit.
func (s *Stream) Reset(last Sequence, history History) error {
	payload := history.append(nil)
	if _, err := decodeHistory(payload); err != nil {
		return fmt.Errorf("reset shard %d to %d: %w", s.shard, last, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(last, kindBase, payload)
	s.history = slices.Clone(history)
	s.cuts++
	s.last.Store(uint64(last))
	s.durable.Store(0)
	return nil
}

// wrote is called for a record that went to the file; the caller holds
// Log.commitMu.
func (s *Stream) wrote(r Record) {
	cuts := s.written.cuts(r)
	if err := s.written.apply(r); err != nil {
		panic(fmt.Sprintf("BUG: appended to the log: %v", err))
	}
	if cuts {
		s.mu.Lock()
		s.cuts--
		s.mu.Unlock()
	}
}

// publish is called when everything written is synced; true when Durable changed.
func (s *Stream) publish() bool {
	if s.durable.Load() == uint64(s.written.last) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cuts > 0 {
		return false
	}
	s.durable.Store(uint64(s.written.last))
	return true
}
