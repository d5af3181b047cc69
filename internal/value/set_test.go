package value

import (
	"maps"
	"runtime"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/ds/intset"
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/page"
	"github.com/bowline-kv/bowline/internal/store"
)

// setModel is a set in a table, and what it should be.
type setModel struct {
	table   *store.Table
	key     store.Key
	members map[string]bool
	limit   SetLimit
}

func (m *setModel) view() (s Set, e store.Entry) {
	e, found := m.table.Get(m.key)
	switch {
	case !found:
	case e.Large():
		s = SetOf(&e, m.table.Body(&e))
	default:
		s = SetOf(&e, nil)
	}
	return s, e
}

func (m *setModel) change(command func(s *Set)) {
	s, _ := m.view()
	s.Own(nil)
	command(&s)
	packed, body := s.Content()
	if s.Len() == 0 {
		m.table.Delete(m.key)
		return
	}
	m.table.Put(m.key, &store.Content{Type: store.Set, Value: packed, Body: body})
}

func (m *setModel) add(s *Set, v string) (added bool) {
	added, fits := s.Add([]byte(v), m.limit)
	if !fits {
		s.Grow(m.table.NewBody())
		added, _ = s.Add([]byte(v), m.limit)
	}
	return added
}

func (m *setModel) check(t *rapid.T) {
	s, e := m.view()
	got := map[string]bool{}
	s.Each(func(e pack.Element) bool {
		if got[text(e)] {
			t.Fatalf("member %q comes twice", text(e))
		}
		got[text(e)] = true
		if !s.HasElement(e) {
			t.Fatalf("member %q is not found", text(e))
		}
		return true
	})
	if !maps.Equal(m.members, got) || s.Len() != len(got) {
		t.Fatalf("%d members %v, want %v", s.Len(), got, m.members)
	}
	for _, v := range someTexts {
		if s.Has([]byte(v)) != m.members[v] {
			t.Fatalf("member %q: %v, want %v", v, !m.members[v], m.members[v])
		}
	}
	if e.Type == store.None || e.Large() {
		return
	}
	valid := intset.Set(e.Value[1:]).Valid()
	if EncodingSet(&e) == "listpack" {
		valid = pack.Pack(e.Value[1:]).Valid() && len(got) <= m.limit.Entries
	}
	if !valid {
		t.Fatalf("%s that is not valid: %q", EncodingSet(&e), e.Value)
	}
}

// TestSetIsASet does random commands on a set in its three forms.
func TestSetIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &setModel{table: store.NewTable(page.New(), 1), members: map[string]bool{}, limit: SetLimit{
			Ints:    rapid.SampledFrom([]int{0, 2, 512}).Draw(t, "ints"),
			Entries: rapid.SampledFrom([]int{0, 3, 128}).Draw(t, "entries"),
			Value:   rapid.SampledFrom([]int{2, 64}).Draw(t, "value"),
		}}
		m.key = m.table.Key([]byte("key"))
		member := rapid.SampledFrom(someTexts)
		t.Repeat(map[string]func(*rapid.T){
			"": m.check,
			"add": func(t *rapid.T) {
				v := member.Draw(t, "member")
				m.change(func(s *Set) {
					if m.add(s, v) == m.members[v] {
						t.Fatalf("added %q: %v", v, m.members[v])
					}
				})
				m.members[v] = true
			},
			"remove": func(t *rapid.T) {
				v := member.Draw(t, "member")
				m.change(func(s *Set) {
					if s.Remove([]byte(v)) != m.members[v] {
						t.Fatalf("removed %q: %v", v, !m.members[v])
					}
				})
				delete(m.members, v)
			},
			"chance": func(t *rapid.T) {
				s, _ := m.view()
				random := dice(rapid.Uint64().Draw(t, "seed"))
				if s.Len() > 0 && !m.members[text(s.Random(random()))] {
					t.Fatal("a member by chance that is none")
				}
				n := rapid.IntRange(0, s.Len()).Draw(t, "n")
				found := map[string]bool{}
				s.Sample(n, random, func(e pack.Element) { found[text(e)] = m.members[text(e)] })
				if len(found) != n {
					t.Fatalf("sampled %d different members, want %d", len(found), n)
				}
			},
		})
	})
}

// TestSetForms follows the forms of Redis 7.4.
func TestSetForms(t *testing.T) {
	limit := SetLimit{Ints: 3, Entries: 3, Value: 5}
	for _, test := range []struct {
		members []string
		want    string
	}{
		{[]string{"1", "2", "3"}, "intset"},
		{[]string{"1", "2", "3", "4"}, "hashtable"},
		{[]string{"1", "a"}, "listpack"},
		{[]string{"a", "1", "2"}, "listpack"},
		{[]string{"1", "2", "a"}, "listpack"},
		{[]string{"1", "2", "3", "a"}, "hashtable"},
		{[]string{"a", "b", "c", "d"}, "hashtable"},
		{[]string{"toolong"}, "hashtable"},
		{[]string{"1234567", "1"}, "intset"},
		{[]string{"1234567", "a"}, "hashtable"},
		{[]string{"-12345", "a"}, "hashtable"},
		{[]string{"01"}, "listpack"},
	} {
		m := &setModel{table: store.NewTable(page.New(), 1), limit: limit}
		m.key = m.table.Key([]byte("key"))
		for _, v := range test.members {
			m.change(func(s *Set) { m.add(s, v) })
		}
		if _, e := m.view(); EncodingSet(&e) != test.want {
			t.Errorf("%q: %s, want %s", test.members, EncodingSet(&e), test.want)
		}
		runtime.KeepAlive(m) // whose end would be that of the pages
	}
}

// TestALargeSetIsVisitedOnce counts the members of sets of many sizes, where a scan
// in parts would come to some of them twice.
func TestALargeSetIsVisitedOnce(t *testing.T) {
	pool := page.New()
	t.Cleanup(pool.Close)
	table := store.NewTable(pool, 1)
	body := table.NewBody()
	for i := range 5000 {
		member := strconv.AppendInt([]byte("member:"), int64(i), 10)
		body.Members.Add(body.Members.Key(member), store.String, nil)
		if i%97 != 0 {
			continue
		}
		seen := map[string]bool{}
		visits := 0
		VisitSet(&store.Entry{Type: store.Set}, body, func(e pack.Element) bool {
			visits++
			seen[string(e.AppendTo(nil))] = true
			return true
		})
		if visits != i+1 || len(seen) != i+1 {
			t.Fatalf("%d visits of %d of %d members", visits, len(seen), i+1)
		}
	}
	visits := 0
	VisitSet(&store.Entry{Type: store.Set}, body, func(pack.Element) bool {
		visits++
		return visits < 7
	})
	if visits != 7 {
		t.Fatalf("%d visits, want 7", visits)
	}
}
