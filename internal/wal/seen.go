package wal

import "errors"

// Seen gives, by shard, the number of the newest record that is found behind the end of the
// log, whether it could be read in order or not: an upper bound of what would be lost by ending
// the log there, but for what can't be seen at all.
func (r *Recovery) Seen() (map[int]Sequence, error) {
	seen := map[int]Sequence{}
	if n := len(r.segments); n > 0 {
		if err := r.seeIn(r.segments[n-1], pageUp(r.segments[n-1].end), seen); err != nil {
			return nil, err
		}
	}
	for _, g := range r.unused {
		seg, err := r.open(g)
		if err == nil && seg.fault == nil {
			err = r.seeIn(seg, pageSize, seen)
		}
		if err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// seeIn looks at every block of a segment from a page on.
func (r *Recovery) seeIn(seg *segment, from int64, seen map[int]Sequence) error {
	s, err := scan(r.fs, seg, seg.size)
	if err != nil {
		return err
	}
	defer s.close()
	for off := from; off+pageSize <= seg.size; off = max(off+pageSize, pageUp(s.off)) {
		b, ok, err := s.block(off)
		if err != nil || !ok {
			s.off = off
			continue
		}
		for s.jump(off, b.prev); err == nil; {
			var rec Record
			if rec, err = s.next(); err == nil && (rec.Kind.numbered() || rec.Kind == kindOpening) {
				seen[rec.Shard] = max(seen[rec.Shard], rec.Seq)
			}
		}
		var unreadable *CorruptError
		if !errors.Is(err, errInvalid) && !errors.As(err, &unreadable) {
			break // the end
		}
	}
	return nil
}
