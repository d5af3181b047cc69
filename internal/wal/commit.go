package wal

import (
	"errors"
	"fmt"
)

// Commit returns when everything that was appended before is on disk. When others
// are at it, it waits for them, and has often nothing left to do.
func (l *Log) Commit() error { return l.commit(true) }

// commit writes what was appended, and syncs it when asked to.
func (l *Log) commit(sync bool) error {
	l.commitMu.Lock()
	return l.lead(sync)
}

// lead commits with commitMu held, and releases it.
func (l *Log) lead(sync bool) error {
	advanced, err := l.writeAll(sync)
	l.commitMu.Unlock()
	if l.asked.Swap(false) || advanced {
		l.o.Wake()
	}
	return err
}

// EndTick is for an event loop at the end of its tick: it does what the settings and
// the disk ask for. When each commit syncs and the disk is fast it commits, or leaves
// it to another loop that is at it; then Wake is called at the end, after which a
// loop with replies that still wait ends its tick again. When the disk is slow or
// syncs go by time, Run is asked. Only a full buffer makes it wait. The error is that of
// Err, or [ErrDiskFull].
func (l *Log) EndTick() error {
	switch {
	case l.Err() != nil:
		return l.Err()
	case !l.pending():
		return nil
	case l.Full():
		return l.commit(l.syncEvery.Load() == 0)
	case l.syncEvery.Load() > 0:
		// Some stream has filled a chunk.
		if l.backlog.Load() > int64(len(l.streams))*chunkBytes {
			l.Request()
		}
		return nil
	case l.slow.Load():
		l.Request()
		return nil
	}
	// The flag is set before the lock is tried: who holds the lock looks at it after
	// the unlock, so one of the two sees the other.
	l.asked.Store(true)
	if !l.commitMu.TryLock() {
		return nil
	}
	return l.lead(true)
}

// pending says that something appended is not durable.
func (l *Log) pending() bool {
	for _, s := range l.streams {
		if s.last.Load() != s.durable.Load() {
			return true
		}
	}
	return false
}

// Request asks Run for a commit, without waiting.
func (l *Log) Request() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// writeAll writes what all streams hold. The caller holds commitMu.
func (l *Log) writeAll(sync bool) (advanced bool, err error) {
	if err := l.Err(); err != nil {
		return false, err
	}
	full := l.writeStreams()
	if full != nil && !errors.Is(full, ErrDiskFull) {
		l.fail(full)
		return false, full
	}
	// What found room before the disk was full is as good as anything.
	err = l.writer.flush()
	if err == nil && sync {
		advanced, err = l.syncWritten()
	}
	if err != nil {
		l.fail(err)
		return false, err
	}
	l.wantNext()
	return advanced, full
}

func (l *Log) writeStreams() error {
	for _, s := range l.streams {
		s.take()
		if err := l.Err(); err != nil {
			return err
		}
		for len(s.batch) > 0 {
			if err := l.writeChunk(s); err != nil {
				return err
			}
			s.drop()
		}
	}
	return nil
}

func (l *Log) writeChunk(s *Stream) error {
	for s.done < len(s.batch[0]) {
		b := s.batch[0][s.done:]
		b = b[:recordSize(b)]
		if err := l.writer.write(b); err != nil {
			return err
		}
		s.done += len(b)
		rec := decodeRecord(b)
		if first, ok := eraStart(rec); ok {
			l.segMu.Lock()
			l.eras[s.shard] = l.eras[s.shard].cut(first)
			l.segMu.Unlock()
		}
		s.wrote(rec)
	}
	return nil
}

// syncWritten makes safe what is in the file.
func (l *Log) syncWritten() (advanced bool, err error) {
	start := l.o.Now()
	did, err := l.writer.sync()
	if err != nil {
		return false, fmt.Errorf("sync the log: %w", err)
	}
	l.syncedAt = l.o.Now()
	if did {
		l.slow.Store(l.pace.note(l.syncedAt-start > l.o.SlowSync))
	}
	for _, s := range l.streams {
		advanced = s.publish() || advanced
	}
	return advanced, nil
}
