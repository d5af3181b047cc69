package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-kv/bowline/internal/page"
	"github.com/bowline-kv/bowline/slot"
)

// space is what a node has: a table for each stripe over one pool.
type space struct {
	pool   *page.Pool
	tables [Stripes]*Table
	name   []byte
}

func newSpace(tb testing.TB) *space {
	s := &space{pool: page.New(), name: []byte("key:000000000000")}
	tb.Cleanup(s.pool.Close)
	for i := range s.tables {
		s.tables[i] = NewTable(s.pool, testSeed)
		s.tables[i].KeepAccess(true) // as shard does
	}
	return s
}

// key gives "key:" and 12 digits; the name is overwritten by the next call.
func (s *space) key(i int) (Key, *Table) {
	for at := len(s.name) - 1; at >= 4; at-- {
		s.name[at] = byte('0' + i%10)
		i /= 10
	}
	k := Key{Name: s.name, Hash: HashOf(testSeed, s.name), Slot: slot.Of(s.name)}
	return k, s.tables[StripeOf(k.Slot)]
}

// order visits 0..n-1 in an order without locality.
func order(i, n int) int { return int(uint64(i) * 2654435761 % uint64(n)) }

// residentBytes is the anonymous memory of this process.
func residentBytes(tb testing.TB) int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Skip("no /proc")
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

func benchName(keys, size int) string { return fmt.Sprintf("keys=%dM/value=%d", keys/1_000_000, size) }

// BenchmarkInsert sets new keys and reports the memory that each takes: pages in
// use, and resident memory of the process.
func BenchmarkInsert(b *testing.B) {
	for _, keys := range []int{1_000_000, 5_000_000} {
		for _, size := range []int{16, 100} {
			b.Run(benchName(keys, size), func(b *testing.B) {
				before := residentBytes(b)
				s := newSpace(b)
				value := make([]byte, size)
				b.ResetTimer()
				n := 0
				for ; b.Loop(); n++ {
					for i := range keys {
						k, t := s.key(i)
						t.SetRecord(k, String, value, 0)
					}
					b.StopTimer()
					b.ReportMetric(float64(s.pool.Stats().InUse)/float64(keys), "B/key")
					b.ReportMetric(float64(residentBytes(b)-before)/float64(keys), "rssB/key")
					for _, t := range s.tables {
						t.Clear()
					}
					for s.pool.Trim() > 0 {
					}
					b.StartTimer()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*keys), "ns/set")
				s.pool.Close()
			})
		}
	}
}

func benchFilled(b *testing.B, run func(b *testing.B, s *space, keys int)) {
	for _, keys := range []int{1_000_000, 5_000_000} {
		b.Run(benchName(keys, 16), func(b *testing.B) {
			s := newSpace(b)
			for i := range keys {
				k, t := s.key(i)
				t.SetRecord(k, String, make([]byte, 16), 0)
			}
			b.ReportAllocs()
			b.ResetTimer()
			run(b, s, keys)
		})
	}
}

func BenchmarkGet(b *testing.B) {
	benchFilled(b, func(b *testing.B, s *space, keys int) {
		for i := 0; b.Loop(); i++ {
			k, t := s.key(order(i, keys))
			if _, ok := t.Get(k); !ok {
				b.Fatal("a key is lost")
			}
		}
	})
}

func BenchmarkMiss(b *testing.B) {
	benchFilled(b, func(b *testing.B, s *space, keys int) {
		for i := 0; b.Loop(); i++ {
			k, t := s.key(keys + order(i, keys))
			if _, ok := t.Get(k); ok {
				b.Fatal("a key too many")
			}
		}
	})
}

// BenchmarkGetBatch is Get for batches of 32, prepared and loaded first.
func BenchmarkGetBatch(b *testing.B) {
	benchFilled(b, func(b *testing.B, s *space, keys int) {
		var ks [32]Key
		var ts [32]*Table
		for i := range ks {
			ks[i].Name = make([]byte, len(s.name))
		}
		for i := 0; b.Loop(); i++ {
			at := i % len(ks)
			k, t := s.key(order(i, keys))
			copy(ks[at].Name, k.Name)
			ks[at].Hash, ks[at].Slot, ts[at] = k.Hash, k.Slot, t
			if at < len(ks)-1 {
				continue
			}
			for i := range ks {
				ts[i].Prepare(&ks[i])
			}
			for i := range ks {
				ts[i].Load(&ks[i])
			}
			for i := range ks {
				if _, ok := ts[i].Get(ks[i]); !ok {
					b.Fatal("a key is lost")
				}
			}
		}
	})
}

func BenchmarkSet(b *testing.B) {
	benchFilled(b, func(b *testing.B, s *space, keys int) {
		value := make([]byte, 16)
		for i := 0; b.Loop(); i++ {
			k, t := s.key(order(i, keys))
			t.SetRecord(k, String, value, 0)
		}
	})
}

func BenchmarkSetExpiry(b *testing.B) {
	benchFilled(b, func(b *testing.B, s *space, keys int) {
		value := make([]byte, 16)
		for i := 0; b.Loop(); i++ {
			k, t := s.key(order(i, keys))
			t.SetRecord(k, String, value, 1_800_000_000_000+int64(i))
		}
	})
}

// BenchmarkMemoryComesBack deletes nine of ten million keys by chance and reports
// the share of the peak that is resident after the background work, and how long
// that takes when nothing else does.
func BenchmarkMemoryComesBack(b *testing.B) {
	const keys = 10_000_000
	for b.Loop() {
		b.StopTimer()
		before := residentBytes(b)
		s := newSpace(b)
		for i := range keys {
			k, t := s.key(i)
			t.SetRecord(k, String, make([]byte, 16), 0)
		}
		peak := residentBytes(b) - before
		random := rand.New(rand.NewPCG(1, 1))
		for i := range keys {
			if k, t := s.key(i); random.IntN(10) > 0 {
				t.Delete(k)
			}
		}
		b.ReportMetric(float64(residentBytes(b)-before)/float64(peak), "deleted/peak")
		b.StartTimer()
		for quiet := 0; quiet < 3; quiet++ {
			for _, t := range s.tables {
				if t.Step(500) {
					quiet = 0
				}
			}
			if s.pool.Trim() > 0 {
				quiet = 0
			}
		}
		b.StopTimer()
		b.ReportMetric(float64(residentBytes(b)-before)/float64(peak), "after/peak")
		s.pool.Close()
		b.StartTimer()
	}
}

// BenchmarkLongestInsert reports the longest calls while five million keys come,
// which include growing and the page faults of new memory.
func BenchmarkLongestInsert(b *testing.B) {
	const keys = 5_000_000
	for b.Loop() {
		s := newSpace(b)
		took := make([]int64, keys)
		value := make([]byte, 16)
		for i := range keys {
			k, t := s.key(i)
			before := b.Elapsed()
			t.SetRecord(k, String, value, 0)
			took[i] = int64(b.Elapsed() - before)
		}
		slices.Sort(took)
		for name, at := range map[string]int{"ns-p50": keys / 2, "ns-p99.9": keys - keys/1000, "ns-p99.999": keys - keys/100_000, "ns-max": keys - 1} {
			b.ReportMetric(float64(took[at]), name)
		}
		s.pool.Close()
	}
}

// BenchmarkWalk is the time per key of a walk over everything, ten keys a call.
func BenchmarkWalk(b *testing.B) {
	benchFilled(b, func(b *testing.B, s *space, keys int) {
		n := 0
		for i := 0; n < b.N; i++ {
			var c Cursor
			for at, done := slot.ID(i%Stripes), false; !done; {
				at, c, done = s.tables[i%Stripes].ScanTable(at, c, 10, func(Key, Entry) { n++ })
			}
		}
	})
}

// BenchmarkWalkSlot is the time of a walk over one slot.
func BenchmarkWalkSlot(b *testing.B) {
	benchFilled(b, func(b *testing.B, s *space, keys int) {
		for i := 0; b.Loop(); i++ {
			at := slot.ID(order(i, slot.Count))
			s.tables[StripeOf(at)].Scan(at, 0, keys, func(Key, Entry) {})
		}
	})
}

func BenchmarkKeyOnly(b *testing.B) {
	s := newSpace(b)
	var sum uint64
	for i := 0; b.Loop(); i++ {
		k, _ := s.key(order(i, 5_000_000))
		sum += k.Hash
	}
}
