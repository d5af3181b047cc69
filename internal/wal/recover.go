package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/bowline-kv/bowline/internal/vfs"
)

// Recovery is what a directory holds, read and checked. It belongs to one
// goroutine.
type Recovery struct {
	// TornBytes is how much of the end was cut off because it was not written whole,
	// counted to the end of the last page in which something of it was found. It was
	// never synced.
	TornBytes int64
	// Damage is where the log was cut in spite of what follows; nil without
	// RecoverOptions.AcceptLoss, or when nothing is damaged.
	Damage *CorruptError
	// Passed is the damage that was passed over, as RecoverOptions.Base has what lay there.
	Passed []*CorruptError

	fs       vfs.FS
	dir      string
	segments []*segment // in order, the last one with content
	base     []Point
	unused   []uint64 // generations of the segments behind them
	behind   int64    // the size of those, in bytes
	marked   uint64   // what the mark tells; 0: there is none
	marks    []string // paths of that and, after files were copied, others
	spares   []string
	shards   []recovered
}

// recovered is a shard's state at the end of the log.
type recovered struct {
	state
	eras eras
	// begin is the sequence after which the log can give what lives now.
	begin Sequence
	// known: a record of the shard was read.
	known bool
}

// opening is where the shard stands.
func (sh *recovered) opening() opening { return opening{sh.last, len(sh.eras) - 1} }

// RecoverOptions says how to read a log; the zero value is right for a start.
type RecoverOptions struct {
	// AcceptLoss: damage ends the log there, and [Recovery.Start] throws away what
	// follows; otherwise damage is an error.
	AcceptLoss bool
	// Base is what a snapshot of the log holds, by shard. Damage is passed over, and no
	// error, when nothing is lost by that: when reading can go on behind it, and what lies
	// between is in the snapshot. That it is a snapshot of this log the caller finds out
	// by [Recovery.History].
	Base []Point
}

// Point is a place in the stream of a shard: its last record, and who wrote the
// stream up to there.
type Point struct {
	Last    Sequence
	History History
}

// Recover reads and checks the log in a directory; one that does not exist holds an
// empty log. It changes nothing. Damage gives a [CorruptError].
func Recover(fsys vfs.FS, dir string, o RecoverOptions) (*Recovery, error) {
	r := &Recovery{fs: fsys, dir: dir, base: o.Base}
	found, err := list(fsys, dir)
	if err == nil && found.newest > found.last() { // it may have been made meanwhile
		found, err = list(fsys, dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.spares, r.marked, r.marks = found.spares, found.newest, found.marks
	err = r.read(found)
	if damage := (*CorruptError)(nil); errors.As(err, &damage) && o.AcceptLoss {
		r.Damage, err = damage, nil
	}
	if err != nil {
		return nil, err
	}
	for _, g := range found.generations[len(r.segments):] {
		name := segmentName(dir, g)
		size, err := sizeOf(fsys, name)
		if err != nil {
			return nil, err
		}
		r.unused, r.behind = append(r.unused, g), r.behind+size
	}
	return r, nil
}

func sizeOf(fsys vfs.FS, name string) (int64, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return 0, fmt.Errorf("open a segment of the log: %w", err)
	}
	defer f.Close()
	return f.Size()
}

// read goes through the segments until the end of the log.
func (r *Recovery) read(found listing) error {
	defer func() {
		for n := len(r.segments); n > 0 && r.segments[n-1].end == 0; n-- {
			r.segments = r.segments[:n-1]
		}
	}()
	segs, err := r.openAll(found)
	if err != nil {
		return err
	}
	next := place{off: pageSize, prev: pageSize}
	for more := len(segs) > 0; more; {
		at := next
		next, more, err = r.readSegment(segs, at)
		if damage := (*CorruptError)(nil); errors.As(err, &damage) {
			next, err = r.pass(segs, at, next, damage)
			more = true
		}
		if err != nil {
			return err
		}
	}
	if len(segs) > 0 && segs[0].generation > 1 && len(r.shards) == 0 {
		// A log never begins with a segment that was only made ahead.
		return &CorruptError{segmentName(r.dir, segs[0].generation-1), 0, "the segment is missing"}
	}
	return nil
}

// openAll reads the headers of all segments. What is damaged or missing is in the list as
// a segment with a fault.
func (r *Recovery) openAll(found listing) ([]*segment, error) {
	var segs []*segment
	missing := func(generation uint64) {
		name := segmentName(r.dir, generation)
		segs = append(segs, &segment{generation: generation, fault: &CorruptError{name, 0, "the segment is missing"}})
	}
	last := uint64(0)
	for i, g := range found.generations {
		if i > 0 && g != last+1 {
			missing(last + 1)
		}
		seg, err := r.open(g)
		if err != nil {
			return nil, err
		}
		segs, last = append(segs, seg), g
	}
	switch {
	case last == 0 && found.newest > 0:
		missing(found.newest)
	case found.newest > last:
		missing(last + 1)
	}
	return segs, nil
}

// open reads the header of a segment.
func (r *Recovery) open(generation uint64) (*segment, error) {
	name := segmentName(r.dir, generation)
	f, err := r.fs.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open a segment of the log: %w", err)
	}
	defer f.Close()
	seg, err := readHeader(f, name, generation)
	if damage := (*CorruptError)(nil); errors.As(err, &damage) {
		size, err := f.Size()
		return &segment{name: name, generation: generation, size: size, damaged: true, fault: damage}, err
	}
	return seg, err
}

// place is where reading goes on: in the i-th segment, behind a record that ended
// at prev.
type place struct {
	i         int
	off, prev int64
}

// readSegment takes in the records of a segment from a place on. It gives the place where
// the next segment begins, or on damage that where reading ended; more is false at the end
// of the log.
func (r *Recovery) readSegment(segs []*segment, at place) (end place, more bool, err error) {
	seg := segs[at.i]
	if seg.fault != nil {
		return at, false, seg.fault
	}
	limit, begun, broken, err := r.endOf(segs, at.i)
	if err != nil {
		return at, false, err
	}
	if at.off == pageSize {
		r.segments = append(r.segments, seg)
		for _, sh := range r.shards {
			seg.opening = append(seg.opening, sh.opening())
		}
	}
	end, err = r.readRecords(seg, at, limit)
	switch {
	case err != nil:
		return end, false, err
	case broken != nil:
		return end, false, broken
	case begun && end.off == limit:
		return place{i: at.i + 1, off: pageSize, prev: pageSize}, true, nil
	}
	return end, false, r.checkRest(segs, end, begun)
}

// endOf gives the offset at which the i-th segment ends: as the next one says, or
// the end of the file when there is none that was begun. broken is damage that is seen
// by that.
func (r *Recovery) endOf(segs []*segment, i int) (limit int64, begun bool, broken *CorruptError, err error) {
	seg := segs[i]
	if i+1 == len(segs) {
		return seg.size, false, nil, nil
	}
	next := segs[i+1]
	if next.fault != nil {
		return seg.size, false, nil, nil
	}
	s, err := scan(r.fs, next, next.size)
	if err != nil {
		return 0, false, nil, err
	}
	defer s.close()
	b, ok, err := s.block(pageSize)
	synced := b.synced
	switch {
	case errors.As(err, &broken) || !ok:
		return seg.size, false, broken, nil
	case synced.generation() != seg.generation:
		return seg.size, true, &CorruptError{next.name, pageSize, fmt.Sprintf("the segment goes on from %s", synced)}, nil
	case synced.offset() > seg.size:
		return seg.size, true, &CorruptError{seg.name, seg.size, fmt.Sprintf("the file ends here, its content at %d", synced.offset())}, nil
	}
	return synced.offset(), true, nil, nil
}

// readRecords takes in the records of a segment from a place on, and tells where they
// end.
func (r *Recovery) readRecords(seg *segment, at place, limit int64) (end place, err error) {
	s, err := scan(r.fs, seg, limit)
	if err != nil {
		return at, err
	}
	defer s.close()
	s.jump(at.off, at.prev)
	for {
		offset := s.off
		rec, err := s.next()
		end = place{at.i, s.off, s.end}
		switch {
		case err == io.EOF || errors.Is(err, errInvalid):
			return end, nil
		case err != nil:
			return end, err
		}
		if err := r.take(rec, seg, at.i == 0); err != nil {
			return end, &CorruptError{seg.name, offset, err.Error()}
		}
		seg.end = s.off
	}
}

// take goes on by one record.
func (r *Recovery) take(rec Record, seg *segment, first bool) error {
	for len(r.shards) <= rec.Shard {
		r.shards = append(r.shards, recovered{eras: eras{noBound}})
	}
	sh := &r.shards[rec.Shard]
	if first && !sh.known && rec.Kind == kindOpening {
		h, err := decodeHistory(rec.Payload)
		if err != nil {
			return err
		}
		// What is before the oldest segment is known from its opening alone.
		sh.state, sh.begin = state{rec.Seq, h}, rec.Seq
	}
	sh.known = true
	for len(seg.opening) <= rec.Shard {
		seg.opening = append(seg.opening, sh.opening())
	}
	if err := sh.apply(rec); err != nil {
		return err
	}
	switch rec.Kind {
	case kindFork:
		sh.begin = min(sh.begin, sh.last)
	case kindBase:
		sh.begin = sh.last
	}
	if start, ok := eraStart(rec); ok {
		sh.eras = sh.eras.cut(start)
	}
	return nil
}

// checkRest looks behind the end of the log for blocks that call safe what is not
// there, and counts what is torn. begun says that the segment behind the end was
// begun.
func (r *Recovery) checkRest(segs []*segment, end place, begun bool) error {
	torn, here := int64(0), at(segs[end.i].generation, end.off)
	for i, seg := range segs[end.i:] {
		if seg.fault != nil {
			return seg.fault
		}
		from := int64(pageSize)
		if i == 0 {
			from = end.off
		}
		used, claim, err := r.leftover(seg, from)
		if err != nil {
			return err
		}
		if claim > here {
			broken := here
			if !begun && claim.generation() > here.generation() {
				// This segment may be whole, but the first block of the next is not.
				broken = at(here.generation()+1, pageSize)
			}
			what := fmt.Sprintf("no whole record, though a later block says that all before %s is safe", claim)
			return &CorruptError{segmentName(r.dir, broken.generation()), broken.offset(), what}
		}
		torn += used - from
	}
	r.TornBytes += torn
	return nil
}

// leftover gives the end of what is found in a segment behind an offset, and what
// its blocks call safe.
func (r *Recovery) leftover(seg *segment, from int64) (used int64, claim position, err error) {
	s, err := scan(r.fs, seg, seg.size)
	if err != nil {
		return 0, 0, err
	}
	defer s.close()
	used = from
	rest, err := s.window(from, int(min(pageUp(from), seg.size)-from))
	if err != nil {
		return 0, 0, err
	}
	for i, c := range rest {
		if c != 0 {
			used = from + int64(i) + 1
		}
	}
	for off := pageUp(from); off+pageSize <= seg.size; off += pageSize {
		b, ok, err := s.block(off)
		if err != nil {
			return 0, 0, err
		}
		if ok {
			claim = max(claim, b.synced)
		} else if off == pageUp(from) {
			// A record whose block has no header is something all the same.
			s.off = off + blockHeader
			_, err := s.next()
			ok = err == nil
		}
		if ok {
			used = off + pageSize
		}
	}
	return used, claim, nil
}

// Behind is the size in bytes of what lies behind the end of the log: the rest of
// its last segment, and segments without a part in it.
func (r *Recovery) Behind() int64 {
	n := r.behind
	if last := len(r.segments); last > 0 {
		n += r.segments[last-1].size - r.segments[last-1].end
	}
	return n
}

// Shards is how many streams the log has records of: those below this number.
func (r *Recovery) Shards() int { return len(r.shards) }

// Last is the number of the newest record of a shard; 0 when there is none.
func (r *Recovery) Last(shard int) Sequence {
	if shard >= len(r.shards) {
		return 0
	}
	return r.shards[shard].last
}

// Begin is the number of the newest record of a shard that the log does not reach
// back to; 0: it begins with the first one.
func (r *Recovery) Begin(shard int) Sequence {
	if shard >= len(r.shards) {
		return 0
	}
	return r.shards[shard].begin
}

// History is the chain of forks of a shard. The caller must not change it.
func (r *Recovery) History(shard int) History {
	if shard >= len(r.shards) {
		return nil
	}
	return r.shards[shard].history
}

// Bytes is the size of the segments with content.
func (r *Recovery) Bytes() int64 {
	var n int64
	for _, seg := range r.segments {
		n += seg.size
	}
	return n
}
