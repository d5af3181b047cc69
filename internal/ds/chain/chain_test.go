package chain

import (
	"bytes"
	"slices"
	"strconv"
	"testing"

	"github.com/bowline-kv/bowline/internal/ds/pack"
	"github.com/bowline-kv/bowline/internal/page"
	"pgregory.net/rapid"
)

// model is a chain and a list of values beside it.
type model struct {
	chain *Chain
	pool  *page.Pool
	list  [][]byte
}

// values draws integers, and strings of lengths that fill nodes fast, and of some
// that need a node of their own.
func values() *rapid.Generator[[]byte] {
	return rapid.OneOf(
		rapid.Map(rapid.IntRange(-300, 300), func(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }),
		rapid.Custom(func(t *rapid.T) []byte {
			n := rapid.SampledFrom([]int{0, 1, 100, 700, 1300, 2000, 3000, 4090, 4096, 5000, 9000, 20000}).Draw(t, "length")
			return bytes.Repeat([]byte{rapid.SampledFrom([]byte("abc")).Draw(t, "byte")}, n)
		}),
	)
}

func (m *model) check(t *rapid.T) {
	if err := m.chain.check(); err != nil {
		t.Fatal(err)
	}
	if got := m.pool.Stats().InUse; got != int64(m.chain.pages)*page.Size || m.chain.Footprint() < got {
		t.Fatalf("%d bytes in use for %d pages", got, m.chain.pages)
	}
	c := m.chain
	if c.Len() != len(m.list) {
		t.Fatalf("%d elements, want %d", c.Len(), len(m.list))
	}
	p := c.At(0)
	for i, v := range m.list {
		if !c.Valid(p) || p.Index() != i || !c.Get(p).Equal(v) {
			t.Fatalf("element %d is not %.20q: %+v", i, v, p)
		}
		p = c.Next(p)
	}
	if c.Valid(p) || p != c.end() {
		t.Fatalf("there are more elements: %+v", p)
	}
	for i := len(m.list) - 1; i >= 0; i-- {
		if p = c.Prev(p); p.Index() != i || p != c.At(i) || p != c.At(i-len(m.list)) {
			t.Fatalf("element %d is met at %+v on the way back, At says %+v", i, p, c.At(i))
		}
	}
	if c.Valid(c.At(len(m.list))) || c.Valid(c.At(-len(m.list)-1)) || len(m.list) > 0 && c.Valid(c.Prev(p)) {
		t.Fatal("there are elements beyond the ends")
	}
	if len(m.list) > 0 && (!c.Front().Equal(m.list[0]) || !c.Back().Equal(m.list[len(m.list)-1])) {
		t.Fatal("front or back is another")
	}
}

// find compares searching both ways from element i.
func (m *model) find(t *rapid.T, v []byte, i int) {
	it := pack.ItemOf(v)
	want := slices.IndexFunc(m.list[i:], func(e []byte) bool { return bytes.Equal(e, v) }) + i
	if p := m.chain.Find(m.chain.At(i), &it); m.chain.Valid(p) != (want >= i) || want >= i && p != m.chain.At(want) {
		t.Fatalf("Find(%.20q) from %d: %+v, want %d", v, i, p, want)
	}
	want = i
	for want >= 0 && !bytes.Equal(m.list[want], v) {
		want--
	}
	if p := m.chain.FindBack(m.chain.At(i), &it); m.chain.Valid(p) != (want >= 0) || want >= 0 && p != m.chain.At(want) {
		t.Fatalf("FindBack(%.20q) from %d: %+v, want %d", v, i, p, want)
	}
}

// TestAChainIsAList does random changes to a chain and to a list of values.
func TestAChainIsAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{pool: page.New()}
		defer m.pool.Close()
		limit := LimitOf(rapid.SampledFrom([]int{-1, -2, -3, 1, 5, 128}).Draw(t, "limit"))
		m.chain = New(m.pool, limit)
		pick := func(t *rapid.T) int {
			if len(m.list) == 0 {
				t.Skip("empty")
			}
			return rapid.IntRange(0, len(m.list)-1).Draw(t, "index")
		}
		many := func(t *rapid.T, push func(v []byte)) {
			v := values().Draw(t, "value")
			for i := range rapid.IntRange(1, 40).Draw(t, "count") {
				if len(m.list) < 400 {
					push(append(v[:len(v):len(v)], byte('a'+i%3)))
				}
			}
		}
		back := func(v []byte) { m.chain.PushBack(v); m.list = append(m.list, v) }
		front := func(v []byte) { m.chain.PushFront(v); m.list = slices.Insert(m.list, 0, v) }
		t.Repeat(map[string]func(*rapid.T){
			"push back":       func(t *rapid.T) { back(values().Draw(t, "value")) },
			"push front":      func(t *rapid.T) { front(values().Draw(t, "value")) },
			"push many back":  func(t *rapid.T) { many(t, back) },
			"push many front": func(t *rapid.T) { many(t, front) },
			"append pack": func(t *rapid.T) {
				p := pack.New(0)
				for range rapid.IntRange(0, 5).Draw(t, "count") {
					v := values().Draw(t, "value")
					p, m.list = p.Append(v), append(m.list, v)
				}
				m.chain.AppendPack(p)
			},
			"drop front": func(t *rapid.T) {
				for range rapid.IntRange(1, 30).Draw(t, "count") {
					if len(m.list) > 0 {
						m.chain.DropFront()
						m.list = m.list[1:]
					}
				}
			},
			"drop back": func(t *rapid.T) {
				for range rapid.IntRange(1, 30).Draw(t, "count") {
					if len(m.list) > 0 {
						m.chain.DropBack()
						m.list = m.list[:len(m.list)-1]
					}
				}
			},
			"set": func(t *rapid.T) {
				i, v := pick(t), values().Draw(t, "value")
				m.chain.Set(m.chain.At(i), v)
				m.list[i] = v
			},
			"insert before": func(t *rapid.T) {
				i, v := pick(t), values().Draw(t, "value")
				m.chain.InsertBefore(m.chain.At(i), v)
				m.list = slices.Insert(m.list, i, v)
			},
			"insert after": func(t *rapid.T) {
				i, v := pick(t), values().Draw(t, "value")
				m.chain.InsertAfter(m.chain.At(i), v)
				m.list = slices.Insert(m.list, i+1, v)
			},
			"delete in a row": func(t *rapid.T) {
				i := pick(t)
				p := m.chain.At(i)
				for range rapid.IntRange(1, 10).Draw(t, "count") {
					if i == len(m.list) {
						break
					}
					p = m.chain.Delete(p)
					if m.list = slices.Delete(m.list, i, i+1); p != m.chain.At(i) {
						t.Fatalf("what follows is at %+v, not %+v", m.chain.At(i), p)
					}
				}
			},
			"delete range": func(t *rapid.T) {
				i, n := pick(t), rapid.IntRange(0, 60).Draw(t, "count")
				m.chain.DeleteRange(i, n)
				m.list = slices.Delete(m.list, i, min(i+n, len(m.list)))
			},
			"trim": func(t *rapid.T) {
				i := pick(t)
				n := rapid.IntRange(0, 200).Draw(t, "count")
				m.chain.Trim(i, n)
				m.list = m.list[i:min(i+n, len(m.list))]
			},
			"drop": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") > 0 {
					return
				}
				d := m.chain.Release()
				m.list = nil
				for d.Step(2) {
				}
			},
			"": func(t *rapid.T) {
				m.check(t)
				if len(m.list) > 0 {
					i := rapid.IntRange(0, len(m.list)-1).Draw(t, "from")
					m.find(t, rapid.SampledFrom(append(m.list, []byte("none"))).Draw(t, "looked for"), i)
				}
			},
		})
		p := m.chain.Pack()
		if !p.Valid() || p.Len() != len(m.list) {
			t.Fatalf("as a pack: %d elements, want %d", p.Len(), len(m.list))
		}
		for i, v := range m.list {
			if !p.Get(p.At(i)).Equal(v) {
				t.Fatalf("as a pack, element %d is not %.20q", i, v)
			}
		}
	})
}

func TestPushedElementsAreDense(t *testing.T) {
	const n = 40_000
	value := []byte("value:0123456789")
	for name, push := range map[string]func(*Chain){
		"back":  func(c *Chain) { c.PushBack(value) },
		"front": func(c *Chain) { c.PushFront(value) },
	} {
		for _, size := range []int{-1, -2, -3, -4, -5, 1} {
			pool := page.New()
			c := New(pool, LimitOf(size))
			for range n {
				push(c)
			}
			if each := float64(c.Footprint()) / n; each > 18.6 {
				t.Errorf("%s, limit %d: %.2f bytes an element", name, size, each)
			}
			for c.Len() > 0 {
				c.DropFront()
			}
			if got := pool.Stats().InUse; got != 0 {
				t.Errorf("%s, limit %d: %d bytes are left", name, size, got)
			}
			pool.Close()
		}
	}
}

func TestAQueueStaysSmall(t *testing.T) {
	pool := page.New()
	defer pool.Close()
	c := New(pool, LimitOf(-2))
	value := []byte("value:0123456789")
	for i := range 50_000 {
		c.PushBack(value)
		if i >= 1000 {
			c.DropFront()
		}
	}
	if got := c.Footprint(); got > 1000*18+4*8192 {
		t.Errorf("a queue of 1000 elements takes %d bytes", got)
	}
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
}

func TestLeavingKeepsEverything(t *testing.T) {
	pool := page.New()
	defer pool.Close()
	c := New(pool, LimitOf(-2))
	const n = 100_000
	var others []page.Addr
	for i := range n {
		c.PushBack(strconv.AppendInt([]byte("value:"), int64(i), 10))
		for len(others) < 8*c.pages {
			others = append(others, pool.Alloc(1))
		}
	}
	for _, a := range others {
		pool.Free(a, 1)
	}
	before := pool.Stats().Mapped
	for pool.Trim() > 0 || pool.Draining() != 0 {
		for next := c.Leave(0, 7); next != 0; {
			next = c.Leave(next, 7)
		}
	}
	if after := pool.Stats().Mapped; after >= before/2 {
		t.Errorf("%d bytes are mapped, before leaving %d", after, before)
	}
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	for i, p := 0, c.At(0); i < n; i, p = i+1, c.Next(p) {
		if !c.Get(p).Equal(strconv.AppendInt([]byte("value:"), int64(i), 10)) {
			t.Fatalf("element %d is %q", i, c.Get(p).AppendTo(nil))
		}
	}
}

func TestChangesAllocateNothing(t *testing.T) {
	pool := page.New()
	defer pool.Close()
	c := New(pool, LimitOf(-2))
	value := []byte("value:0123456789")
	for range 3000 {
		c.PushBack(value)
	}
	allocs := testing.AllocsPerRun(1000, func() {
		c.PushFront(value)
		c.PushBack(value)
		c.InsertBefore(c.At(1500), value)
		c.Set(c.At(700), value)
		c.Delete(c.At(1400))
		c.DropFront()
		c.DropBack()
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkMillion(b *testing.B) {
	const n = 1_000_000
	value := []byte("value:0123456789")
	pool := page.New()
	defer pool.Close()
	c := New(pool, LimitOf(-2))
	fill := func(b *testing.B, push func([]byte)) {
		for b.Loop() {
			for d := c.Release(); d.Step(1000); {
			}
			for range n {
				push(value)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
		b.ReportMetric(float64(c.Footprint())/n, "bytes/element")
	}
	b.Run("push front", func(b *testing.B) { fill(b, c.PushFront) })
	b.Run("push back", func(b *testing.B) { fill(b, c.PushBack) })
	i := 0
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			i = (i + 7919*31) % n
			c.At(i)
		}
	})
	b.Run("insert and delete", func(b *testing.B) {
		for b.Loop() {
			i = (i + 7919*31) % n
			c.InsertBefore(c.At(i), value)
			c.Delete(c.At(i))
		}
	})
	b.Run("find", func(b *testing.B) {
		it := pack.ItemOf([]byte("none"))
		for b.Loop() {
			c.Find(c.At(0), &it)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
	})
	b.Run("queue", func(b *testing.B) {
		for b.Loop() {
			c.PushBack(value)
			c.DropFront()
		}
	})
}
