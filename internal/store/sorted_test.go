package store

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/ds/tree"
	"github.com/bowline-kv/bowline/internal/page"
)

// checkSorted compares the order of a sorted set with its members: each entry
// names a member's record, and has its score.
func (b *Body) checkSorted() error {
	if b.Order.Len() != b.Members.Len() {
		return fmt.Errorf("%d members, %d in order", b.Members.Len(), b.Order.Len())
	}
	var last []byte
	before := math.Inf(-1)
	for p := b.Order.First(); !p.End(); p = b.Order.Next(p) {
		score, r := b.Order.Entry(p)
		member := b.Member(r)
		k := b.Members.Key(member)
		switch {
		case b.Members.find(&k).ref != ref(r):
			return fmt.Errorf("entry of %q names another record", member)
		case b.Members.scoreAt(ref(r)) != score:
			return fmt.Errorf("%q has score %v in order, %v as a member", member, score, b.Members.scoreAt(ref(r)))
		case last != nil && (score < before || score == before && bytes.Compare(last, member) >= 0):
			return fmt.Errorf("%q of %v stands behind %q of %v", member, score, last, before)
		}
		last, before = member, score
	}
	return nil
}

// sortedModel is a sorted set as a map, beside a real one that is the value of a
// key.
type sortedModel struct {
	table  *Table
	key    Key
	body   *Body
	scores map[string]float64
}

func newSortedModel(pool *page.Pool) *sortedModel {
	m := &sortedModel{table: NewTable(pool, testSeed), key: keyFor(0, "z"), scores: map[string]float64{}}
	m.body = m.table.NewSorted()
	m.table.Put(m.key, &Content{Type: ZSet, Body: m.body})
	return m
}

type scoredName struct {
	name  string
	score float64
}

func (m *sortedModel) sorted() []scoredName {
	all := make([]scoredName, 0, len(m.scores))
	for name, score := range m.scores {
		all = append(all, scoredName{name, score})
	}
	slices.SortFunc(all, func(a, b scoredName) int { return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.name, b.name)) })
	return all
}

func (m *sortedModel) check() error {
	m.table.Account(m.key.Slot, m.body)
	if err := m.table.check(); err != nil {
		return err
	}
	want := m.sorted()
	if m.body.Order.Len() != len(want) {
		return fmt.Errorf("%d members, want %d", m.body.Order.Len(), len(want))
	}
	p := m.body.Order.First()
	for _, w := range want {
		score, r := m.body.Order.Entry(p)
		if name := string(m.body.Member(r)); name != w.name || score != w.score {
			return fmt.Errorf("%q of %v, want %q of %v", name, score, w.name, w.score)
		}
		p = m.body.Order.Next(p)
	}
	return nil
}

// name draws a member; some have long names, and one is larger than a page.
func (m *sortedModel) name(t *rapid.T) string {
	n := rapid.IntRange(0, 1000).Draw(t, "member")
	name := numbered(n)
	switch n % 100 {
	case 0:
		name += string(bytes.Repeat([]byte{'x'}, 100))
	case 1:
		name += string(bytes.Repeat([]byte{'x'}, 5000))
	}
	return name
}

func (m *sortedModel) set(t *rapid.T, name string, score float64) {
	want, existed := m.scores[name]
	old, found := m.body.SetScore([]byte(name), score)
	if found != existed || old != want {
		t.Fatalf("SetScore(%q) gives %v, %v; want %v, %v", name, old, found, want, existed)
	}
	m.scores[name] = score
}

func drawScore(t *rapid.T) float64 {
	return rapid.SampledFrom([]float64{0, 1, 2, -1, math.Inf(1), math.Inf(-1), 0.5, 1e300}).Draw(t, "score")
}

func TestSortedSetsOverAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := page.New()
		defer pool.Close()
		m := newSortedModel(pool)
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) { m.set(t, m.name(t), drawScore(t)) },
			"fill": func(t *rapid.T) {
				from, n := rapid.IntRange(0, 700).Draw(t, "from"), rapid.IntRange(1, 300).Draw(t, "n")
				score := drawScore(t)
				for i := range n {
					m.set(t, numbered(from+i), score+float64(i%7))
				}
			},
			"remove": func(t *rapid.T) {
				name := m.name(t)
				want, existed := m.scores[name]
				if score, ok := m.body.RemoveMember([]byte(name)); ok != existed || score != want {
					t.Fatalf("RemoveMember(%q) gives %v, %v; want %v, %v", name, score, ok, want, existed)
				}
				delete(m.scores, name)
			},
			"removeRanks": func(t *rapid.T) {
				all := m.sorted()
				if len(all) == 0 {
					return
				}
				from := rapid.IntRange(0, len(all)-1).Draw(t, "from")
				n := rapid.IntRange(1, len(all)-from).Draw(t, "n")
				for _, e := range all[from : from+n] {
					m.body.RemoveRank(from)
					delete(m.scores, e.name)
				}
			},
			"score": func(t *rapid.T) {
				name := m.name(t)
				want, existed := m.scores[name]
				if score, ok := m.body.Score([]byte(name)); ok != existed || score != want {
					t.Fatalf("Score(%q) gives %v, %v; want %v, %v", name, score, ok, want, existed)
				}
			},
			"step": func(t *rapid.T) { m.table.Step(rapid.IntRange(1, 5000).Draw(t, "budget")) },
			"clone": func(t *rapid.T) {
				m.table.Account(m.key.Slot, m.body)
				m.body = m.table.Clone(m.body)
				m.table.Put(m.key, &Content{Type: ZSet, Body: m.body})
			},
			"": func(t *rapid.T) {
				if err := m.check(); err != nil {
					t.Fatal(err)
				}
			},
		})
		m.table.Clear()
		for m.table.Step(1 << 20) {
		}
		if n := pool.Stats().InUse; n != 0 {
			t.Fatalf("%d bytes are not given back", n)
		}
	})
}

// TestSortedSetsFollowTheirRecords: when most of a sorted set was removed, its
// records are moved together, and the order names them at their new places.
func TestSortedSetsFollowTheirRecords(t *testing.T) {
	pool := page.New()
	t.Cleanup(pool.Close)
	m := newSortedModel(pool)
	const members = 20_000
	for i := range members {
		name := numbered(i)
		m.body.SetScore([]byte(name), float64(i%100))
		m.scores[name] = float64(i % 100)
	}
	for i := range members {
		if i%8 != 0 {
			m.body.RemoveMember([]byte(numbered(i)))
			delete(m.scores, numbered(i))
		}
	}
	m.table.Account(m.key.Slot, m.body)
	before := m.body.Members.pages
	for m.table.Step(100) {
	}
	if err := m.check(); err != nil {
		t.Fatal(err)
	}
	if after := m.body.Members.pages; after > before/2 {
		t.Errorf("%d of %d pages are left", after, before)
	}
}

// TestMemoryOfAMemberOfASortedSet holds the cost of a large sorted set of members
// of 16 bytes, in whole pages, that were added in random order.
func TestMemoryOfAMemberOfASortedSet(t *testing.T) {
	const (
		members  = 50_000
		bytesMax = 75
	)
	pool := page.New()
	t.Cleanup(pool.Close)
	table := NewTable(pool, testSeed)
	b := table.NewSorted()
	for i := range members {
		n := i * 7919 % members
		b.SetScore(fmt.Appendf(nil, "member:%09d", n), float64(n*31%members))
	}
	if each := float64(pool.Stats().InUse) / members; each > bytesMax {
		t.Errorf("a member takes %.1f bytes, want at most %d", each, bytesMax)
	} else {
		t.Logf("a member takes %.1f bytes", each)
	}
	if n := b.Order.Rank(tree.AtScore(members / 2)); n != members/2 {
		t.Errorf("%d members are below the middle", n)
	}
}
