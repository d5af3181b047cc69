package tree

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/bowline-kv/bowline/internal/page"
	"pgregory.net/rapid"
)

// members has the members by reference.
type members [][]byte

func (m *members) Compare(ref uint32, member []byte) int { return bytes.Compare((*m)[ref], member) }

func (m *members) add(name string) uint32 {
	*m = append(*m, []byte(name))
	return uint32(len(*m) - 1)
}

type entry struct {
	score float64
	name  string
	ref   uint32
}

func compareEntries(a, b entry) int {
	return cmp.Or(cmp.Compare(a.score+0, b.score+0), cmp.Compare(a.name, b.name))
}

// model is a tree and a sorted slice beside it.
type model struct {
	tree    *Tree
	pool    *page.Pool
	members members
	list    []entry
}

func newModel() *model {
	m := &model{pool: page.New()}
	m.tree = New(m.pool, &m.members)
	return m
}

func (m *model) insert(t *rapid.T, score float64, name string) {
	e := entry{score, name, m.members.add(name)}
	i, found := slices.BinarySearchFunc(m.list, e, compareEntries)
	if m.tree.Insert(score, []byte(name), e.ref) == found {
		t.Fatalf("Insert(%v, %s) says %v", score, name, !found)
	}
	if !found {
		m.list = slices.Insert(m.list, i, e)
	}
}

// check compares all of the tree with the slice.
func (m *model) check(t *rapid.T) {
	if err := m.tree.check(); err != nil {
		t.Fatal(err)
	}
	if m.tree.Len() != len(m.list) {
		t.Fatalf("%d entries, want %d", m.tree.Len(), len(m.list))
	}
	p := m.tree.First()
	for i, e := range m.list {
		if score, ref := m.tree.Entry(p); score != e.score || ref != e.ref || m.tree.At(i) != p {
			t.Fatalf("entry %d is %v, %d; want %+v", i, score, ref, e)
		}
		p = m.tree.Next(p)
	}
	if !p.End() {
		t.Fatal("there are more entries")
	}
	for i := len(m.list) - 1; i >= 0; i-- {
		if p = m.tree.Prev(p); p != m.tree.At(i) {
			t.Fatalf("entry %d is not met on the way back", i)
		}
	}
	if !m.tree.Prev(p).End() && len(m.list) > 0 {
		t.Fatal("there are entries before the first")
	}
}

// look compares all searches for one place.
func (m *model) look(t *rapid.T, score float64, name string) {
	for kind, b := range map[string]struct {
		bound  Bound
		before func(entry) bool
	}{
		"member":      {AtMember(score, []byte(name)), func(e entry) bool { return compareEntries(e, entry{score, name, 0}) < 0 }},
		"score":       {AtScore(score), func(e entry) bool { return e.score < score }},
		"after score": {AfterScore(score), func(e entry) bool { return e.score <= score }},
	} {
		want := 0
		for want < len(m.list) && b.before(m.list[want]) {
			want++
		}
		if got := m.tree.Rank(b.bound); got != want {
			t.Fatalf("rank of %s %v %q: %d, want %d", kind, score, name, got, want)
		}
		p := m.tree.Seek(b.bound)
		if want == len(m.list) != p.End() || !p.End() && p != m.tree.At(want) {
			t.Fatalf("Seek of %s %v %q: %v, want entry %d", kind, score, name, p, want)
		}
	}
}

func scores() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Map(rapid.IntRange(-6, 6), func(n int) float64 { return float64(n) }),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1)}), rapid.Float64Range(-1e9, 1e9))
}

func names() *rapid.Generator[string] {
	return rapid.Map(rapid.IntRange(0, 300), func(n int) string { return "m" + strconv.Itoa(n) })
}

// TestATreeIsASortedList does random changes to a tree of small nodes, so that it
// is high, and to a sorted slice.
func TestATreeIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel()
		defer m.pool.Close()
		m.tree.leafMost, m.tree.innerMost = 16, 8
		pick := func(t *rapid.T) int {
			if len(m.list) == 0 {
				t.Skip("empty")
			}
			return rapid.IntRange(0, len(m.list)-1).Draw(t, "rank")
		}
		next := 0.0
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) { m.insert(t, scores().Draw(t, "score"), names().Draw(t, "name")) },
			"insert many": func(t *rapid.T) {
				step := rapid.SampledFrom([]float64{1, -1, 0, 0.25}).Draw(t, "step")
				for i := range rapid.IntRange(1, 120).Draw(t, "count") {
					if len(m.list) < 900 {
						m.insert(t, next, "n"+strconv.Itoa(i*7919%1000))
						next += step
					}
				}
			},
			"delete": func(t *rapid.T) {
				i := pick(t)
				e := m.list[i]
				if ref, ok := m.tree.Delete(e.score, []byte(e.name)); !ok || ref != e.ref {
					t.Fatalf("Delete(%+v): %d, %v", e, ref, ok)
				}
				m.list = slices.Delete(m.list, i, i+1)
			},
			"delete many": func(t *rapid.T) {
				at := rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "where")
				for range rapid.IntRange(1, 150).Draw(t, "count") {
					if n := len(m.list); n > 0 {
						i := int(at * float64(n-1))
						if score, ref := m.tree.DeleteAt(i); score != m.list[i].score || ref != m.list[i].ref {
							t.Fatalf("DeleteAt(%d): %v, %d, want %+v", i, score, ref, m.list[i])
						}
						m.list = slices.Delete(m.list, i, i+1)
					}
				}
			},
			"delete what is not there": func(t *rapid.T) {
				if _, ok := m.tree.Delete(scores().Draw(t, "score"), []byte("none")); ok {
					t.Fatal("found")
				}
			},
			"move": func(t *rapid.T) {
				e := &m.list[pick(t)]
				to := m.members.add(e.name)
				m.members[e.ref] = nil // not to be read any more
				m.members[to] = nil
				if m.tree.ReplaceRef(e.score, []byte(e.name), to, e.ref) || !m.tree.ReplaceRef(e.score, []byte(e.name), e.ref, to) {
					t.Fatalf("ReplaceRef(%+v)", *e)
				}
				e.ref = to
				m.members[to] = []byte(e.name)
			},
			"drop": func(*rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") > 0 {
					return
				}
				d := m.tree.Release()
				m.list = nil
				for d.Step(3) {
				}
				if n := m.pool.Stats().InUse; n != 0 {
					t.Fatalf("%d bytes are left", n)
				}
			},
			"": func(t *rapid.T) {
				m.check(t)
				m.look(t, scores().Draw(t, "looked for"), names().Draw(t, "member"))
				if len(m.list) > 0 {
					e := m.list[rapid.IntRange(0, len(m.list)-1).Draw(t, "rank")]
					m.look(t, e.score, e.name)
				}
				if got := m.pool.Stats().InUse; got != int64(m.tree.pages)*page.Size || m.tree.Footprint() < got {
					t.Fatalf("%d bytes in use for %d pages", got, m.tree.pages)
				}
			},
		})
	})
}

func TestBoundsByMemberAlone(t *testing.T) {
	m := newModel()
	defer m.pool.Close()
	for i := range 1000 {
		name := strconv.Itoa(2000 + 2*i)
		m.tree.Insert(0, []byte(name), m.members.add(name))
	}
	for i := range 2002 {
		name := []byte(strconv.Itoa(2000 + i - 1))
		if got, want := m.tree.Rank(AtLex(name)), min(max(0, i/2), 1000); got != want {
			t.Fatalf("%d members are before %s, want %d", got, name, want)
		}
		if got, want := m.tree.Rank(AfterLex(name)), min((i+1)/2, 1000); got != want {
			t.Fatalf("%d members are up to %s, want %d", got, name, want)
		}
	}
}

// orders of inserting n entries: the scores.
var orders = map[string]func(n int) []int{
	"random":     func(n int) []int { return rand.New(rand.NewPCG(1, 2)).Perm(n) },
	"ascending":  ascending,
	"descending": func(n int) []int { list := ascending(n); slices.Reverse(list); return list },
}

func ascending(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// unique is an Order for entries of different scores.
type unique struct{}

func (unique) Compare(uint32, []byte) int { return 0 }

func TestFullSizeNodesStayDense(t *testing.T) {
	const n = 80_000
	for name, order := range orders {
		scores := order(n)
		pool := page.New()
		tree := New(pool, unique{})
		for i, score := range scores {
			tree.Insert(float64(score), nil, uint32(i))
		}
		if err := tree.check(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if each := float64(tree.Footprint()) / n; each > 15.2 || name != "random" && each > 12.5 {
			t.Errorf("%s: %.2f bytes an entry", name, each)
		}
		for _, score := range scores[:n*9/10] {
			tree.Delete(float64(score), nil)
		}
		if err := tree.check(); err != nil {
			t.Fatalf("%s, after deleting: %v", name, err)
		}
		if each := float64(tree.Footprint()) / (n / 10); each > 40 {
			t.Errorf("%s: %.2f bytes an entry after deleting nine in ten", name, each)
		}
		for tree.Len() > 0 {
			tree.DeleteAt(tree.Len() / 2)
		}
		if got := pool.Stats().InUse; got != 0 || tree.check() != nil {
			t.Errorf("%s: %d bytes are left, %v", name, got, tree.check())
		}
		pool.Close()
	}
}

func TestASmallTreeTakesOnePage(t *testing.T) {
	pool := page.New()
	defer pool.Close()
	tree := New(pool, unique{})
	for i := range 129 {
		tree.Insert(float64(-i), nil, uint32(i))
	}
	if got := tree.Footprint(); got > page.Size+256 {
		t.Errorf("129 entries take %d bytes", got)
	}
}

func TestLeavingKeepsEverything(t *testing.T) {
	pool := page.New()
	defer pool.Close()
	tree := New(pool, unique{})
	const n = 200_000
	// Every other page is somebody else's, most of which then go.
	var others []page.Addr
	for i := range n {
		tree.Insert(float64(i), nil, uint32(i))
		for len(others) < 8*tree.pages {
			others = append(others, pool.Alloc(1))
		}
	}
	for _, a := range others {
		pool.Free(a, 1)
	}
	before := pool.Stats().Mapped
	for pool.Trim() > 0 || pool.Draining() != 0 {
		for next := tree.Leave(0, 7); next != 0; {
			next = tree.Leave(next, 7)
		}
	}
	if after := pool.Stats().Mapped; after >= before/2 {
		t.Errorf("%d bytes are mapped, before leaving %d", after, before)
	}
	if err := tree.check(); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if score, _ := tree.Entry(tree.At(i)); score != float64(i) {
			t.Fatalf("entry %d is %v", i, score)
		}
	}
}

func TestChangesAllocateNothing(t *testing.T) {
	m := newModel()
	defer m.pool.Close()
	for i := range 2000 {
		name := strconv.Itoa(i)
		m.tree.Insert(float64(i%10), []byte(name), m.members.add(name))
	}
	name := []byte("name")
	ref := m.members.add("name")
	allocs := testing.AllocsPerRun(100, func() {
		m.tree.Insert(5, name, ref)
		if m.tree.Rank(AtMember(5, name)) == 0 {
			t.Fatal("rank 0")
		}
		for p := m.tree.Seek(AtScore(5)); !p.End(); p = m.tree.Next(p) {
		}
		m.tree.Delete(5, name)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkMillion(b *testing.B) {
	const n = 1_000_000
	// Members as in a set of records: 16 bytes each, read through the reference.
	list := make(members, n)
	for i := range list {
		list[i] = binary.BigEndian.AppendUint64([]byte("member:"), uint64(i))
	}
	for name, order := range orders {
		scores := order(n)
		if name == "descending" {
			continue
		}
		b.Run(name, func(b *testing.B) {
			pool := page.New()
			defer pool.Close()
			tree := New(pool, &list)
			b.Run("insert", func(b *testing.B) {
				for b.Loop() {
					for d := tree.Release(); d.Step(1000); {
					}
					for i, score := range scores {
						tree.Insert(float64(score), list[i], uint32(i))
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/entry")
				b.ReportMetric(float64(tree.Footprint())/n, "bytes/entry")
			})
			i := 0
			random := func() int { i++; return i * 7919 % n }
			b.Run("seek", func(b *testing.B) {
				for b.Loop() {
					i := random()
					tree.Seek(AtMember(float64(scores[i]), list[i]))
				}
			})
			b.Run("rank", func(b *testing.B) {
				for b.Loop() {
					i := random()
					tree.Rank(AtMember(float64(scores[i]), list[i]))
				}
			})
			b.Run("at", func(b *testing.B) {
				for b.Loop() {
					tree.At(random())
				}
			})
			b.Run("delete and insert", func(b *testing.B) {
				for b.Loop() {
					i := random()
					tree.Delete(float64(scores[i]), list[i])
					tree.Insert(float64(scores[i]), list[i], uint32(i))
				}
			})
		})
	}
}
