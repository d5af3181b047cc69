package wal

import (
	"io"
	"slices"
)

// pass goes on behind damage, where nothing is lost by that: it finds the next place at
// which it is known where all streams stand, and between which and the damage there
// is nothing that the base lacks. Such a place is the start of a segment, where that stands
// as records, or of a block. Otherwise the damage is the error.
// Reading began at a place, and got as far as from.
func (r *Recovery) pass(segs []*segment, began, from place, damage *CorruptError) (place, error) {
	for i := from.i; i < len(segs); i++ {
		seg := segs[i]
		if seg.fault != nil {
			continue
		}
		to := place{i: i, off: pageSize, prev: pageSize}
		if i == from.i {
			to.off = max(pageUp(from.off), began.off+pageSize) // not there again
		}
		states, to, err := r.standing(segs, to)
		if err != nil {
			return from, err
		}
		if states != nil && r.holds(states) {
			r.goOn(segs, from, to, states)
			r.Passed = append(r.Passed, damage)
			return to, nil
		}
	}
	return from, damage
}

// standingTries is at how many blocks of a segment it is tried. When it is not known at
// the first two, where streams stand, then mostly at none.
const standingTries = 4

// standing finds the next place in a segment at which it is known where the streams
// stand; nil: there is none.
func (r *Recovery) standing(segs []*segment, from place) ([]state, place, error) {
	// What is behind the end that the next segment tells was never in the log.
	limit, _, _, err := r.endOf(segs, from.i)
	if err != nil {
		return nil, from, err
	}
	s, err := scan(r.fs, segs[from.i], limit)
	if err != nil {
		return nil, from, err
	}
	defer s.close()
	tries := standingTries
	for off := from.off; off < limit && tries > 0; off += pageSize {
		b, ok, err := s.block(off)
		if err != nil || !ok {
			continue
		}
		tries--
		s.jump(off+blockHeader, b.prev)
		var states []state
		if off == pageSize {
			states = r.openingStates(s)
		}
		if states == nil {
			s.jump(off+blockHeader, b.prev)
			states, err = r.statesBefore(s, b, segs[from.i+1:])
		}
		if err != nil || states != nil {
			return states, place{from.i, off, b.prev}, err
		}
	}
	return nil, from, nil
}

// openingStates reads the records with which a segment begins; nil when they are not
// whole.
func (r *Recovery) openingStates(s *scanner) []state {
	var states []state
	for {
		rec, err := s.next()
		switch {
		case err != nil && err != io.EOF:
			return nil
		case err == io.EOF || rec.Kind != kindOpening:
			if len(states) < len(r.shards) {
				return nil
			}
			return states
		}
		h, err := decodeHistory(rec.Payload)
		if err != nil || rec.Shard != len(states) {
			return nil
		}
		states = append(states, state{rec.Seq, h})
	}
}

// statesBefore concludes where the streams stand at the start of a block: from the
// next record of each, or the state of the next segment when there is none before; from what is
// known from before the damage; and from the base, which knows who wrote what it
// holds. The sum in the block tells whether that is right; nil: it is not.
func (r *Recovery) statesBefore(s *scanner, b block, rest []*segment) ([]state, error) {
	states := make([]state, max(len(r.shards), len(r.base)))
	next := nextOf(s, len(states))
	var later []state
	if len(next) < len(states) && len(rest) > 0 && rest[0].fault == nil {
		var err error
		if later, err = r.openingsOf(rest[0]); err != nil {
			return nil, err
		}
	}
	var sum stateSum
	for shard := range states {
		st := &states[shard]
		if shard < len(r.shards) {
			*st = r.shards[shard].state
		}
		rec, ok := next[shard]
		known := shard < len(r.shards) && r.shards[shard].known
		switch {
		case !ok && shard < len(later):
			*st = later[shard]
		case ok && rec.Seq > 0 && (!known || rec.Seq != st.last+1):
			st.last = rec.Seq - 1
			var theirs History
			if shard < len(r.base) {
				theirs = r.base[shard].History.until(rec.Seq, rec.Kind == kindFork)
			}
			if theirs.newest() != st.history.newest() {
				st.history = theirs
			}
		}
		sum = sum.add(*st)
	}
	if sum.fold() != b.sum {
		return nil, nil
	}
	return states, nil
}

// openingsOf gives what a segment begins with, as openingStates.
func (r *Recovery) openingsOf(seg *segment) ([]state, error) {
	s, err := scan(r.fs, seg, seg.size)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return r.openingStates(s), nil
}

// nextOf reads on until it has come to a record of each shard, or to none any more.
func nextOf(s *scanner, shards int) map[int]Record {
	next := map[int]Record{}
	for len(next) < shards {
		rec, err := s.next()
		if err != nil {
			break
		}
		if _, ok := next[rec.Shard]; !ok {
			next[rec.Shard] = Record{Shard: rec.Shard, Seq: rec.Seq, Kind: rec.Kind}
		}
	}
	return next
}

// holds says whether the base has all that is between what was read and a place where the
// streams stand so.
func (r *Recovery) holds(states []state) bool {
	for shard, st := range states {
		if r.moved(shard, st) && (shard >= len(r.base) || !r.base[shard].has(st)) {
			return false
		}
	}
	return true
}

// has says whether a stream came by where it stands so, as far as is known.
func (p Point) has(st state) bool {
	theirs, known := st.history.Writer(st.last)
	ours, ok := p.History.Writer(st.last)
	return st.last <= p.Last && (!known || !ok || theirs.ID == ours.ID)
}

// moved says that a stream stands elsewhere than where reading has ended.
func (r *Recovery) moved(shard int, st state) bool {
	if shard >= len(r.shards) {
		return st.last > 0 || len(st.history) > 0
	}
	sh := r.shards[shard]
	return !sh.known || st.last != sh.last || !slices.Equal(st.history, sh.history)
}

// goOn makes reading go on at a place where the streams stand so. What was read of those
// that stand elsewhere is of no use any more, as after a base.
func (r *Recovery) goOn(segs []*segment, from, to place, states []state) {
	for len(r.shards) < len(states) {
		r.shards = append(r.shards, recovered{eras: eras{noBound}})
	}
	for shard, st := range states {
		if sh := &r.shards[shard]; r.moved(shard, st) {
			*sh = recovered{state: st, eras: sh.eras.cut(0), begin: st.last, known: true}
		}
	}
	now := make([]opening, len(r.shards))
	for shard, sh := range r.shards {
		now[shard] = sh.opening()
	}
	for i := from.i; i <= to.i; i++ {
		seg := segs[i]
		seg.damaged = i < to.i || to.off > pageSize
		listed := len(r.segments) > 0 && r.segments[len(r.segments)-1] == seg
		if !listed && seg.name != "" && (i < to.i || to.off > pageSize) {
			seg.opening = now
			r.segments = append(r.segments, seg)
		}
	}
	if to.off > pageSize {
		seg := segs[to.i]
		h := hole{at: seg.end, off: to.off, prev: to.prev}
		for _, o := range now {
			h.eras = append(h.eras, o.era)
		}
		seg.holes = append(seg.holes, h)
	}
}
