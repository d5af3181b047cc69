package wal

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/vfs"
)

// past is a log that was written, and what a snapshot would have held at some moments.
type past struct {
	disk  *vfs.MemFS
	segs  []*segment
	bases [][]Point // the first holds nothing
	live  [][]string
	last  []Point
}

// writePast makes a log with writers that come, and when it is wild take back records of
// others, or begin from a copy.
func writePast(t testing.TB, dice *rand.Rand, shards int, wild bool) *past {
	t.Helper()
	p := &past{disk: vfs.Mem(), live: make([][]string, shards), bases: [][]Point{nil}}
	o := options(dice.Uint64(), shards)
	o.SegmentBytes = 64 << 10
	l := start(t, p.disk, o)
	points := func() (all []Point) {
		for shard := range shards {
			s := l.Stream(shard)
			all = append(all, Point{s.Last(), slices.Clone(s.History())})
		}
		return all
	}
	note := func(shard int, seq Sequence) {
		for len(p.live[shard]) < int(seq) { // a copy has them
			p.live[shard] = append(p.live[shard], "")
		}
		p.live[shard][seq-1] = fmt.Sprintf("%d/%d", shard, seq)
	}
	fork := func(shard int, back Sequence) {
		s := l.Stream(shard)
		first := s.Last() + 1 - min(back, s.Last())
		must(t, s.Fork(Fork{1, dice.Uint64(), first}))
		p.live[shard] = p.live[shard][:min(int(first)-1, len(p.live[shard]))]
	}
	for shard := range shards {
		fork(shard, 0)
	}
	floor := Sequence(0) // of shard 0, below which nobody goes back any more
	for len(l.segments) < 4 || l.writer.off < 6*pageSize || l.writer.off > 12*pageSize {
		shard := dice.IntN(shards)
		seq := l.Stream(shard).Append([]byte(strings.Repeat("x", 1+dice.IntN(1500))))
		note(shard, seq)
		if dice.IntN(3) == 0 {
			must(t, l.Commit())
		}
		if dice.IntN(12) == 0 {
			p.bases, floor = append(p.bases, points()), l.Stream(0).Last()
		}
		switch {
		case !wild || dice.IntN(15) > 0:
		case dice.IntN(4) == 0:
			// From a copy of another history, which the snapshots are not of.
			s := l.Stream(shard)
			must(t, s.Reset(s.Last()+Sequence(dice.IntN(3)), History{{1, dice.Uint64(), 1}}))
			fork(shard, 0)
			p.bases = [][]Point{points()}
		default:
			back := Sequence(dice.IntN(4))
			if last := l.Stream(shard).Last(); shard == 0 {
				back = min(back, last-min(floor, last))
			} else {
				back = 0
			}
			fork(shard, back)
		}
	}
	must(t, l.Commit())
	for range 3 { // so that a block calls safe what there was
		for shard := range shards {
			note(shard, l.Stream(shard).Append([]byte("end")))
		}
		must(t, l.Commit())
	}
	p.last = points()
	must(t, l.Close())
	p.segs = l.segments
	return p
}

// harms are the kinds of damage, to a segment at an offset.
var harms = map[string]func(t testing.TB, m *vfs.MemFS, seg *segment, off int64){
	"a bit": func(t testing.TB, m *vfs.MemFS, seg *segment, off int64) { flip(t, m, seg.name, 8*off) },
	"a page": func(t testing.TB, m *vfs.MemFS, seg *segment, off int64) {
		edit(t, m, seg.name, off-off%pageSize, func(b []byte) { clear(b) })
	},
	"three pages": func(t testing.TB, m *vfs.MemFS, seg *segment, off int64) {
		for page := off - off%pageSize; page < min(seg.size, off+2*pageSize); page += pageSize {
			edit(t, m, seg.name, page, func(b []byte) { b[0]++; b[len(b)-1]++; b[len(b)/2] ^= 255 })
		}
	},
	"the header": func(t testing.TB, m *vfs.MemFS, seg *segment, _ int64) { flip(t, m, seg.name, 100) },
	"the rest": func(t testing.TB, m *vfs.MemFS, seg *segment, off int64) {
		f, err := m.Open(seg.name)
		must(t, err)
		must(t, f.Truncate(off))
		must(t, f.Close())
	},
	"a bad sector": nil, // see [past.harm]
	"the file":     func(t testing.TB, m *vfs.MemFS, seg *segment, _ int64) { must(t, m.Remove(seg.name)) },
}

// behind gives what a snapshot lacks of the live records.
func (p *past) behind(base []Point) (all []string) {
	for shard, live := range p.live {
		from := 0
		if base != nil {
			from = int(base[shard].Last)
		}
		for _, rec := range live[from:] {
			if rec != "" {
				all = append(all, rec)
			}
		}
	}
	slices.Sort(all)
	return all
}

func afterBase(base []Point) map[int]Sequence {
	from := map[int]Sequence{}
	for shard, p := range base {
		from[shard] = p.Last
	}
	return from
}

// checkWhole checks that a recovery is as good as one without damage.
func (p *past) checkWhole(t *testing.T, r *Recovery, base []Point, added ...string) error {
	t.Helper()
	var got []string
	err := r.Replay(afterBase(base), func(rec Record) error {
		got = append(got, fmt.Sprintf("%d/%d", rec.Shard, rec.Seq))
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(got)
	want := append(p.behind(base), added...)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Fatalf("%q are read, want %q, torn %d, passed %v", got, want, r.TornBytes, r.Passed)
	}
	for shard, last := range p.last {
		h := r.History(shard)
		if len(added) == 0 && (r.Last(shard) != last.Last || !slices.Equal(h[max(0, len(h)-len(last.History)):], last.History) && !slices.Equal(h, last.History)) {
			t.Fatalf("shard %d ends with %d of %v, not %d of %v", shard, r.Last(shard), h, last.Last, last.History)
		}
	}
	return nil
}

// harmed is a place where a log was harmed.
type harmed struct {
	kind string
	i    int
	off  int64
}

// harm harms the disk at one place or two, so that something is lost, and gives what makes
// copies of it.
func (p *past) harm(t *testing.T, kind string, dice *rand.Rand) (func() vfs.FS, []harmed) {
	t.Helper()
	disk := p.disk.Crash(0)
	newest := len(p.segs) - 1
	var places []harmed
	for range 1 + dice.IntN(2) {
		i := dice.IntN(len(p.segs))
		if len(places) > 0 && places[0].i == i || i == newest && kind == "the rest" { // that is like one that was never written
			i = (i + 1) % newest
		}
		end := p.segs[i].end
		if i == newest {
			end = lastBlock(t, p.disk, p.segs[i])
		}
		off := pageSize + dice.Int64N(end-pageSize)
		if i == newest && kind == "three pages" {
			off = min(off, max(pageSize, end-3*pageSize))
		}
		if len(places) == 0 || places[0].i != i {
			if h := harms[kind]; h != nil {
				h(t, disk, p.segs[i], off)
			}
			places = append(places, harmed{kind, i, off})
		}
	}
	bad := func(op vfs.Op) (f vfs.Fault) {
		for _, h := range places {
			sector := h.off - h.off%512
			if op.Kind == vfs.OpRead && op.Name == p.segs[h.i].name && op.Offset < sector+512 && sector < op.Offset+int64(op.Size) {
				f.Err = vfs.ErrIO
			}
		}
		return f
	}
	return func() vfs.FS {
		if kind == "a bad sector" {
			return vfs.Faults(disk.Crash(0), bad)
		}
		return disk.Crash(0)
	}, places
}

// TestDamageIsPassedOverOnlyWhereNothingIsLost harms a log at some places, in each way,
// and reads it with each snapshot: either all is there that the snapshot lacks, or damage is
// told. With one that has all that lay there, it is passed over.
func TestDamageIsPassedOverOnlyWhereNothingIsLost(t *testing.T) {
	seeds := uint64(*crashSeeds)
	passed, covered, refused := map[string]int{}, map[string]int{}, map[string]int{}
	for seed := *crashSeed; seed < *crashSeed+seeds; seed++ {
		dice := rand.New(rand.NewPCG(seed, 3))
		wild := seed%2 == 0
		p := writePast(t, dice, 1+dice.IntN(3), wild)
		for _, kind := range slices.Sorted(maps.Keys(harms)) {
			for range 2 {
				disk, places := p.harm(t, kind, dice)
				for n, base := range p.bases {
					disk := disk()
					r, err := Recover(disk, dir, RecoverOptions{Base: base})
					if err == nil {
						err = p.checkWhole(t, r, base)
					}
					has := !wild && !slices.ContainsFunc(places, func(h harmed) bool { return !p.covers(t, h, base) })
					var missing *MissingError
					var corrupt *CorruptError
					switch {
					case err == nil:
						passed[kind]++
						p.goesOn(t, r, disk, base, dice)
					case has || !errors.As(err, &corrupt) && !errors.As(err, &missing):
						t.Fatalf("seed %d, %v, base %d: %v", seed, places, n, err)
					default:
						refused[kind]++
					}
					if has {
						covered[kind]++
					}
				}
			}
		}
	}
	for kind := range harms {
		if seeds >= 10 && min(passed[kind], covered[kind], refused[kind]) < 10 {
			t.Errorf("%s: passed over %d times, %d times for sure, told %d times", kind, passed[kind], covered[kind], refused[kind])
		}
	}
	t.Logf("passed over %v, for sure %v, told %v", passed, covered, refused)
}

// covers says that a snapshot has everything up to the first block, or the next segment,
// that damage at an offset leaves whole.
func (p *past) covers(t *testing.T, h harmed, base []Point) bool {
	t.Helper()
	reach := map[string]int64{"a bit": 1, "a page": 1, "a bad sector": 1, "three pages": 3 * pageSize}[h.kind]
	seg := p.segs[h.i]
	s, err := scan(p.disk, seg, seg.end)
	must(t, err)
	defer s.close()
	last := map[int]Sequence{}
	for {
		at := s.end
		rec, err := s.next()
		if err == io.EOF { // all of the segment
			break
		}
		must(t, err)
		if start := s.end - int64(recordHeader+len(rec.Payload)); reach > 0 && start%pageSize == blockHeader && at >= pageUp(h.off+reach) {
			break
		}
		last[rec.Shard] = rec.Seq
	}
	for shard, seq := range last {
		if base == nil || base[shard].Last < seq {
			return false
		}
	}
	return reach > 0 || h.i < len(p.segs)-1
}

// goesOn writes behind damage, and trims the log.
func (p *past) goesOn(t *testing.T, r *Recovery, disk vfs.FS, base []Point, dice *rand.Rand) {
	t.Helper()
	shards := len(p.live)
	l, err := r.Start(options(dice.Uint64(), shards))
	must(t, err)
	var added []string
	for shard := range shards {
		added = append(added, fmt.Sprintf("%d/%d", shard, l.Stream(shard).Append([]byte("new"))))
	}
	must(t, l.Commit())
	if base != nil && dice.IntN(2) == 0 {
		before := map[int]Sequence{}
		for shard, b := range base {
			before[shard] = b.Last + 1
		}
		must(t, l.TrimBefore(before, 0))
	}
	must(t, l.Close())
	again, err := Recover(disk, dir, RecoverOptions{Base: base})
	if err == nil {
		err = p.checkWhole(t, again, base, added...)
	}
	if err != nil {
		t.Fatalf("after going on behind damage: %v", err)
	}
}

// A segment whose first page can't be read does not tell where the one before ends.
func TestReadingEndsWhereAFirstPageCantBeRead(t *testing.T) {
	m := vfs.Mem()
	segs := written(t, m)
	for i, seg := range segs {
		bad := vfs.Faults(m, func(op vfs.Op) (f vfs.Fault) {
			if op.Kind == vfs.OpRead && op.Name == seg.name && op.Offset < 2*pageSize && op.Offset+int64(op.Size) > pageSize {
				f.Err = vfs.ErrIO
			}
			return f
		})
		_, err := Recover(bad, dir, RecoverOptions{})
		if c := corruption(t, err); c.File != seg.name || c.Offset != pageSize {
			t.Errorf("segment %d: %v", i, err)
		}
	}
}

// What a power loss left behind the end of a segment is passed over with damage before it: at
// such a block reading does not go on, as the next segment would seem to be of no use.
func TestReadingDoesNotGoOnInATornTail(t *testing.T) {
	m := vfs.Mem()
	o := options(1, 1)
	o.SegmentBytes = 64 << 10
	l := start(t, m, o)
	must(t, l.Stream(0).Fork(Fork{1, 2, 1}))
	for range 10 { // more than half of the segment, so that the rest stays
		add(t, l, 0, "a")
		must(t, l.Commit())
	}
	base := []Point{{l.Stream(0).Last(), l.Stream(0).History()}}
	seg := l.segments[0]
	damaged, torn := seg.end-1, pageUp(seg.end)
	add(t, l, 0, strings.Repeat("t", 2*pageSize))
	must(t, l.Close())
	edit(t, m, seg.name, torn+pageSize, func(b []byte) { clear(b) })

	l = start(t, m, options(2, 1))
	must(t, l.Stream(0).Fork(Fork{1, 3, l.Stream(0).Last() + 1}))
	add(t, l, 0, "new")
	must(t, l.Close())
	flip(t, m, seg.name, 8*damaged)
	r, err := Recover(m, dir, RecoverOptions{Base: base})
	must(t, err)
	if got := replayed(t, r, afterBase(base)); len(got) != 1 || got[0] != "0/11:new" || len(r.Passed) != 1 {
		t.Errorf("%.100q is read, past %v", got, r.Passed)
	}
}
