package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/bowline-kv/bowline/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const dir = "/data/log"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// options are settings for a small log with chance of a seed.
func options(seed uint64, shards int) Options {
	dice, zero := rand.New(rand.NewPCG(seed, 1)), time.Now()
	return Options{
		Shards: shards, SegmentBytes: 1, // the smallest
		Now:    func() time.Duration { return time.Since(zero) },
		Random: dice.Uint64,
	}
}

func recovery(t testing.TB, fs vfs.FS) *Recovery {
	t.Helper()
	r, err := Recover(fs, dir, RecoverOptions{})
	must(t, err)
	return r
}

func start(t testing.TB, fs vfs.FS, o Options) *Log {
	t.Helper()
	l, err := recovery(t, fs).Start(o)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// replayed gives what a replay hands out, as "shard/seq:payload".
func replayed(t testing.TB, r *Recovery, from map[int]Sequence) []string {
	t.Helper()
	var all []string
	must(t, r.Replay(from, func(rec Record) error {
		all = append(all, fmt.Sprintf("%d/%d:%s", rec.Shard, rec.Seq, rec.Payload))
		return nil
	}))
	return all
}

func expect(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
}

func corruption(t testing.TB, err error) *CorruptError {
	t.Helper()
	var c *CorruptError
	if !errors.As(err, &c) {
		t.Fatalf("the error is %v, want a CorruptError", err)
	}
	return c
}

func add(t testing.TB, l *Log, shard int, payloads ...string) {
	t.Helper()
	for _, p := range payloads {
		l.Stream(shard).Append([]byte(p))
	}
}

func TestRecordsComeBackInOrder(t *testing.T) {
	m := vfs.Mem()
	l := start(t, m, options(1, 2))
	add(t, l, 0, "a", "b")
	if seq := l.Stream(1).AppendKind(KindSlots, []byte("x")); seq != 1 {
		t.Errorf("the first sequence is %d", seq)
	}
	if s := l.Stream(0); s.Last() != 2 || s.Durable() != 0 {
		t.Errorf("before the commit last is %d, durable %d", s.Last(), s.Durable())
	}
	must(t, l.Commit())
	add(t, l, 0, "c")
	must(t, l.Commit())
	if s := l.Stream(0); s.Last() != 3 || s.Durable() != 3 {
		t.Errorf("after the commit last is %d, durable %d", s.Last(), s.Durable())
	}
	r := recovery(t, m)
	expect(t, replayed(t, r, nil), "0/1:a", "0/2:b", "1/1:x", "0/3:c")
	expect(t, replayed(t, r, map[int]Sequence{0: 2, 1: 1}), "0/3:c")
	if r.Last(0) != 3 || r.Last(1) != 1 || r.Last(2) != 0 || r.Shards() != 2 || r.TornBytes != 0 {
		t.Errorf("last are %d, %d, %d of %d shards, torn %d", r.Last(0), r.Last(1), r.Last(2), r.Shards(), r.TornBytes)
	}
	stop := errors.New("stop")
	if err := r.Replay(nil, func(Record) error { return stop }); err != stop {
		t.Errorf("an error of apply comes back as %v", err)
	}
}

func TestRecordsOfAllSizesOverManySegmentsAndStarts(t *testing.T) {
	m := vfs.Mem()
	dice := rand.New(rand.NewPCG(3, 3))
	var want []string
	for range 5 {
		l := start(t, m, options(dice.Uint64(), 1))
		for range 200 {
			// Sizes at which a record ends at the end of a page, or near it, among others.
			n := dice.IntN(300)
			switch dice.IntN(6) {
			case 0:
				n = pageSize - blockHeader - recordHeader - dice.IntN(50)
			case 1:
				n = pageSize - recordHeader - 25 + dice.IntN(50)
			case 2:
				n = dice.IntN(60000)
			}
			p := strings.Repeat(string(rune('a'+len(want)%26)), n)
			want = append(want, fmt.Sprintf("0/%d:%s", len(want)+1, p))
			add(t, l, 0, p)
			if dice.IntN(3) == 0 {
				must(t, l.commit(dice.IntN(2) == 0))
			}
		}
		must(t, l.Close())
		must(t, l.Close())
		expect(t, replayed(t, recovery(t, m), nil), want...)
	}
}

// A record of 16 bytes more than a page ends where the header of a block would.
func TestRecordThatEndsWhereABlockHeaderWould(t *testing.T) {
	for extra := range 60 {
		m := vfs.Mem()
		l := start(t, m, options(1, 1))
		must(t, l.Commit())
		long := strings.Repeat("x", 2*pageSize-recordHeader-30+extra)
		add(t, l, 0, "first", long, "y", "z")
		must(t, l.Commit())
		expect(t, replayed(t, recovery(t, m), nil), "0/1:first", "0/2:"+long, "0/3:y", "0/4:z")
	}
}

func TestForkTakesBackRecords(t *testing.T) {
	m := vfs.Mem()
	l := start(t, m, options(1, 2))
	s := l.Stream(0)
	must(t, s.Fork(Fork{1, 11, 1}))
	add(t, l, 0, "a", "b", "c", "d")
	add(t, l, 1, "x", "y")
	must(t, l.Commit())
	must(t, s.Fork(Fork{2, 22, 3}))
	if s.Last() != 2 || s.Durable() != 2 {
		t.Errorf("after the fork last is %d, durable %d", s.Last(), s.Durable())
	}
	add(t, l, 0, "C")
	if err := s.Fork(Fork{3, 33, 5}); err == nil {
		t.Error("a fork behind a gap is accepted")
	}
	if err := s.Fork(Fork{3, 33, 0}); err == nil {
		t.Error("a fork at 0 is accepted")
	}
	must(t, l.Commit())
	if s.Last() != 3 || s.Durable() != 3 {
		t.Errorf("after the commit last is %d, durable %d", s.Last(), s.Durable())
	}
	must(t, l.Close())
	l = start(t, m, options(2, 2))
	must(t, l.Stream(0).Fork(Fork{3, 33, 4}))
	add(t, l, 0, "D")
	must(t, l.Commit())
	r := recovery(t, m)
	expect(t, replayed(t, r, nil), "0/1:a", "0/2:b", "1/1:x", "1/2:y", "0/3:C", "0/4:D")
	want := History{{1, 11, 1}, {2, 22, 3}, {3, 33, 4}}
	if !slices.Equal(r.History(0), want) || !slices.Equal(l.Stream(0).History(), want) || len(r.History(1)) != 0 {
		t.Errorf("histories are %v and %v", r.History(0), r.History(1))
	}
	for _, p := range []struct {
		seq Sequence
		id  uint64
		on  bool
	}{{2, 11, true}, {3, 11, false}, {3, 22, true}, {4, 33, true}, {0, 11, false}} {
		if want.Contains(p.seq, p.id) != p.on {
			t.Errorf("record %d of writer %d on the history: %t", p.seq, p.id, !p.on)
		}
	}
}

func TestResetGoesOnFromACopy(t *testing.T) {
	m := vfs.Mem()
	l := start(t, m, options(1, 1))
	add(t, l, 0, "a", "b")
	must(t, l.Commit())
	s := l.Stream(0)
	if err := s.Reset(100, History{{1, 1, 9}, {1, 2, 9}}); err == nil {
		t.Error("a history that does not rise is accepted")
	}
	must(t, s.Reset(100, History{{7, 77, 50}}))
	if s.Last() != 100 || s.Durable() != 0 {
		t.Errorf("after Reset last is %d, durable %d", s.Last(), s.Durable())
	}
	add(t, l, 0, "c")
	must(t, l.Commit())
	if s.Last() != 101 || s.Durable() != 101 {
		t.Errorf("after the commit last is %d, durable %d", s.Last(), s.Durable())
	}
	r := recovery(t, m)
	var missing *MissingError
	if err := r.Replay(map[int]Sequence{0: 99}, nil); !errors.As(err, &missing) || missing.Last != 100 {
		t.Errorf("a replay from before the copy: %v", err)
	}
	expect(t, replayed(t, r, map[int]Sequence{0: 100}), "0/101:c")
	if !r.History(0).Contains(101, 77) {
		t.Errorf("the history is %v", r.History(0))
	}
}

func TestHistoryIsBoundedAndComesBackFromEverySegment(t *testing.T) {
	m := vfs.Mem()
	l := start(t, m, options(1, 1))
	for i := range Sequence(3 * historyMax) {
		must(t, l.Stream(0).Fork(Fork{1, uint64(i), i + 1}))
		add(t, l, 0, strings.Repeat("x", 500))
		must(t, l.Commit())
	}
	if n := len(l.segments); n < 10 {
		t.Fatalf("only %d segments", n)
	}
	h := l.Stream(0).History()
	if len(h) != historyMax || h[0].First != 2*historyMax+1 {
		t.Errorf("the history has %d forks from %d on", len(h), h[0].First)
	}
	must(t, l.TrimBefore(map[int]Sequence{0: 3 * historyMax}, 0))
	if r := recovery(t, m); !slices.Equal(r.History(0), h) {
		t.Errorf("recovered are %d forks", len(r.History(0)))
	}
}

func TestMoreShardsThanBefore(t *testing.T) {
	m := vfs.Mem()
	l := start(t, m, options(1, 1))
	add(t, l, 0, "a")
	must(t, l.Close())
	l = start(t, m, options(2, 3))
	add(t, l, 2, "b")
	must(t, l.Close())
	l = start(t, m, options(3, 1))
	add(t, l, 0, "c")
	must(t, l.Close())
	r := recovery(t, m)
	expect(t, replayed(t, r, nil), "0/1:a", "2/1:b", "0/2:c")
	if _, err := recovery(t, m).Start(Options{Shards: 70000}); err == nil {
		t.Error("70000 shards are accepted")
	}
}

func TestTrimUsesSegmentsAgain(t *testing.T) {
	m := vfs.Mem()
	o := options(1, 2)
	l := start(t, m, o)
	add(t, l, 1, "idle")
	for i := range 300 {
		add(t, l, 0, strings.Repeat(string(rune('a'+i%26)), 700))
		must(t, l.Commit())
	}
	before := l.Bytes()
	must(t, l.TrimBefore(map[int]Sequence{0: 200}, 0))
	if l.Bytes() != before {
		t.Error("records of a shard that is not named were dropped")
	}
	must(t, l.TrimBefore(map[int]Sequence{0: 200, 1: 2}, before-1))
	if l.Bytes() < before-l.o.SegmentBytes {
		t.Error("less was kept than asked for")
	}
	must(t, l.TrimBefore(map[int]Sequence{0: 200, 1: 2}, 0))
	if l.Bytes() > before*2/3 {
		t.Errorf("of %d bytes %d are left", before, l.Bytes())
	}
	r := recovery(t, m)
	got := replayed(t, r, map[int]Sequence{0: 199, 1: 1})
	if len(got) != 101 || !strings.HasPrefix(got[0], "0/200:") {
		t.Errorf("%d records from %.10s on", len(got), got[0])
	}
	var missing *MissingError
	if err := r.Replay(map[int]Sequence{1: 1}, nil); !errors.As(err, &missing) || missing.Shard != 0 {
		t.Errorf("a replay of what was dropped: %v", err)
	} else if !strings.Contains(err.Error(), "records 1 to ") {
		t.Errorf("the message is %q", err)
	}
	// Two spares are left; the next segments come out of them, with old bytes in them.
	names, err := m.List(dir)
	must(t, err)
	if n := len(slices.DeleteFunc(slices.Clone(names), func(s string) bool { return !strings.HasPrefix(s, sparePrefix) })); n != 2 {
		t.Errorf("%d spares in %q", n, names)
	}
	for range 100 {
		add(t, l, 0, strings.Repeat("-", 200))
		must(t, l.Commit())
	}
	got = replayed(t, recovery(t, m), map[int]Sequence{0: 199, 1: 1})
	if len(got) != 201 {
		t.Errorf("%d records with segments used again", len(got))
	}
	// The idle shard does not hold back what has nothing of it.
	must(t, l.TrimBefore(map[int]Sequence{0: 400}, 0))
	if n := len(l.segments); n > 2 {
		t.Errorf("%d segments are left", n)
	}
}

func TestCursorFollowsTheLog(t *testing.T) {
	m := vfs.Mem()
	l := start(t, m, options(1, 2))
	c, err := l.Cursor(0, 1)
	must(t, err)
	defer c.Close()
	next := func(c *Cursor) string {
		rec, err := c.Next()
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%d:%s", rec.Seq, rec.Payload[:1])
	}
	read := func(c *Cursor, want ...string) {
		t.Helper()
		for _, w := range want {
			if got := next(c); got != w {
				t.Fatalf("the cursor gives %s, want %s", got, w)
			}
		}
	}
	read(c, "EOF", "EOF")
	add(t, l, 0, "a", "b")
	add(t, l, 1, "x")
	read(c, "EOF")
	must(t, l.commit(false))
	read(c, "1:a", "2:b", "EOF")
	add(t, l, 0, "c")
	must(t, l.commit(false))
	read(c, "3:c", "EOF")
	must(t, l.Commit())
	add(t, l, 0, "d")
	must(t, l.Commit())
	read(c, "4:d", "EOF")
	// Over segments.
	big := strings.Repeat("e", 20000)
	for seq := range 10 {
		add(t, l, 0, big)
		must(t, l.Commit())
		if seq%3 == 2 {
			for i := range 3 {
				read(c, fmt.Sprintf("%d:e", 5+seq-2+i))
			}
		}
	}
	read(c, "14:e", "EOF")
	late, err := l.Cursor(0, 9)
	must(t, err)
	read(late, "9:e", "10:e")
	// A reader holds back trimming, to the segment that it is in.
	must(t, l.TrimBefore(map[int]Sequence{0: 15, 1: 2}, 0))
	read(late, "11:e", "12:e", "13:e", "14:e", "EOF")
	late.Close()
	late.Close()
	must(t, l.TrimBefore(map[int]Sequence{0: 15, 1: 2}, 0))
	if _, err := l.Cursor(0, 4); !errors.Is(err, ErrTrimmed) {
		t.Errorf("a cursor on dropped records: %v", err)
	}
	// Taken back: by who has read it, and by who comes later.
	must(t, l.Stream(0).Fork(Fork{1, 1, 14}))
	add(t, l, 0, "F", "G")
	must(t, l.Commit())
	read(c, ErrTruncated.Error())
	again, err := l.Cursor(0, 14)
	must(t, err)
	defer again.Close()
	read(again, "14:F", "15:G", "EOF")
	must(t, l.Stream(0).Reset(50, nil))
	add(t, l, 0, "z")
	must(t, l.Commit())
	read(again, ErrTruncated.Error())
	copied, err := l.Cursor(0, 51)
	must(t, err)
	defer copied.Close()
	read(copied, "51:z", "EOF")
	if gone, err := l.Cursor(0, 15); err == nil {
		read(gone, ErrTrimmed.Error())
		gone.Close()
	}
	if _, err := l.Cursor(9, 1); err == nil {
		t.Error("a cursor of no shard")
	}
}

func TestRecordLargerThanASegment(t *testing.T) {
	m := vfs.Mem()
	l := start(t, m, options(1, 1))
	add(t, l, 0, "a")
	must(t, l.Commit())
	big := bytes.Repeat([]byte("big"), 1<<20)
	l.Stream(0).Append(big)
	add(t, l, 0, "b")
	must(t, l.Commit())
	must(t, l.Close())
	r := recovery(t, m)
	expect(t, replayed(t, r, nil), "0/1:a", "0/2:"+string(big), "0/3:b")
	c, err := l.Cursor(0, 2)
	must(t, err)
	defer c.Close()
	if rec, err := c.Next(); err != nil || !bytes.Equal(rec.Payload, big) {
		t.Errorf("the cursor gives %d bytes, %v", len(rec.Payload), err)
	}
	if rec, err := c.Next(); err != nil || string(rec.Payload) != "b" {
		t.Errorf("behind it the cursor gives %q, %v", rec.Payload, err)
	}
	if _, err := c.Next(); err != io.EOF {
		t.Errorf("at the end the cursor gives %v", err)
	}
}

func TestRestartsTakeLittleSpace(t *testing.T) {
	m := vfs.Mem()
	o := options(1, 1)
	o.SegmentBytes = 1 << 20
	for n := range 20 {
		l := start(t, m, o)
		must(t, l.Stream(0).Fork(Fork{1, uint64(n), l.Stream(0).Last() + 1}))
		add(t, l, 0, "x")
		must(t, l.Close())
	}
	s, err := m.Space("/")
	must(t, err)
	if used := s.Total - s.Free; used > 5<<20 {
		t.Errorf("20 restarts take %d bytes", used)
	}
	if n := len(replayed(t, recovery(t, m), nil)); n != 20 {
		t.Errorf("%d records", n)
	}
}

func TestLogOnTheFilesOfTheSystem(t *testing.T) {
	dir := t.TempDir() + "/a/log"
	open := func() *Recovery {
		r, err := Recover(vfs.OS(), dir, RecoverOptions{})
		must(t, err)
		return r
	}
	for round := range 3 {
		l, err := open().Start(options(uint64(round), 1))
		must(t, err)
		for range 30 {
			add(t, l, 0, strings.Repeat("x", 3000))
			must(t, l.Commit())
		}
		must(t, l.TrimBefore(map[int]Sequence{0: l.Stream(0).Last() - 9}, 0))
		must(t, l.Close())
	}
	r := open()
	if got := replayed(t, r, map[int]Sequence{0: 80}); len(got) != 10 || r.Last(0) != 90 {
		t.Errorf("%d records up to %d", len(got), r.Last(0))
	}
}
