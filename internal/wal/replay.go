package wal

import (
	"errors"
	"io"
)

// Replay hands out, in the order of the log, every live record whose number is above
// that of its shard in from: what a snapshot with these sequences lacks. A record that
// a later fork took back is not handed out; whether a snapshot holds such records
// the caller finds by [History.Contains]. When the log begins too late for a shard, the
// error is a [MissingError], before any record is handed out. An error of apply ends
// the replay and is returned.
func (r *Recovery) Replay(from map[int]Sequence, apply func(Record) error) error {
	for shard, sh := range r.shards {
		if from[shard] < sh.begin {
			return &MissingError{shard, from[shard], sh.begin}
		}
	}
	for i, seg := range r.segments {
		if i+1 < len(r.segments) && holds(from, r.segments[i+1].opening) {
			continue
		}
		if err := r.replaySegment(seg, from, apply); err != nil {
			return err
		}
	}
	return nil
}

// holds says that from has everything that was live before a segment with this
// opening.
func holds(from map[int]Sequence, o []opening) bool {
	for shard := range o {
		if o[shard].last > from[shard] {
			return false
		}
	}
	return true
}

func (r *Recovery) replaySegment(seg *segment, from map[int]Sequence, apply func(Record) error) error {
	if seg.end == 0 { // all that it had is damaged
		return nil
	}
	s, err := scan(r.fs, seg, seg.end)
	if err != nil {
		return err
	}
	defer s.close()
	holes := seg.holes
	era := make([]int, len(r.shards))
	for shard, o := range seg.opening {
		era[shard] = o.era
	}
	for {
		for len(holes) > 0 && s.end >= holes[0].at {
			s.jump(holes[0].off, holes[0].prev)
			copy(era, holes[0].eras)
			holes = holes[1:]
		}
		rec, err := s.next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, errInvalid):
			return &CorruptError{seg.name, s.off, "a record that was whole before is not"}
		case err != nil:
			return err
		}
		if _, ok := eraStart(rec); ok {
			era[rec.Shard]++
			continue
		}
		if rec.Kind.numbered() && rec.Seq > from[rec.Shard] && r.shards[rec.Shard].eras.live(era[rec.Shard], rec.Seq) {
			if err := apply(rec); err != nil {
				return err
			}
		}
	}
}
