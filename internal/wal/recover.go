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

	fs       vfs.FS
	dir      string
	segments []*segment // in order, the last one with content
	unused   []string   // paths of segments behind them
	behind   int64      // the size of those, in bytes
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

// RecoverOptions says how to read a log; the zero value is right for a start.
type RecoverOptions struct {
	// AcceptLoss: damage ends the log there, and [Recovery.Start] throws away what
	// follows; otherwise damage is an error.
	AcceptLoss bool
}

// Recover reads and checks the log in a directory; one that does not exist holds an
// empty log. It changes nothing. Damage gives a [CorruptError].
func Recover(fsys vfs.FS, dir string, o RecoverOptions) (*Recovery, error) {
	r := &Recovery{fs: fsys, dir: dir}
	found, err := list(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.spares = found.spares
	err = r.read(found.generations)
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
		r.unused, r.behind = append(r.unused, name), r.behind+size
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
func (r *Recovery) read(generations []uint64) error {
	defer func() {
		for n := len(r.segments); n > 0 && r.segments[n-1].end == 0; n-- {
			r.segments = r.segments[:n-1]
		}
	}()
	var segs []*segment
	var broken error
	for i, g := range generations {
		seg, err := r.open(g)
		if i > 0 && g != generations[i-1]+1 {
			missing := segmentName(r.dir, generations[i-1]+1)
			err = &CorruptError{missing, 0, "the segment is missing"}
		}
		if err != nil {
			broken = err
			break
		}
		segs = append(segs, seg)
	}
	var end position
	var begun bool
	for i, seg := range segs {
		var limit int64
		var err error
		limit, begun, err = r.endOf(segs, i)
		if err == nil {
			end, err = r.readSegment(seg, limit, i == 0)
		}
		if err != nil {
			return err
		}
		if !begun || end.offset() != limit {
			break
		}
	}
	if broken != nil {
		return broken
	}
	return r.checkRest(segs, end, begun)
}

func (r *Recovery) open(generation uint64) (*segment, error) {
	name := segmentName(r.dir, generation)
	f, err := r.fs.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open a segment of the log: %w", err)
	}
	defer f.Close()
	return readHeader(f, name, generation)
}

// endOf gives the offset at which the i-th segment ends: as the next one says, or
// the end of the file when there is none that was begun.
func (r *Recovery) endOf(segs []*segment, i int) (limit int64, begun bool, err error) {
	seg := segs[i]
	if i+1 == len(segs) {
		return seg.size, false, nil
	}
	s, err := scan(r.fs, segs[i+1], segs[i+1].size)
	if err != nil {
		return 0, false, err
	}
	defer s.close()
	b, ok, err := s.block(pageSize)
	synced := b.synced
	switch {
	case err != nil:
		return 0, false, err
	case !ok:
		return seg.size, false, nil
	case synced.generation() != seg.generation:
		return 0, false, &CorruptError{segs[i+1].name, pageSize, fmt.Sprintf("the segment goes on from %s", synced)}
	case synced.offset() > seg.size:
		return 0, false, &CorruptError{seg.name, seg.size, fmt.Sprintf("the file ends here, its content at %d", synced.offset())}
	}
	return synced.offset(), true, nil
}

// readSegment takes in the records of a segment and tells where they end.
func (r *Recovery) readSegment(seg *segment, limit int64, first bool) (position, error) {
	s, err := scan(r.fs, seg, limit)
	if err != nil {
		return 0, err
	}
	defer s.close()
	r.segments = append(r.segments, seg)
	for _, sh := range r.shards {
		seg.opening = append(seg.opening, opening{sh.last, len(sh.eras) - 1})
	}
	for {
		offset := s.off
		rec, err := s.next()
		switch {
		case err == io.EOF || errors.Is(err, errInvalid):
			return at(seg.generation, s.off), nil
		case err != nil:
			return 0, err
		}
		if err := r.take(rec, seg, first); err != nil {
			return 0, &CorruptError{seg.name, offset, err.Error()}
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
		seg.opening = append(seg.opening, opening{sh.last, len(sh.eras) - 1})
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
func (r *Recovery) checkRest(segs []*segment, end position, begun bool) error {
	for _, seg := range segs {
		from := int64(pageSize)
		switch {
		case seg.generation < end.generation():
			continue
		case seg.generation == end.generation():
			from = end.offset()
		}
		used, claim, err := r.leftover(seg, from)
		if err != nil {
			return err
		}
		if claim > end {
			broken := end
			if !begun && claim.generation() > end.generation() {
				// This segment may be whole, but the first block of the next is not.
				broken = at(end.generation()+1, pageSize)
			}
			what := fmt.Sprintf("no whole record, though a later block says that all before %s is safe", claim)
			return &CorruptError{segmentName(r.dir, broken.generation()), broken.offset(), what}
		}
		r.TornBytes += used - from
	}
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
