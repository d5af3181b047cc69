package wal

import "slices"

// TrimBefore drops the oldest segments in which no record is needed: of each shard
// those from before[shard] on are, of one that is not in the map all. At least keepBytes
// of the newest segments stay, for replicas that were away; the segment being
// written stays always, and one that a [Cursor] is in, with all behind it. What is dropped
// is used again, or removed. It works on files: for a background goroutine.
func (l *Log) TrimBefore(before map[int]Sequence, keepBytes int64) error {
	l.trimMu.Lock()
	defer l.trimMu.Unlock()
	for {
		seg := l.takeOldest(before, keepBytes)
		if seg == nil {
			return nil
		}
		l.prepareMu.Lock()
		err := l.retire(seg.name, seg.size == l.o.SegmentBytes && !seg.damaged)
		l.prepareMu.Unlock()
		if err != nil {
			l.putBack(seg)
			return err
		}
	}
}

// takeOldest takes the oldest segment out of the list, when it can be dropped.
func (l *Log) takeOldest(before map[int]Sequence, keepBytes int64) *segment {
	l.segMu.Lock()
	defer l.segMu.Unlock()
	if len(l.segments) < 2 || l.segments[0].readers > 0 {
		return nil
	}
	seg := l.segments[0]
	// The log may only begin with a segment that is whole: damaged ones go with what
	// is before them.
	i := 1 + slices.IndexFunc(l.segments[1:], func(s *segment) bool { return !s.damaged })
	if i == 0 {
		return nil
	}
	next := l.segments[i]
	if !next.begun {
		return nil // a power loss may take away all that says where the log is
	}
	kept := int64(0)
	for _, s := range l.segments[1:] {
		kept += s.size
	}
	if kept < keepBytes {
		return nil
	}
	for shard, o := range next.opening {
		idle := shard < len(seg.opening) && seg.opening[shard] == o
		if !idle && o.last >= before[shard] {
			return nil
		}
	}
	l.segments = l.segments[1:]
	return seg
}

func (l *Log) putBack(seg *segment) {
	l.segMu.Lock()
	defer l.segMu.Unlock()
	l.segments = append([]*segment{seg}, l.segments...)
}
