package store

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/page"
)

// imageModel is a collection that changes and moves while an image of it is read.
type imageModel struct {
	*rapid.T
	tables  [2]*Table
	at      int // the table that has it
	key     Key
	body    *Body // nil: the key is gone
	ordered bool
	space   int // of member numbers
	got     map[string]string
}

func describeMember(e *Entry, ordered bool) string {
	if ordered {
		return fmt.Sprint(e.Score())
	}
	return fmt.Sprintf("%d %q", e.ExpireAt, e.Value)
}

func (m *imageModel) content() map[string]string {
	all := map[string]string{}
	m.body.Members.Each(func(k Key, e Entry) { all[string(k.Name)] = describeMember(&e, m.ordered) })
	return all
}

func (m *imageModel) take(name []byte, e *Entry) {
	if _, twice := m.got[string(name)]; twice {
		m.Fatalf("%q comes twice", name)
	}
	m.got[string(name)] = describeMember(e, m.ordered)
}

// KeepMember implements Keeper.
func (m *imageModel) KeepMember(name []byte, e *Entry) { m.take(name, e) }

// KeepNode implements Keeper.
func (m *imageModel) KeepNode(int) { m.Fatal("not a list") }

func (m *imageModel) member() Key {
	return m.body.Members.Key([]byte(numbered(rapid.IntRange(0, m.space).Draw(m.T, "member"))))
}

func (m *imageModel) set(k Key) {
	n := rapid.IntRange(0, 5).Draw(m.T, "value")
	switch {
	case m.ordered:
		m.body.SetScore(k.Name, float64(n)/2)
	case n == 0:
		m.body.Members.Add(k, String, nil)
	default:
		m.body.Members.SetRecord(k, String, fmt.Appendf(nil, "%0*d", n*n*n*20, n), int64(n/4*1000))
	}
}

func (m *imageModel) remove(k Key) {
	if m.ordered {
		m.body.RemoveMember(k.Name)
	} else {
		m.body.Members.Delete(k)
	}
}

func (m *imageModel) change() {
	if m.body == nil {
		return
	}
	switch rapid.IntRange(0, 9).Draw(m.T, "change") {
	case 0, 1:
		m.set(m.member())
	case 2:
		m.remove(m.member())
	case 3, 4:
		first, n := rapid.IntRange(0, m.space).Draw(m.T, "first"), rapid.IntRange(0, m.space/2).Draw(m.T, "many")
		remove := rapid.Bool().Draw(m.T, "remove")
		for i := range n {
			if k := m.body.Members.Key([]byte(numbered(first + i))); remove {
				m.remove(k)
			} else {
				m.set(k)
			}
		}
	case 5:
		if m.ordered && m.body.Len() > 0 {
			m.body.RemoveRank(rapid.IntRange(0, m.body.Len()-1).Draw(m.T, "rank"))
		} else if !m.ordered {
			m.body.Members.SetExpiry(m.member(), rapid.Int64Range(0, 3).Draw(m.T, "time"))
		}
	case 6:
		m.tables[m.at].Account(m.key.Slot, m.body)
		m.tables[m.at].Step(rapid.IntRange(1, 3000).Draw(m.T, "budget"))
	case 7:
		m.move()
	case 8:
		if rapid.IntRange(0, 5).Draw(m.T, "drop") == 0 {
			m.tables[m.at].Delete(m.key)
			m.body = nil
		}
	}
}

// move gives the body to another key, maybe of another table.
func (m *imageModel) move() {
	body, typ := m.tables[m.at].Detach(m.key), Hash
	if m.ordered {
		typ = ZSet
	}
	m.at = rapid.IntRange(0, 1).Draw(m.T, "to")
	m.key = keyFor(rapid.IntRange(0, 3).Draw(m.T, "slot"), "moved")
	m.tables[m.at].Put(m.key, &Content{Type: typ, Body: body})
}

// TestAnImageIsTheCollectionAtItsMoment changes hashes and sorted sets between the
// steps of a reader.
func TestAnImageIsTheCollectionAtItsMoment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := page.New()
		defer pool.Close()
		m := &imageModel{T: t, ordered: rapid.Bool().Draw(t, "ordered"), space: rapid.SampledFrom([]int{10, 300, 3000}).Draw(t, "space"), key: keyFor(0, "k")}
		m.tables = [2]*Table{NewTable(pool, testSeed), NewTable(pool, testSeed)}
		n := &Content{Type: Hash, Body: m.tables[0].NewBody()}
		if m.ordered {
			n = &Content{Type: ZSet, Body: m.tables[0].NewSorted()}
		}
		m.tables[0].Put(m.key, n)
		m.body = n.Body
		for range rapid.IntRange(1, 2).Draw(t, "images") {
			if m.body == nil {
				break
			}
			for i := range rapid.IntRange(0, m.space).Draw(t, "members") {
				m.set(m.body.Members.Key([]byte(numbered(i))))
			}
			m.readImage()
		}
		for _, table := range m.tables {
			if err := table.check(); err != nil {
				t.Fatal(err)
			}
			table.Clear()
		}
		if n := pool.Stats().InUse; n != 0 {
			t.Fatalf("%d bytes are not given back", n)
		}
	})
}

func (m *imageModel) readImage() {
	want := m.content()
	m.got = map[string]string{}
	im := m.tables[m.at].Image(&m.key, m.body, m)
	givenUp := rapid.IntRange(0, 40).Draw(m.T, "steps")
	done := false
	for !done && givenUp > 0 {
		for range rapid.IntRange(0, 4).Draw(m.T, "changes") {
			m.change()
		}
		if m.body != nil && im.Slot() != m.key.Slot {
			m.Fatalf("the image says slot %d, the key is in %d", im.Slot(), m.key.Slot)
		}
		left := rapid.IntRange(1, 200).Draw(m.T, "size")
		if givenUp--; givenUp == 1 {
			left = 1 << 30
		}
		done = im.Walk(m.take, func() bool {
			left -= 10
			return left < 0
		})
	}
	if done && !maps.Equal(m.got, want) {
		m.Fatalf("read %d members, want %d", len(m.got), len(want))
	}
	left := im.End()
	if m.body != nil {
		m.tables[m.at].Account(m.key.Slot, m.body)
	}
	for left != nil && left.Step(1000) {
	}
}
