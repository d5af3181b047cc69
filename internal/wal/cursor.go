package wal

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Cursor reads the records of one shard from the files of a log that is written. It
// belongs to one goroutine.
type Cursor struct {
	log   *Log
	shard int
	// want is the number of the next record to give, gave that of the last one given;
	// 0: none.
	want, gave Sequence
	scan       *scanner // nil: in no segment
	era        int      // of the records that the scanner comes to
}

// Cursor makes a reader of a shard's records from a number on. [ErrTrimmed] says that
// the log begins later, which Next may find out as well. It must be closed.
func (l *Log) Cursor(shard int, from Sequence) (*Cursor, error) {
	if shard < 0 || shard >= len(l.streams) || from == 0 {
		return nil, fmt.Errorf("read the log of shard %d from %d", shard, from)
	}
	c := &Cursor{log: l, shard: shard, want: from}
	seg, err := l.segmentOf(shard, from)
	if err != nil {
		return nil, err
	}
	if err := c.enter(seg); err != nil {
		return nil, err
	}
	return c, nil
}

// segmentOf finds the newest segment that begins before a record, for a cursor, which
// is counted in it; nil when there is none yet.
func (l *Log) segmentOf(shard int, seq Sequence) (*segment, error) {
	l.segMu.Lock()
	defer l.segMu.Unlock()
	for i := len(l.segments) - 1; i >= 0; i-- {
		seg := l.segments[i]
		if shard >= len(seg.opening) || seg.opening[shard].last < seq {
			seg.readers++
			return seg, nil
		}
	}
	if len(l.segments) == 0 {
		return nil, nil
	}
	return nil, ErrTrimmed
}

// enter goes to a segment in which the cursor is counted.
func (c *Cursor) enter(seg *segment) error {
	if seg == nil {
		return nil
	}
	if seg.damaged {
		c.log.leave(seg)
		return ErrTrimmed
	}
	s, err := scan(c.log.fs, seg, pageSize)
	if err != nil {
		c.log.leave(seg)
		return err
	}
	c.scan, c.era = s, 0
	if c.shard < len(seg.opening) {
		c.era = seg.opening[c.shard].era
	}
	return nil
}

func (l *Log) leave(seg *segment) {
	l.segMu.Lock()
	seg.readers--
	l.segMu.Unlock()
}

// Next gives the next record; its payload is valid until the next call. [io.EOF] says
// that no more are written yet; later there may be. Records are given when they are
// in the file, which may be before they are durable. [ErrTruncated] says that given ones
// were taken back: the reader has to begin anew.
func (c *Cursor) Next() (Record, error) {
	for {
		if err := c.advance(); err != nil {
			return Record{}, err
		}
		rec, err := c.scan.next()
		switch {
		case err == io.EOF:
			continue
		case errors.Is(err, errInvalid):
			return Record{}, &CorruptError{c.scan.seg.name, c.scan.off, "a record that was written is not whole"}
		case err != nil:
			return Record{}, err
		case rec.Shard != c.shard:
			continue
		}
		if first, ok := eraStart(rec); ok {
			if err := c.cross(rec, first); err != nil {
				return Record{}, err
			}
			continue
		}
		if !rec.Kind.numbered() || rec.Seq < c.want || !c.log.live(c.shard, c.era, rec.Seq) {
			continue
		}
		if rec.Seq > c.want {
			return Record{}, ErrTrimmed
		}
		c.want, c.gave = c.want+1, rec.Seq
		return rec, nil
	}
}

// cross goes on into the era that a record begins.
func (c *Cursor) cross(rec Record, first Sequence) error {
	c.era++
	switch {
	case c.gave > 0 && first <= c.gave:
		return ErrTruncated
	case rec.Kind == kindBase && rec.Seq >= c.want:
		return ErrTrimmed
	}
	return nil
}

// live says that a record was not taken back, as far as the log is written.
func (l *Log) live(shard, era int, seq Sequence) bool {
	l.segMu.Lock()
	defer l.segMu.Unlock()
	return l.eras[shard].live(era, seq)
}

// advance makes the scanner see what was written since it came to its limit, in this
// segment or the next.
func (c *Cursor) advance() error {
	for c.scan == nil || c.scan.off >= c.scan.limit {
		next, grown := c.look()
		switch {
		case grown:
			return nil
		case next == nil:
			return io.EOF
		}
		if c.scan != nil {
			c.Close()
		}
		if err := c.enter(next); err != nil {
			return err
		}
	}
	return nil
}

// look finds out whether there is more in the segment, else counts the cursor in the
// next one.
func (c *Cursor) look() (next *segment, grown bool) {
	l := c.log
	l.segMu.Lock()
	defer l.segMu.Unlock()
	i := -1
	if c.scan != nil {
		i = slices.Index(l.segments, c.scan.seg)
		if end := c.scan.seg.end; end > c.scan.limit {
			c.scan.limit = end
			return nil, true
		}
	}
	if i+1 == len(l.segments) {
		return nil, false
	}
	next = l.segments[i+1]
	next.readers++
	return next, false
}

// Close ends reading, after which Next must not be called; it may be called twice.
func (c *Cursor) Close() {
	if c.scan == nil {
		return
	}
	c.scan.close()
	c.log.leave(c.scan.seg)
	c.scan = nil
}
