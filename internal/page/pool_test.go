package page

import (
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// TestRunsNeverOverlap checks the pool against a plain list of runs, and that
// what a run holds stays.
func TestRunsNeverOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New()
		defer p.Close()
		type run struct {
			Run
			mark byte
		}
		var runs []run
		var pages int64
		fill := func(r run) {
			for i := range r.Pages {
				b := (r.Addr + Addr(i*Size)).Bytes(Size)
				b[0], b[Size-1] = r.mark, r.mark
			}
		}
		intact := func(r run) {
			for i := range r.Pages {
				b := (r.Addr + Addr(i*Size)).Bytes(Size)
				if b[0] != r.mark || b[Size-1] != r.mark {
					t.Fatalf("page %d of run %x was written by another", i, r.Addr)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"alloc": func(t *rapid.T) {
				n := rapid.SampledFrom([]int{1, 1, 1, 2, 3, 5, 40, chunkPages - 1, chunkPages, chunkPages + 3}).Draw(t, "pages")
				r := run{Run{p.Alloc(n), n}, rapid.Byte().Draw(t, "mark")}
				fill(r)
				runs = append(runs, r)
				pages += int64(n)
			},
			"free": func(t *rapid.T) {
				if len(runs) == 0 {
					t.Skip("nothing to free")
				}
				i := rapid.IntRange(0, len(runs)-1).Draw(t, "which")
				intact(runs[i])
				p.Free(runs[i].Addr, runs[i].Pages)
				pages -= int64(runs[i].Pages)
				runs = append(runs[:i], runs[i+1:]...)
			},
			"trim": func(*rapid.T) { p.Trim() },
			"": func(t *rapid.T) {
				if s := p.Stats(); s.InUse != pages*Size || s.Mapped < s.InUse {
					t.Fatalf("stats %+v, %d pages are in use", s, pages)
				}
			},
		})
		var rest []Run
		for _, r := range runs {
			intact(r)
			rest = append(rest, r.Run)
		}
		p.FreeAll(rest)
		for p.Trim() > 0 {
		}
		if s := p.Stats(); s.InUse != 0 || s.Mapped > spareChunks*chunkBytes {
			t.Fatalf("all is free, and %+v is left", s)
		}
	})
}

func TestDrainedChunksAreGivenBack(t *testing.T) {
	p := New()
	defer p.Close()
	var pages []Addr
	for range 20 * chunkPages {
		pages = append(pages, p.Alloc(1))
	}
	kept := pages[:0]
	for i, a := range pages {
		if i%10 == 0 {
			kept = append(kept, a)
		} else {
			p.Free(a, 1)
		}
	}
	if got := p.Stats().Mapped; got < 20*chunkBytes {
		t.Fatalf("%d bytes are mapped before anybody moved", got)
	}
	for p.Trim() > 0 || p.Draining() != 0 {
		for i, a := range kept {
			if p.Leaving(a) {
				kept[i] = p.Alloc(1)
				p.Free(a, 1)
			}
		}
	}
	if got := p.Stats().Mapped; got > 5*chunkBytes {
		t.Fatalf("%d bytes are mapped for %d in use", got, p.Stats().InUse)
	}
}

func TestALongRunGrowsInPlace(t *testing.T) {
	p := New()
	defer p.Close()
	n := chunkPages + 1
	a := p.AllocGrowing(n)
	if grew := p.Grow(a, n, 2*n); grew != (growthBytes > 0) {
		t.Fatalf("Grow says %v", grew)
	} else if grew {
		n *= 2
		b := a.Bytes(n * Size)
		b[len(b)-1] = 1
	}
	if got := p.Stats().InUse; got != int64(n)*Size {
		t.Fatalf("%d bytes are in use, want %d pages", got, n)
	}
	p.Free(a, n)
	p.Trim()
	if s := p.Stats(); s.Mapped != 0 {
		t.Fatalf("%+v is left", s)
	}
}

func TestFreeingTwiceIsABug(t *testing.T) {
	p := New()
	defer p.Close()
	a := p.Alloc(1)
	p.Free(a, 1)
	defer func() {
		if recover() == nil {
			t.Fatal("freeing a page twice went unnoticed")
		}
	}()
	p.Free(a, 1)
}

func TestManyMayAskAtOnce(t *testing.T) {
	p := New()
	defer p.Close()
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			var mine []Addr
			for i := range 2000 {
				a := p.Alloc(1 + i%3)
				a.Bytes(1)[0] = byte(g)
				mine = append(mine, a)
				if i%200 == 0 {
					p.Trim()
				}
			}
			for i, a := range mine {
				if a.Bytes(1)[0] != byte(g) {
					t.Error("a page has two owners")
					return
				}
				p.Free(a, 1+i%3)
			}
		})
	}
	all.Wait()
	if s := p.Stats(); s.InUse != 0 {
		t.Fatalf("%+v is left", s)
	}
}

func BenchmarkAllocFree(b *testing.B) {
	p := New()
	defer p.Close()
	for b.Loop() {
		p.Free(p.Alloc(1), 1)
	}
}
