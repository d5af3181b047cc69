package wal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/vfs"
)

func TestMissingNewestSegmentsAreNoticed(t *testing.T) {
	for gone := 1; gone <= 3; gone++ {
		for _, ahead := range []bool{false, true} { // one more was made ahead
			m := vfs.Mem()
			segs := written(t, m)
			first, left := len(segs)-gone, 0
			for _, seg := range segs[first:] {
				must(t, m.Remove(seg.name))
			}
			mark := uint64(len(segs))
			if ahead {
				mark++
			}
			must(t, m.Rename(markName(dir, uint64(len(segs))), markName(dir, mark)))
			_, err := Recover(m, dir, RecoverOptions{Base: []Point{{Last: noBound}}})
			want := segs[first].name
			if first == 0 {
				want = segmentName(dir, mark)
			}
			if c := corruption(t, err); c.File != want || !strings.Contains(c.What, "missing") {
				t.Errorf("%d are gone: %v", gone, err)
			}
			r, err := Recover(m, dir, RecoverOptions{AcceptLoss: true})
			must(t, err)
			if r.Damage == nil {
				t.Errorf("%d are gone: no damage", gone)
			}
			left = int(r.Last(0))
			l, err := r.Start(options(1, 1))
			must(t, err)
			add(t, l, 0, "new")
			must(t, l.Close())
			if got := replayed(t, recovery(t, m), nil); len(got) != left+1 || got[left] != fmt.Sprintf("0/%d:new", left+1) {
				t.Errorf("%d are gone: then there are %d records, not %d", gone, len(got), left+1)
			}
		}
	}
}

// What is left when all segments with records are gone is no empty log.
func TestASegmentMadeAheadIsNoLog(t *testing.T) {
	for _, records := range []int{1, 30} {
		m := vfs.Mem()
		l := start(t, m, options(1, 1))
		for range records {
			add(t, l, 0, strings.Repeat("x", 3000))
			must(t, l.Commit())
		}
		l.wanted.Store(true)
		must(t, l.prepareNext())
		must(t, l.Close())
		for _, seg := range l.segments {
			must(t, m.Remove(seg.name))
		}
		_, err := Recover(m, dir, RecoverOptions{Base: []Point{{Last: noBound}}})
		if c := corruption(t, err); c.File != l.segments[len(l.segments)-1].name {
			t.Errorf("after %d records: %v", records, err)
		}
		r, err := Recover(m, dir, RecoverOptions{AcceptLoss: true})
		must(t, err)
		if l, err = r.Start(options(2, 1)); err == nil {
			add(t, l, 0, "new")
			err = l.Close()
		}
		if got := replayed(t, recovery(t, m), nil); err != nil || len(got) != 1 {
			t.Errorf("after %d records: then there is %q, %v", records, got, err)
		}
	}
}

// A disk that has no room for the mark is full, and not broken.
func TestAMarkThatFindsNoRoomIsTriedAgain(t *testing.T) {
	for _, kind := range []vfs.OpKind{vfs.OpCreate, vfs.OpRename} { // of the first, and of later ones
		m, full := vfs.Mem(), kind == vfs.OpCreate
		disk := vfs.Faults(m, func(op vfs.Op) (f vfs.Fault) {
			if full && op.Kind == kind && strings.Contains(op.Name, markPrefix) {
				f.Err = vfs.ErrNoSpace
			}
			return f
		})
		l := start(t, disk, options(1, 1))
		add(t, l, 0, strings.Repeat("x", 100))
		for full = true; l.Commit() == nil; {
			add(t, l, 0, strings.Repeat("x", 3000))
		}
		if err := l.Commit(); !errors.Is(err, ErrDiskFull) || l.Err() != nil || !l.DiskFull() {
			t.Errorf("without room: %v, %v", err, l.Err())
		}
		full = false
		must(t, l.Commit())
		last := l.Stream(0).Last()
		must(t, l.Close())
		if r := recovery(t, m.Crash(1)); r.Last(0) != last {
			t.Errorf("%d of %d records are there", r.Last(0), last)
		}
	}
}

func TestALogWithoutAMarkGetsOne(t *testing.T) {
	m := vfs.Mem()
	segs := written(t, m)
	must(t, m.Remove(markName(dir, uint64(len(segs)))))
	l := start(t, m, options(2, 1))
	add(t, l, 0, "new")
	must(t, l.Close())
	must(t, m.Remove(segmentName(dir, uint64(len(segs)+1))))
	put(t, m, markName(dir, uint64(len(segs)-1)), nil) // of a backup
	_, err := Recover(m, dir, RecoverOptions{})
	corruption(t, err)
	r, err := Recover(m, dir, RecoverOptions{AcceptLoss: true})
	must(t, err)
	l, err = r.Start(options(3, 1))
	must(t, err)
	must(t, l.Close())
	if l, err := list(m, dir); err != nil || len(l.marks) != 1 || l.newest != l.last() {
		t.Errorf("there are marks %q, %v", l.marks, err)
	}
	must(t, Discard(m, dir))
	if names, err := m.List(dir); err != nil || len(names) > 0 {
		t.Errorf("there is %q, %v", names, err)
	}
}

// A power loss before any operation of a start or a change of segments leaves a log
// with no segment missing.
func TestTheMarkIsNeverAhead(t *testing.T) {
	m := vfs.Mem()
	dice := rand.New(rand.NewPCG(1, 1))
	var copies []*vfs.MemFS
	watched := vfs.Faults(m, func(op vfs.Op) vfs.Fault {
		if op.Kind != vfs.OpRead {
			copies = append(copies, m.Crash(dice.Uint64()))
		}
		return vfs.Fault{}
	})
	for round := range uint64(6) {
		l := start(t, watched, options(round, 1))
		for range 10 {
			add(t, l, 0, strings.Repeat("x", 3000))
			must(t, l.Commit())
			l.wanted.Store(true)
			must(t, l.prepareNext())
		}
		must(t, l.TrimBefore(map[int]Sequence{0: l.Stream(0).Last()}, 0))
		must(t, l.Close())
	}
	for i, disk := range copies {
		r, err := Recover(disk, dir, RecoverOptions{})
		if err == nil {
			var l *Log
			if l, err = r.Start(options(1, 1)); err == nil {
				err = l.Close()
			}
		}
		if err != nil {
			t.Fatalf("copy %d of %d: %v", i, len(copies), err)
		}
	}
}
