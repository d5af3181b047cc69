package wal

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/vfs"
)

var allFlips = flag.Bool("wal.flips", false, "flip every single bit, not a choice of them")

// written makes a log of several segments and closes it.
func written(t testing.TB, m *vfs.MemFS) (segments []*segment) {
	t.Helper()
	l := start(t, m, options(7, 1))
	must(t, l.Stream(0).Fork(Fork{1, 2, 1}))
	dice := rand.New(rand.NewPCG(7, 7))
	for len(l.segments) < 3 || l.writer.off < 4*pageSize {
		add(t, l, 0, strings.Repeat("r", dice.IntN(1500)))
		must(t, l.commit(dice.IntN(3) > 0))
	}
	must(t, l.Commit())
	must(t, l.Close())
	return l.segments
}

func edit(t testing.TB, m *vfs.MemFS, name string, off int64, change func(b []byte)) {
	t.Helper()
	f, err := m.Open(name)
	must(t, err)
	defer f.Close()
	size, err := f.Size()
	must(t, err)
	b := make([]byte, min(pageSize, size-off))
	_, err = f.ReadAt(b, off)
	must(t, err)
	change(b)
	_, err = f.WriteAt(b, off)
	must(t, err)
	must(t, f.Sync()) // a crash leaves it as it is
}

func flip(t testing.TB, m *vfs.MemFS, name string, bit int64) {
	t.Helper()
	edit(t, m, name, bit/8, func(b []byte) { b[0] ^= 1 << (bit % 8) })
}

func TestEveryFlippedBitInWhatIsSafeIsFound(t *testing.T) {
	m := vfs.Mem()
	segs := written(t, m)
	count := len(replayed(t, recovery(t, m), nil))
	dice := rand.New(rand.NewPCG(1, 1))
	for i, seg := range segs {
		end := seg.end
		if i == len(segs)-1 {
			end = lastBlock(t, m, seg)
		}
		step := func() int64 { return 1 }
		if !*allFlips {
			step = func() int64 { return 1 + dice.Int64N(600) }
		}
		for bit := int64(0); bit < end*8; bit += step() {
			flip(t, m, seg.name, bit)
			r, err := Recover(m, dir, RecoverOptions{})
			if err == nil && len(r.Passed) == 1 && len(replayed(t, r, nil)) == count { // no record is damaged
				err = r.Passed[0]
			}
			c := corruption(t, err)
			if c.File != seg.name || c.Offset > bit/8 {
				t.Fatalf("bit %d of %s: %v", bit, seg.name, err)
			}
			flip(t, m, seg.name, bit)
		}
	}
	// Behind the end of a segment nothing counts.
	for off := segs[0].end; off < segs[0].size; off += 100 {
		flip(t, m, segs[0].name, 8*off)
	}
	if n := len(replayed(t, recovery(t, m), nil)); n != count {
		t.Errorf("%d records of %d", n, count)
	}
}

// lastBlock gives the start of the last block of a segment.
func lastBlock(t testing.TB, m *vfs.MemFS, seg *segment) int64 {
	t.Helper()
	s, err := scan(m, seg, seg.size)
	must(t, err)
	defer s.close()
	last := int64(0)
	for off := int64(pageSize); off < seg.end; off += pageSize {
		if b, ok, err := s.block(off); err == nil && ok && b.synced == at(seg.generation, off) {
			last = off
		}
	}
	if last == 0 {
		t.Fatal("the segment has no block behind a sync")
	}
	return last
}

func TestTornTailIsCutAtTheLastWholeRecord(t *testing.T) {
	m := vfs.Mem()
	l := start(t, m, options(1, 1))
	add(t, l, 0, "a", "b")
	must(t, l.Commit())
	add(t, l, 0, "c", strings.Repeat("d", 100), strings.Repeat("e", 100))
	must(t, l.commit(false))
	add(t, l, 0, strings.Repeat("f", 100), strings.Repeat("g", 5000))
	must(t, l.commit(false))
	seg := l.segments[0]
	at := func(payload string) int64 { // of a record in the second block
		off := int64(2*pageSize + blockHeader)
		for _, p := range []string{"c", strings.Repeat("d", 100), strings.Repeat("e", 100), strings.Repeat("f", 100)} {
			if strings.HasPrefix(p, payload) {
				return off
			}
			off += int64(recordHeader + len(p))
		}
		return off
	}
	for _, c := range []struct {
		name  string
		off   int64
		left  int
		torn  int64
		after string
	}{
		{"a payload", at("e") + 50, 4, pageSize - blockHeader - 21 - 120, "x"},
		{"a header", at("d"), 3, 0, "x"},
		{"the block", 2 * pageSize, 2, 0, "x"},
		{"a record over the end of the page", at("g") + pageSize, 6, 0, "x"},
	} {
		disk := m.Crash(0) // any copy, made equal
		for _, n := range []string{seg.name} {
			from, err := m.Open(n)
			must(t, err)
			b := make([]byte, seg.size)
			_, err = from.ReadAt(b, 0)
			must(t, err)
			must(t, from.Close())
			to, err := disk.Create(n)
			must(t, err)
			_, err = to.WriteAt(b, 0)
			must(t, err)
			must(t, to.Close())
		}
		flip(t, disk, seg.name, c.off*8)
		r := recovery(t, disk)
		if got := replayed(t, r, nil); len(got) != c.left {
			t.Errorf("%s is damaged: %d records are left, want %d", c.name, len(got), c.left)
		}
		if r.TornBytes <= 0 || r.TornBytes > 3*pageSize || c.torn > 0 && r.TornBytes != c.torn {
			t.Errorf("%s is damaged: %d bytes were torn, want %d", c.name, r.TornBytes, c.torn)
		}
		// It goes on behind the cut, and the torn bytes never come back.
		l2, err := r.Start(options(2, 1))
		must(t, err)
		seq := l2.Stream(0).Append([]byte(c.after))
		if int(seq) != c.left+1 {
			t.Errorf("%s is damaged: it goes on with %d", c.name, seq)
		}
		must(t, l2.Close())
		r = recovery(t, disk)
		got := replayed(t, r, nil)
		if len(got) != c.left+1 || got[c.left] != fmt.Sprintf("0/%d:x", seq) || r.TornBytes != 0 {
			t.Errorf("%s was damaged: then there are %d records, torn %d", c.name, len(got), r.TornBytes)
		}
	}
}

func TestMissingSegmentIsFound(t *testing.T) {
	m := vfs.Mem()
	segs := written(t, m)
	if err := m.Remove(segs[1].name); err != nil {
		t.Fatal(err)
	}
	_, err := Recover(m, dir, RecoverOptions{})
	if c := corruption(t, err); c.File != segs[1].name || !strings.Contains(err.Error(), "missing") {
		t.Errorf("the error is %v", err)
	}
}

// rewrite changes the first record of this sequence and seals it again.
func rewrite(t testing.TB, m *vfs.MemFS, seg *segment, seq Sequence, change func(b []byte)) int64 {
	t.Helper()
	s, err := scan(m, seg, seg.end)
	must(t, err)
	defer s.close()
	for {
		rec, err := s.next()
		must(t, err)
		if rec.Seq == seq && rec.Kind == KindEffects {
			size := recordHeader + len(rec.Payload)
			edit(t, m, seg.name, s.off-int64(size), func(b []byte) {
				change(b[:size])
				seal(b[:size], seg.seed)
			})
			return s.off - int64(size)
		}
	}
}

func TestGapAndNonsenseInRecordsAreFound(t *testing.T) {
	for name, change := range map[string]func(b []byte){
		"gap":          func(b []byte) { binary.LittleEndian.PutUint64(b[8:], 3) },
		"again":        func(b []byte) { binary.LittleEndian.PutUint64(b[8:], 1) },
		"kind":         func(b []byte) { b[18] = 77 },
		"fork":         func(b []byte) { b[18] = byte(kindFork) },
		"opening":      func(b []byte) { b[18] = byte(kindOpening) },
		"other's":      func(b []byte) { b[16] = 1 },
		"base history": func(b []byte) { b[18] = byte(kindBase) },
	} {
		m := vfs.Mem()
		l := start(t, m, options(1, 2))
		add(t, l, 0, "first", "second", "third")
		must(t, l.Commit())
		off := rewrite(t, m, l.segments[0], 2, change)
		_, err := Recover(m, dir, RecoverOptions{})
		if c := corruption(t, err); c.File != l.segments[0].name || c.Offset != off {
			t.Errorf("%s: %v, want offset %d", name, err, off)
		}
	}
}

func TestAcceptedLossEndsTheLogAtTheDamage(t *testing.T) {
	m := vfs.Mem()
	segs := written(t, m)
	whole := replayed(t, recovery(t, m), nil)
	flip(t, m, segs[1].name, 8*(3*pageSize+50))
	r, err := Recover(m, dir, RecoverOptions{AcceptLoss: true})
	must(t, err)
	if r.Damage == nil || r.Damage.File != segs[1].name || r.Damage.Offset > 3*pageSize+50 {
		t.Errorf("the damage is %v", r.Damage)
	}
	left := replayed(t, r, nil)
	if len(left) == 0 || !slices.Equal(left, whole[:len(left)]) {
		t.Errorf("%d of %d records are left", len(left), len(whole))
	}
	l, err := r.Start(options(3, 1))
	must(t, err)
	add(t, l, 0, "new")
	must(t, l.Close())
	want := append(slices.Clone(left), fmt.Sprintf("0/%d:new", len(left)+1))
	expect(t, replayed(t, recovery(t, m), nil), want...)

	must(t, m.Remove(segs[0].name))
	if _, err := Recover(m, dir, RecoverOptions{}); err != nil {
		t.Errorf("a log that begins later: %v", err)
	}
	var missing *MissingError
	if err := recovery(t, m).Replay(nil, nil); !errors.As(err, &missing) {
		t.Errorf("a replay of all of it: %v", err)
	}
}

func TestFilesThatAreNotOfTheLogAreLeftAlone(t *testing.T) {
	m := vfs.Mem()
	written(t, m)
	for _, name := range []string{"1.wal", "000000000x.wal", "0000000000.wal", "notes", "9999999999.wal"} {
		f, err := m.Create(filepath.Join(dir, name))
		must(t, err)
		must(t, f.Close())
	}
	start(t, m, options(4, 1))
	for _, size := range []int64{10, pageSize, 2*pageSize - 1} {
		disk := vfs.Mem()
		segs := written(t, disk)
		f, err := disk.Open(segs[2].name)
		must(t, err)
		must(t, f.Truncate(size))
		must(t, f.Close())
		_, err = Recover(disk, dir, RecoverOptions{})
		if c := corruption(t, err); c.File != segs[2].name {
			t.Errorf("a file of %d bytes: %v", size, err)
		}
	}
}

// Old bytes of an earlier use stand behind the end of a segment that is used again:
// they are no records, and not torn.
func TestOldBytesBehindTheEndAreNothing(t *testing.T) {
	m := vfs.Mem()
	l := start(t, m, options(1, 1))
	for range 100 {
		add(t, l, 0, strings.Repeat("old", 500))
		must(t, l.Commit())
	}
	must(t, l.TrimBefore(map[int]Sequence{0: 101}, 0))
	names, err := m.List(dir)
	must(t, err)
	spare := names[len(names)-1]
	// The commit that takes the spare, and one more.
	for generation := l.newest; l.newest < generation+2; {
		add(t, l, 0, strings.Repeat("x", 3000))
		must(t, l.Commit())
	}
	if names, _ := m.List(dir); slices.Contains(names, spare) {
		t.Fatalf("the spare was not used: %q", names)
	}
	f, err := m.Open(l.writer.seg.name)
	must(t, err)
	defer f.Close()
	b := make([]byte, l.writer.seg.size)
	_, err = f.ReadAt(b, 0)
	must(t, err)
	if !strings.Contains(string(b[l.writer.off:]), "oldold") {
		t.Fatal("there are no old bytes")
	}
	r := recovery(t, m)
	if r.Last(0) != l.Stream(0).Last() || r.TornBytes != 0 {
		t.Errorf("last is %d of %d, torn %d", r.Last(0), l.Stream(0).Last(), r.TornBytes)
	}
}

// A power loss before any single operation of trimming and of making segments out
// of what was trimmed loses nothing.
func TestCrashDuringRecycling(t *testing.T) {
	m := vfs.Mem()
	type copied struct {
		disk    *vfs.MemFS
		op      vfs.Op
		durable Sequence
	}
	var copies []copied
	var l *Log
	watch := false
	fs := vfs.Faults(m, func(op vfs.Op) vfs.Fault {
		for seed := uint64(0); watch && seed < 2; seed++ {
			copies = append(copies, copied{m.Crash(seed), op, l.Stream(0).Durable()})
		}
		return vfs.Fault{}
	})
	l = start(t, fs, options(1, 1))
	snapshot := Sequence(0)
	for n := range 60 {
		add(t, l, 0, fmt.Sprint(n, strings.Repeat("-", 1500)))
		watch = n > 30
		must(t, l.Commit())
		if n%15 == 14 {
			snapshot = l.Stream(0).Durable()
			must(t, l.TrimBefore(map[int]Sequence{0: snapshot + 1}, 0))
		}
		watch = false
	}
	kinds := map[vfs.OpKind]bool{}
	for _, c := range copies {
		kinds[c.op.Kind] = true
		r, err := Recover(c.disk, dir, RecoverOptions{})
		if err != nil {
			t.Fatalf("before %+v: %v", c.op, err)
		}
		if r.Last(0) < c.durable {
			t.Fatalf("before %+v: last is %d, durable was %d", c.op, r.Last(0), c.durable)
		}
		l2, err := r.Start(options(9, 1))
		must(t, err)
		add(t, l2, 0, "after")
		must(t, l2.Close())
		if again := recovery(t, c.disk); again.Last(0) != r.Last(0)+1 {
			t.Fatalf("before %+v: then last is %d", c.op, again.Last(0))
		}
	}
	for _, kind := range []vfs.OpKind{vfs.OpRename, vfs.OpSyncDir, vfs.OpSync, vfs.OpWrite, vfs.OpRemove} {
		if !kinds[kind] {
			t.Errorf("no operation of kind %d was seen", kind)
		}
	}
}

// A page of which only the first sectors were written may look as if its block ended
// early, while the block behind it is whole.
func TestPageThatLooksLikeTheEndOfABlockIsTorn(t *testing.T) {
	m := vfs.Mem()
	l := start(t, m, options(1, 1))
	must(t, l.Commit())
	add(t, l, 0, "before")
	must(t, l.Commit())
	// The first record ends with a sector, the second with the page.
	add(t, l, 0, strings.Repeat("a", 512-blockHeader-recordHeader), strings.Repeat("b", pageSize-512-recordHeader), "c")
	must(t, l.commit(false))
	edit(t, m, l.segments[0].name, 2*pageSize, func(b []byte) { clear(b[512:]) })
	r := recovery(t, m)
	if r.Last(0) != 2 || r.TornBytes != pageSize {
		t.Errorf("last is %d, torn %d", r.Last(0), r.TornBytes)
	}
	// When a later block calls it safe, it is not torn but lost.
	must(t, l.Commit())
	add(t, l, 0, "d")
	must(t, l.Commit())
	_, err := Recover(m, dir, RecoverOptions{})
	if c := corruption(t, err); c.Offset < 2*pageSize || c.Offset > 3*pageSize {
		t.Errorf("the damage is %v", err)
	}
}
