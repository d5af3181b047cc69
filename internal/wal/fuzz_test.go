package wal

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/bowline-kv/bowline/internal/vfs"
)

// FuzzRecover reads whatever bytes as a segment.
func FuzzRecover(f *testing.F) {
	m := vfs.Mem()
	for _, seg := range written(f, m) {
		file, err := m.Open(seg.name)
		must(f, err)
		b := make([]byte, seg.size)
		_, err = file.ReadAt(b, 0)
		must(f, err)
		must(f, file.Close())
		f.Add(b)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		m := vfs.Mem()
		must(t, m.MkdirAll(dir))
		put(t, m, segmentName(dir, 1), b)
		reads(t, m)
	})
}

// FuzzRecords reads records whose CRCs are right, whatever is in them, in two
// segments. Of the input each record takes: a byte for the kind, one for sequence and
// shard, one for the length of the payload, the payload.
func FuzzRecords(f *testing.F) {
	f.Add([]byte{1, 1, 3, 'a', 'b', 'c', 1, 2, 1, 'd', 3, 2, 24}, []byte{4, 1, 0, 5, 0, 1})
	f.Add([]byte{4, 0, 0, 1, 1, 0, 1, 2, 0}, []byte{4, 2, 0, 1, 3, 200})
	f.Add([]byte{1, 1, 0, 0, 1, 0}, []byte{255, 0, 0})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		m := vfs.Mem()
		must(t, m.MkdirAll(dir))
		synced := position(0)
		for g, in := range [][]byte{first, second} {
			generation := uint64(g + 1)
			w := writer{log: &Log{}, seg: &segment{seed: seedOf(generation, 7)}, off: pageSize, end: pageSize, outAt: pageSize, synced: synced}
			for len(in) >= 3 && len(w.out) < 1<<20 {
				kind, number, size := in[0], in[1], int(in[2])
				in = in[3:]
				size = min(size, len(in))
				payload := in[:size]
				if in = in[size:]; Kind(kind) == kindFork && len(payload) >= forkSize {
					payload = payload[:forkSize]
					binary.LittleEndian.PutUint64(payload[16:], uint64(number&63))
				}
				w.append(appendRecord(nil, int(number>>6), Sequence(number&63), Kind(kind), payload))
			}
			b := append(encodeHeader(generation, 7, 1<<20), w.out...)
			put(t, m, segmentName(dir, generation), append(b, make([]byte, max(2*pageSize, int(pageUp(int64(len(b)))))-len(b))...))
			synced = at(generation, w.end)
		}
		reads(t, m)
	})
}

func put(t testing.TB, m *vfs.MemFS, name string, b []byte) {
	t.Helper()
	file, err := m.Create(name)
	must(t, err)
	_, err = file.WriteAt(b, 0)
	must(t, err)
	must(t, file.Close())
}

// reads recovers what it can, and checks that it is a log.
func reads(t *testing.T, m *vfs.MemFS) {
	t.Helper()
	var damage *CorruptError
	r, err := Recover(m, dir, RecoverOptions{})
	if errors.As(err, &damage) {
		if r, err = Recover(m, dir, RecoverOptions{AcceptLoss: true}); err == nil && r.Damage == nil {
			t.Fatal("the damage is gone")
		}
	}
	must(t, err)
	inOrder(t, r)
	// With a snapshot of everything.
	passing, err := Recover(m, dir, RecoverOptions{Base: []Point{{Last: noBound}, {Last: noBound}, {Last: noBound}, {Last: noBound}}})
	if err == nil {
		inOrder(t, passing)
	} else if !errors.As(err, &damage) {
		t.Fatal(err)
	}
	before := r.Last(0)
	l, err := r.Start(options(1, 1))
	must(t, err)
	if before < noBound-1 {
		l.Stream(0).Append([]byte("after"))
	}
	must(t, l.Close())
	if r, err = Recover(m, dir, RecoverOptions{}); err != nil || before < noBound-1 && r.Last(0) != before+1 {
		t.Fatalf("after a start on it: %v", err)
	}
}

// inOrder checks that a log gives records without gaps, to its end.
func inOrder(t *testing.T, r *Recovery) {
	t.Helper()
	from := map[int]Sequence{}
	for shard, sh := range r.shards {
		from[shard] = sh.begin
	}
	next := map[int]Sequence{}
	must(t, r.Replay(from, func(rec Record) error {
		if last, ok := next[rec.Shard]; ok && rec.Seq != last+1 {
			t.Fatalf("record %d follows %d", rec.Seq, last)
		}
		next[rec.Shard] = rec.Seq
		return nil
	}))
	for shard, last := range next {
		if last != r.Last(shard) {
			t.Fatalf("replay of shard %d ends with %d, not %d", shard, last, r.Last(shard))
		}
	}
}
