package value

import (
	"bytes"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/bowline-kv/bowline/internal/ds/chain"
	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/page"
	"github.com/bowline-kv/bowline/internal/store"
)

// listModel is a list in a table, and a slice beside it.
type listModel struct {
	table *store.Table
	key   store.Key
	limit chain.Limit
	list  [][]byte
	buf   []byte
}

// view opens the list as a command does.
func (m *listModel) view() (l List, large bool) {
	e, ok := m.table.Get(m.key)
	switch {
	case !ok:
		return List{}, false
	case e.Large():
		return ListOf(&e, m.table.Body(&e)), true
	}
	return ListOf(&e, nil), false
}

// change does what a command does around a change.
func (m *listModel) change(values [][]byte, change func(l *List)) {
	l, large := m.view()
	l.Own(m.buf)
	size := 0
	for _, v := range values {
		size += len(v)
	}
	if !l.Fits(m.limit, len(values), size) {
		l.Grow(m.table.NewList(m.limit), m.limit, len(values), size)
	}
	change(&l)
	if large {
		l.Shrink(m.limit, nil)
	}
	packed, body := l.Content()
	switch {
	case l.Len() == 0:
		m.table.Delete(m.key)
	case large && body != nil:
		m.table.Account(m.key.Slot, body)
	default:
		m.table.Put(m.key, &store.Content{Type: store.List, Value: packed, Body: body})
		m.buf = packed
	}
}

func (m *listModel) compare(t *rapid.T) {
	l, large := m.view()
	var all, back [][]byte
	l.Each(0, func(e pack.Element) bool { all = append(all, e.AppendTo(nil)); return true })
	if l.Len() > 0 {
		l.EachBack(l.Len()-1, func(e pack.Element) bool { back = append(back, e.AppendTo(nil)); return true })
	}
	slices.Reverse(back)
	if l.Len() != len(m.list) || !slices.EqualFunc(all, m.list, bytes.Equal) || !slices.EqualFunc(back, m.list, bytes.Equal) {
		t.Fatalf("the list is %q, from its end %q, want %q", all, back, m.list)
	}
	if len(m.list) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.list)-1).Draw(t, "i")
	if !l.Get(i).Equal(m.list[i]) {
		t.Fatalf("element %d is not %q", i, m.list[i])
	}
	if small := l.bytes() <= packedList/2 && m.limit.Packed(2*l.bytes(), 2*l.Len()); large && small && l.body.Items.Nodes() == 1 {
		t.Fatalf("%d bytes are not packed", l.bytes())
	}
	part := 0
	l.Each(i, func(pack.Element) bool { part++; return true })
	if part != len(m.list)-i {
		t.Fatalf("%d elements from %d on, want %d", part, i, len(m.list)-i)
	}
}

func listValue() *rapid.Generator[[]byte] {
	return rapid.OneOf(
		rapid.Map(rapid.IntRange(-3, 3), func(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }),
		rapid.Map(rapid.SampledFrom([]int{0, 1, 50, 700, 3000, 9000}), func(n int) []byte { return bytes.Repeat([]byte("x"), n) }),
	)
}

func TestAListIsTheSameInBothForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := page.New()
		defer pool.Close()
		m := &listModel{table: store.NewTable(pool, 7), limit: chain.LimitOf(rapid.SampledFrom([]int{-1, 2, 8, 128}).Draw(t, "limit"))}
		m.key = m.table.Key([]byte("key"))
		at := func(t *rapid.T) int { return rapid.IntRange(0, max(0, len(m.list)-1)).Draw(t, "at") }
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				values := rapid.SliceOfN(listValue(), 1, 5).Draw(t, "values")
				front := rapid.Bool().Draw(t, "front")
				m.change(values, func(l *List) {
					for _, v := range values {
						l.Push(v, front)
					}
				})
				if front {
					slices.Reverse(values)
					m.list = append(values, m.list...)
				} else {
					m.list = append(m.list, values...)
				}
			},
			"drop": func(t *rapid.T) {
				front := rapid.Bool().Draw(t, "front")
				if len(m.list) == 0 {
					return
				}
				last := len(m.list) - 1
				m.change(nil, func(l *List) {
					want := m.list[last]
					if front {
						want = m.list[0]
					}
					if !l.End(front).Equal(want) {
						t.Fatalf("the end is not %q", want)
					}
					l.Drop(front)
				})
				if front {
					m.list = m.list[1:]
				} else {
					m.list = m.list[:last]
				}
			},
			"set": func(t *rapid.T) {
				v := listValue().Draw(t, "value")
				if i := at(t); len(m.list) > 0 {
					m.change([][]byte{v}, func(l *List) { l.Set(i, v) })
					m.list = slices.Clone(m.list)
					m.list[i] = v
				}
			},
			"insert": func(t *rapid.T) {
				v, before := listValue().Draw(t, "value"), rapid.Bool().Draw(t, "before")
				if i := at(t); len(m.list) > 0 {
					m.change([][]byte{v}, func(l *List) { l.Insert(i, before, v) })
					if !before {
						i++
					}
					m.list = slices.Insert(slices.Clone(m.list), i, v)
				}
			},
			"keep": func(t *rapid.T) {
				i := rapid.IntRange(0, len(m.list)).Draw(t, "i")
				n := rapid.IntRange(0, len(m.list)-i).Draw(t, "n")
				if len(m.list) > 0 {
					m.change(nil, func(l *List) { l.Keep(i, n) })
					m.list = m.list[i : i+n]
				}
			},
			"remove": func(t *rapid.T) {
				v, most, back := listValue().Draw(t, "value"), rapid.IntRange(1, 5).Draw(t, "most"), rapid.Bool().Draw(t, "back")
				if len(m.list) == 0 {
					return
				}
				left := slices.Clone(m.list)
				if back {
					slices.Reverse(left)
				}
				removed := 0
				left = slices.DeleteFunc(left, func(x []byte) bool {
					if removed < most && bytes.Equal(x, v) {
						removed++
						return true
					}
					return false
				})
				if back {
					slices.Reverse(left)
				}
				m.change(nil, func(l *List) {
					if n := l.Remove(v, most, back); n != removed {
						t.Fatalf("%d removed, want %d", n, removed)
					}
				})
				m.list = left
			},
			"": m.compare,
		})
		m.table.Clear()
		if n := pool.Stats().InUse; n != 0 {
			t.Fatalf("%d bytes are not given back", n)
		}
	})
}

// TestListsChangeTheirFormAtTheLimits, with room between the two so that a list
// does not go back and forth.
func TestListsChangeTheirFormAtTheLimits(t *testing.T) {
	pool := page.New()
	defer pool.Close()
	for _, c := range []struct {
		setting, value      int // list-max-listpack-size, bytes of an element
		most, packedAgainAt int // elements
	}{
		{-2, 100, 79, 39}, // 103 bytes each in at most 8192, and 7 around them
		{-1, 10, 340, 170},
		{10, 5, 10, 5},
	} {
		m := &listModel{table: store.NewTable(pool, 7), limit: chain.LimitOf(c.setting)}
		m.key = m.table.Key([]byte("key"))
		v := bytes.Repeat([]byte("x"), c.value)
		encoding := func() string {
			l, _ := m.view()
			return EncodingList(l.body)
		}
		n := 0
		for ; n == 0 || encoding() == "listpack"; n++ {
			m.change([][]byte{v}, func(l *List) { l.Push(v, false) })
		}
		if n-1 != c.most {
			t.Errorf("%d elements of %d bytes are packed with %d, want %d", n-1, c.value, c.setting, c.most)
		}
		for ; encoding() == "quicklist"; n-- {
			m.change(nil, func(l *List) { l.Drop(false) })
		}
		if n != c.packedAgainAt {
			t.Errorf("%d elements of %d bytes are packed again with %d, want %d", n, c.value, c.setting, c.packedAgainAt)
		}
		m.table.Clear()
	}
}
