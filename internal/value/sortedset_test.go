package value

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/page"
	"github.com/bowline-kv/bowline/internal/store"
)

// scoredMember is a member of the model of a sorted set, a slice in order.
type scoredMember struct {
	name  string
	score float64
}

func compareScored(a, b scoredMember) int {
	return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.name, b.name))
}

// sortedSetModel keeps a sorted set in the value of a key, as handlers do: a view
// is made for each change, of what the table has.
type sortedSetModel struct {
	table *store.Table
	key   store.Key
	limit SortedSetLimit
	list  []scoredMember
}

func newSortedSetModel(pool *page.Pool, limit SortedSetLimit) *sortedSetModel {
	const seed = 12345
	table := store.NewTable(pool, seed)
	name := []byte("z")
	return &sortedSetModel{table: table, key: store.Key{Name: name, Hash: store.HashOf(seed, name)}, limit: limit}
}

// view gives what the key has.
func (m *sortedSetModel) view() (z SortedSet, large bool) {
	e, found := m.table.Get(m.key)
	switch {
	case !found:
		return z, false
	case e.Large():
		return SortedSetOf(&e, m.table.Body(&e)), true
	}
	return SortedSetOf(&e, nil), false
}

// change lets a function change the sorted set, and gives it back to the key.
func (m *sortedSetModel) change(f func(z *SortedSet)) {
	z, large := m.view()
	z.Own(nil)
	f(&z)
	packed, body := z.Content()
	switch {
	case z.Len() == 0:
		m.table.Delete(m.key)
	case large:
		m.table.Account(m.key.Slot, body)
	default:
		m.table.Put(m.key, &store.Content{Type: store.ZSet, Value: packed, Body: body})
	}
}

func (m *sortedSetModel) find(name string) int {
	return slices.IndexFunc(m.list, func(s scoredMember) bool { return s.name == name })
}

func (m *sortedSetModel) put(t *rapid.T, name string, score float64) {
	i := m.find(name)
	m.change(func(z *SortedSet) {
		old, existed, fits := z.Put([]byte(name), score, m.limit)
		if !fits {
			z.Grow(m.table.NewSorted())
			old, existed, fits = z.Put([]byte(name), score, m.limit)
		}
		if !fits || existed != (i >= 0) || existed && old != m.list[i].score {
			t.Fatalf("Put(%q, %v) gives %v, %v, %v", name, score, old, existed, fits)
		}
	})
	if i >= 0 {
		m.list = slices.Delete(m.list, i, i+1)
	}
	entry := scoredMember{name, score}
	at, _ := slices.BinarySearchFunc(m.list, entry, compareScored)
	m.list = slices.Insert(m.list, at, entry)
}

// collect gives what a walk visits.
func collect(z *SortedSet, from, n int, back bool) (all []scoredMember) {
	z.Walk(from, n, back, func(e pack.Element, score float64) bool {
		all = append(all, scoredMember{string(e.AppendTo(nil)), score})
		return true
	})
	return all
}

// check compares everything that can be read.
func (m *sortedSetModel) check(t *rapid.T) {
	z, _ := m.view()
	n := len(m.list)
	if z.Len() != n || !slices.Equal(collect(&z, 0, n, false), m.list) {
		t.Fatalf("got %v\nwant %v", collect(&z, 0, z.Len(), false), m.list)
	}
	from := rapid.IntRange(0, n).Draw(t, "from")
	size := rapid.IntRange(0, n-from).Draw(t, "size")
	part := slices.Clone(m.list[from : from+size])
	if got := collect(&z, from, size, false); !slices.Equal(got, part) {
		t.Fatalf("from %d: %v, want %v", from, got, part)
	}
	slices.Reverse(part)
	if got := collect(&z, from, size, true); !slices.Equal(got, part) {
		t.Fatalf("back from %d: %v, want %v", from, got, part)
	}
	name := drawMember(t)
	i := m.find(name)
	score, ok := z.Score([]byte(name))
	rank, ranked, found := z.Rank([]byte(name))
	if ok != (i >= 0) || found != ok || ok && (rank != i || score != m.list[i].score || ranked != score) {
		t.Fatalf("%q has score %v, %v and rank %d, %v", name, score, ok, rank, found)
	}
	m.checkRanges(t, &z)
}

func (m *sortedSetModel) checkRanges(t *rapid.T, z *SortedSet) {
	r := ScoreRange{drawScore(t), drawScore(t), rapid.Bool().Draw(t, "open"), rapid.Bool().Draw(t, "open")}
	first, n := -1, 0
	for i, s := range m.list {
		if (s.score > r.Min || s.score == r.Min && !r.MinOpen) && (s.score < r.Max || s.score == r.Max && !r.MaxOpen) {
			if n++; first < 0 {
				first = i
			}
		}
	}
	if from, got := z.ByScore(&r); got != n || n > 0 && from != first {
		t.Fatalf("%+v is %d from %d, want %d from %d", r, got, from, n, first)
	}
	if len(m.list) > 0 && m.list[0].score != m.list[len(m.list)-1].score {
		return // ranges of members are defined for equal scores
	}
	low, high := drawEnd(t), drawEnd(t)
	first, n = -1, 0
	for i, s := range m.list {
		e := pack.String([]byte(s.name))
		if !low.before(e) && !high.behind(e) {
			if n++; first < 0 {
				first = i
			}
		}
	}
	for _, back := range []bool{false, true} {
		if from, got := z.ByLex(&low, &high, back); got != n || n > 0 && from != first {
			t.Fatalf("%+v to %+v (back %v) is %d from %d, want %d from %d", low, high, back, got, from, n, first)
		}
	}
}

func drawMember(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		"", "a", "b", "c", "d", "e", "f", "0", "1", "12", "127", "128", "-1", "-300", "70000", "9223372036854775807",
		"007", "1.5", "\xff", strings.Repeat("l", 9), strings.Repeat("l", 100), strings.Repeat("l", 5000),
	}).Draw(t, "member")
}

func drawScore(t *rapid.T) float64 {
	return rapid.SampledFrom([]float64{
		0, 0, 0, 1, 1, 2, 200, -1, 0.1, -2.5, math.Inf(1), math.Inf(-1), 1e300, 5e-324, 1 << 53, 1<<62 + 1024, -1 << 63, math.MaxFloat64,
	}).Draw(t, "score")
}

func drawEnd(t *rapid.T) LexEnd {
	if edge := rapid.IntRange(-1, 1).Draw(t, "edge"); edge != 0 {
		return LexEnd{Edge: edge}
	}
	return LexEnd{Member: []byte(drawMember(t)), Open: rapid.Bool().Draw(t, "open")}
}

func TestSortedSetsOverAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := page.New()
		defer pool.Close()
		m := newSortedSetModel(pool, SortedSetLimit{Entries: rapid.IntRange(0, 20).Draw(t, "entries"), Value: rapid.SampledFrom([]int{8, 64, 6000}).Draw(t, "value")})
		equal := rapid.Bool().Draw(t, "equal") // all scores
		draw := func(t *rapid.T) float64 {
			if equal {
				return 1
			}
			return drawScore(t)
		}
		t.Repeat(map[string]func(*rapid.T){
			"put":  func(t *rapid.T) { m.put(t, drawMember(t), draw(t)) },
			"more": func(t *rapid.T) { m.put(t, drawMember(t), draw(t)) },
			"remove": func(t *rapid.T) {
				name := drawMember(t)
				i := m.find(name)
				if i >= 0 {
					m.list = slices.Delete(m.list, i, i+1)
				}
				m.change(func(z *SortedSet) {
					if z.Len() > 0 && z.Remove([]byte(name)) != (i >= 0) {
						t.Fatalf("Remove(%q) does not give %v", name, i >= 0)
					}
				})
			},
			"removeRange": func(t *rapid.T) {
				from := rapid.IntRange(0, len(m.list)).Draw(t, "from")
				n := rapid.IntRange(0, min(3, len(m.list)-from)).Draw(t, "n")
				m.list = slices.Delete(m.list, from, from+n)
				m.change(func(z *SortedSet) { z.RemoveRange(from, n) })
			},
			"": m.check,
		})
	})
}

// TestSortedSetsGetLargeAtTheirLimits, and stay it.
func TestSortedSetsGetLargeAtTheirLimits(t *testing.T) {
	pool := page.New()
	t.Cleanup(pool.Close)
	long := bytes.Repeat([]byte{'x'}, 65)
	for _, c := range []struct {
		members int
		last    []byte
		want    string
	}{
		{3, nil, "listpack"}, {4, nil, "skiplist"}, {1, long[:64], "listpack"}, {1, long, "skiplist"},
	} {
		table := store.NewTable(pool, 1)
		key := store.Key{Name: []byte("k"), Hash: store.HashOf(1, []byte("k"))}
		var z SortedSet
		z.Own(nil)
		put := func(member []byte) {
			if _, _, fits := z.Put(member, 1, SortedSetLimit{Entries: 3, Value: 64}); !fits {
				z.Grow(table.NewSorted())
				z.Put(member, 1, SortedSetLimit{})
			}
		}
		for i := range c.members {
			put(fmt.Append(nil, i))
		}
		if c.last != nil {
			put(c.last)
		}
		packed, body := z.Content()
		table.Put(key, &store.Content{Type: store.ZSet, Value: packed, Body: body})
		e, _ := table.Get(key)
		if got := EncodingSortedSet(&e); got != c.want {
			t.Errorf("%d members and %d bytes: %s, want %s", c.members, len(c.last), got, c.want)
		}
		n := 0
		VisitSortedSet(&e, body, func(pack.Element, float64) bool {
			n++
			return true
		})
		if n != z.Len() {
			t.Errorf("%d of %d members are visited", n, z.Len())
		}
		table.Clear()
	}
}

// TestPackedScores: Redis reads what is packed, so that its form matters.
func TestPackedScores(t *testing.T) {
	for _, c := range []struct {
		score float64
		want  string
	}{
		{0, "0"}, {math.Copysign(0, -1), "0"}, {1, "1"}, {-17, "-17"}, {1e17, "100000000000000000"}, {1 << 62, "4611686018427387904"}, {1 << 63, "9.223372036854776e+18"},
		{0.1, "0.1"}, {1e300, "1e+300"}, {5e-324, "5e-324"}, {math.Inf(1), "inf"}, {math.Inf(-1), "-inf"}, {-2.5, "-2.5"}, {1.0 / 3, "0.3333333333333333"},
	} {
		var room [scoreRoom]byte
		it := scoreItem(c.score, room[:])
		p := pack.New(0)
		p = p.InsertItem(p.End(), &it)
		got, read := string(p.Get(p.First()).AppendTo(nil)), packedScore(p, p.First())
		if got != c.want || read != c.score {
			t.Errorf("%v is packed as %s and read as %v, want %s", c.score, got, read, c.want)
		}
	}
}

// TestSamplesOfSortedSetsAreEven draws two of ten members, from both forms.
func TestSamplesOfSortedSetsAreEven(t *testing.T) {
	pool := page.New()
	t.Cleanup(pool.Close)
	for _, entries := range []int{0, 100} {
		table := store.NewTable(pool, 1)
		var z SortedSet
		z.Own(nil)
		if entries == 0 {
			z.Grow(table.NewSorted())
		}
		for i := range 10 {
			z.Put(fmt.Append(nil, i), float64(i), SortedSetLimit{Entries: entries, Value: 64})
		}
		state := uint64(1)
		random := func() uint64 { // splitmix64
			state += 0x9e3779b97f4a7c15
			x := state
			x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
			x = (x ^ x>>27) * 0x94d049bb133111eb
			return x ^ x>>31
		}
		var seen, single [10]int
		const rounds = 10_000
		for range rounds {
			last := -1
			z.Sample(2, random, func(_ pack.Element, score float64) {
				if int(score) == last {
					t.Fatal("a member is sampled twice")
				}
				last = int(score)
				seen[last]++
			})
			_, score := z.Random(random)
			single[int(score)]++
		}
		for i := range seen {
			if seen[i] < rounds/5*9/10 || seen[i] > rounds/5*11/10 || single[i] < rounds/10*8/10 || single[i] > rounds/10*12/10 {
				t.Errorf("member %d comes %d times in pairs and %d times alone", i, seen[i], single[i])
			}
		}
	}
}

// TestAScanOfASortedSetFindsEveryMember once, when nothing changes meanwhile.
func TestAScanOfASortedSetFindsEveryMember(t *testing.T) {
	pool := page.New()
	t.Cleanup(pool.Close)
	var z SortedSet
	z.Own(nil)
	z.Grow(store.NewTable(pool, 1).NewSorted())
	const members = 5000
	for i := range members {
		z.Put(fmt.Append(nil, i), float64(i)/2, SortedSetLimit{})
	}
	seen := map[string]float64{}
	calls := 0
	for cursor := uint64(0); ; calls++ {
		cursor = z.Scan(cursor, 10, func(e pack.Element, score float64) { seen[string(e.AppendTo(nil))] = score })
		if cursor == 0 {
			break
		}
	}
	if len(seen) != members || seen["4999"] != 2499.5 || calls < members/100 {
		t.Errorf("%d of %d members are found in %d calls, 4999 with score %v", len(seen), members, calls, seen["4999"])
	}
}
