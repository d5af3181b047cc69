package wal

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/bowline-kv/bowline/internal/vfs"
)

// benchLog is a log on the disk of this machine.
func benchLog(b *testing.B, o Options) (*Log, string) {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "log")
	r, err := Recover(vfs.OS(), dir, RecoverOptions{})
	must(b, err)
	zero := time.Now()
	o.Shards, o.Now, o.Random = 1, func() time.Duration { return time.Since(zero) }, func() uint64 { return 7 }
	l, err := r.Start(o)
	must(b, err)
	b.Cleanup(func() { l.Close() })
	return l, dir
}

// BenchmarkAppend is what a shard pays under its locks, with the write of it.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{64, 1024} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			l, _ := benchLog(b, Options{SyncEvery: time.Hour})
			s, payload, out := l.Stream(0), make([]byte, size), int64(0)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				s.Append(payload)
				if out += int64(size); out > 3<<20 {
					b.StopTimer()
					must(b, l.commit(false))
					must(b, l.TrimBefore(map[int]Sequence{0: s.Last()}, 0))
					out = 0
					b.StartTimer()
				}
			}
		})
	}
}

// BenchmarkWrite is what the one who commits pays for each record, but for the disk.
func BenchmarkWrite(b *testing.B) {
	const size, batch = 64, 1000
	l, _ := benchLog(b, Options{SyncEvery: time.Hour})
	s, payload := l.Stream(0), make([]byte, size)
	b.SetBytes(size * batch)
	for b.Loop() {
		b.StopTimer()
		for range batch {
			s.Append(payload)
		}
		must(b, l.TrimBefore(map[int]Sequence{0: s.Durable()}, 0))
		b.StartTimer()
		must(b, l.commit(false))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/record")
}

// BenchmarkCommit is a commit of some records with its sync.
func BenchmarkCommit(b *testing.B) {
	for _, records := range []int{1, 50, 800} {
		b.Run(fmt.Sprint(records), func(b *testing.B) {
			l, _ := benchLog(b, Options{})
			s, payload := l.Stream(0), make([]byte, 64)
			for b.Loop() {
				for range records {
					s.Append(payload)
				}
				must(b, l.Commit())
			}
			b.ReportMetric(float64(b.N*records)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// BenchmarkSync compares a page that is written and synced inside a zero-filled file
// with one that makes the file grow.
func BenchmarkSync(b *testing.B) {
	const size = 64 << 20
	for _, filled := range []bool{true, false} {
		b.Run(fmt.Sprintf("filled=%t", filled), func(b *testing.B) {
			f, err := vfs.OS().Create(filepath.Join(b.TempDir(), "f"))
			must(b, err)
			defer f.Close()
			if filled {
				must(b, f.Allocate(size))
				must(b, f.Sync())
			}
			page := make([]byte, pageSize)
			for n := int64(0); b.Loop(); n++ {
				_, err := f.WriteAt(page, n*pageSize%size)
				must(b, err)
				must(b, f.Sync())
			}
		})
	}
}

// BenchmarkReplay reads a log of a million records: both passes.
func BenchmarkReplay(b *testing.B) {
	const records = 1 << 20
	l, dir := benchLog(b, Options{SyncEvery: time.Hour})
	payload := make([]byte, 128)
	for n := range records {
		l.Stream(0).Append(payload)
		if n%10000 == 0 {
			must(b, l.commit(false))
		}
	}
	must(b, l.Close())
	b.SetBytes(records * int64(len(payload)))
	for b.Loop() {
		r, err := Recover(vfs.OS(), dir, RecoverOptions{})
		must(b, err)
		n := 0
		must(b, r.Replay(nil, func(Record) error { n++; return nil }))
		if n != records {
			b.Fatalf("%d records", n)
		}
	}
	b.ReportMetric(records*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
