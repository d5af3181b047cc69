package node

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/bowline-kv/bowline/internal/rdb"
	"github.com/bowline-kv/bowline/internal/shard"
	"github.com/bowline-kv/bowline/internal/wal"
)

// base is a snapshot file from which a log goes on.
type base struct {
	path  string
	bytes int64
	// cut is, by shard, the newest record that the file contains, and histories who
	// wrote the log up to it. nil: the file does not tell, as it was written by another
	// server, or without a log.
	cut       []shard.Sequence
	histories []wal.History
}

// ofOthers says that the file was written by another server, or without a log.
func (b *base) ofOthers() bool { return b.path != "" && b.cut == nil }

// The AUX fields that only Bowline reads.
const (
	auxCut     = "bowline-cut"
	auxHistory = "bowline-history"
)

// errForeignSnapshot is a snapshot file that has not come from the log beside it.
var errForeignSnapshot = errors.New("the snapshot is not of this log")

// header reads what a snapshot file tells of itself; nil: there is no such file.
func (f *snapshots) header(path string) (*base, error) {
	file, err := f.fs.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("open a snapshot file: %w", err)
	}
	defer file.Close()
	b := &base{path: path}
	if b.bytes, err = file.Size(); err != nil {
		return nil, fmt.Errorf("read the size of %s: %w", path, err)
	}
	var parse error
	aux := func(name, value []byte) error {
		switch string(name) {
		case auxCut:
			b.cut, parse = parseCut(string(value))
		case auxHistory:
			b.histories, parse = parseHistories(string(value))
		}
		return parse
	}
	err = rdb.Read(io.NewSectionReader(file, 0, b.bytes), beforeKeys{}, rdb.Options{NoChecksum: true, Aux: aux})
	if err != nil && !errors.Is(err, errKeysBegin) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if b.histories == nil || len(b.histories) != len(b.cut) {
		b.cut, b.histories = nil, nil
	}
	return b, nil
}

var errKeysBegin = errors.New("the keys begin")

// beforeKeys ends reading at the first key.
type beforeKeys struct{}

func (beforeKeys) Key(*rdb.Key) error           { return errKeysBegin }
func (beforeKeys) Begin(rdb.Kind, uint64) error { return errKeysBegin }
func (beforeKeys) Element(*rdb.Element) error   { return errKeysBegin }
func (beforeKeys) End() error                   { return errKeysBegin }

// fits says whether a log goes on from the file: whether the records that the file
// contains are those of the log, as far as that reaches. An error wraps
// [errForeignSnapshot].
func (b *base) fits(r *wal.Recovery) error {
	if begun(r) && b.cut == nil {
		return fmt.Errorf("%w: it was written by another server, or without a log", errForeignSnapshot)
	}
	if b.cut != nil && begun(r) && len(b.cut) != r.Shards() {
		return fmt.Errorf("%w: it is of %d shards, the log of %d", errForeignSnapshot, len(b.cut), r.Shards())
	}
	for i, cut := range b.cut {
		ours, theirs := b.histories[i], r.History(i)
		both := min(cut, r.Last(i))
		if both == 0 || len(theirs) > 0 && both < theirs[0].First { // older than what is known of the log
			continue
		}
		if w, ok := ours.Writer(both); !ok || !theirs.Contains(both, w.ID) {
			return fmt.Errorf("%w: record %d of shard %d had another writer", errForeignSnapshot, both, i)
		}
	}
	return nil
}

// errShortLog is a log without an end that it had.
var errShortLog = errors.New("the end of the log is missing")

// reached checks that a log that has records has those that the file contains: before it
// took its place, they were safe in the log. An error wraps [errShortLog].
func (b *base) reached(r *wal.Recovery) error {
	if !begun(r) {
		return nil
	}
	for i, cut := range b.cut {
		if last := r.Last(i); last < cut {
			return fmt.Errorf("%w: shard %d ends with record %d, and the snapshot has %d, which was in the log before", errShortLog, i, last, cut)
		}
	}
	return nil
}

// goOn starts a writer behind the end of the log of a shard, or behind the file where that
// has more.
func (b *base) goOn(s *wal.Stream, i int) error {
	if i < len(b.cut) && b.cut[i] > s.Last() {
		if err := s.Reset(b.cut[i], b.histories[i]); err != nil {
			return err
		}
	}
	return startWriter(s)
}

// begun says whether a log has any records.
func begun(r *wal.Recovery) bool {
	for i := range r.Shards() {
		if r.Last(i) > 0 {
			return true
		}
	}
	return false
}

// points is what the file has of the log.
func (b *base) points() []wal.Point {
	var points []wal.Point
	for i, cut := range b.cut {
		points = append(points, wal.Point{Last: cut, History: b.histories[i]})
	}
	return points
}

// after gives where the records begin that the file lacks.
func (b *base) after() map[int]wal.Sequence {
	from := map[int]wal.Sequence{}
	for i, cut := range b.cut {
		from[i] = cut
	}
	return from
}

// previousPath is where the snapshot is kept from which the oldest record of the
// log goes on.
func (f *snapshots) previousPath() string { return f.path() + previousSuffix }

const previousSuffix = ".previous"

// cutText is the sequences of the shards, by number.
func cutText(cut []shard.Sequence) string {
	text := make([]string, len(cut))
	for i, seq := range cut {
		text[i] = strconv.FormatUint(uint64(seq), 10)
	}
	return strings.Join(text, " ")
}

func parseCut(text string) ([]shard.Sequence, error) {
	var cut []shard.Sequence
	for _, field := range strings.Fields(text) {
		seq, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", rdb.ErrCorrupt, auxCut, err)
		}
		cut = append(cut, shard.Sequence(seq))
	}
	return cut, nil
}

// historiesText is the writers of each shard, as epoch:id:first with commas between
// them, and spaces between shards.
func historiesText(histories []wal.History) string {
	var b []byte
	for i, h := range histories {
		if i > 0 {
			b = append(b, ' ')
		}
		for n, f := range h {
			if n > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, "%d:%016x:%d", f.Epoch, f.ID, f.First)
		}
	}
	return string(b)
}

func parseHistories(text string) ([]wal.History, error) {
	var all []wal.History
	for _, field := range strings.Fields(text) {
		var h wal.History
		for _, fork := range strings.Split(field, ",") {
			f, err := parseFork(fork)
			if err != nil || len(h) > 0 && f.First <= h[len(h)-1].First {
				return nil, fmt.Errorf("%w: %s: %.60q", rdb.ErrCorrupt, auxHistory, fork)
			}
			h = append(h, f)
		}
		all = append(all, h)
	}
	return all, nil
}

func parseFork(text string) (f wal.Fork, err error) {
	epoch, rest, _ := strings.Cut(text, ":")
	id, first, _ := strings.Cut(rest, ":")
	seq, err := strconv.ParseUint(first, 10, 64)
	f.First = wal.Sequence(seq)
	if err == nil {
		f.Epoch, err = strconv.ParseUint(epoch, 10, 64)
	}
	if err == nil {
		f.ID, err = strconv.ParseUint(id, 16, 64)
	}
	return f, err
}
