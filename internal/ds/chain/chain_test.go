package chain

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
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
	wrong error
}

func newModel(limit int) *model {
	m := &model{pool: page.New()}
	m.chain = New(m.pool, LimitOf(limit))
	return m
}

// sizes are lengths of values that fill nodes fast, and of some that need a node
// of their own. -1: an integer.
var sizes = []int{-1, 0, 1, 20, 100, 300, 700, 1300, 2000, 3000, 4090, 4096, 5000, 9000, 20000}

// valueOf is the value of a number: its size and its content.
func valueOf(n int) []byte {
	size := sizes[n%len(sizes)]
	if n /= len(sizes); size < 0 {
		return strconv.AppendInt(nil, int64(n%3*300), 10)
	}
	return bytes.Repeat([]byte{"abc"[n%3]}, size)
}

const listMax = 600

// commands are what step can do: i is the number of an element, of which there
// is one at least, n and v are numbers for anything.
var commands = []func(m *model, i, n, v int){
	func(m *model, _, n, v int) { // push some back
		for k := range n%12 + 1 {
			m.chain.PushBack(valueOf(v + k/4))
			m.list = append(m.list, valueOf(v+k/4))
		}
	},
	func(m *model, _, n, v int) { // push some in front
		for k := range n%12 + 1 {
			m.chain.PushFront(valueOf(v + k/4))
			m.list = slices.Insert(m.list, 0, valueOf(v+k/4))
		}
	},
	func(m *model, _, n, v int) { // append a pack
		p := pack.New(0)
		for k := range n % 5 {
			p, m.list = p.Append(valueOf(v+k)), append(m.list, valueOf(v+k))
		}
		m.chain.AppendPack(p)
	},
	func(m *model, _, n, _ int) { // drop some in front
		for range min(n%12, len(m.list)) {
			m.chain.DropFront()
			m.list = m.list[1:]
		}
	},
	func(m *model, _, n, _ int) { // drop some at the back
		for range min(n%12, len(m.list)) {
			m.chain.DropBack()
			m.list = m.list[:len(m.list)-1]
		}
	},
	func(m *model, i, _, v int) {
		m.chain.Set(m.chain.At(i), valueOf(v))
		m.list[i] = valueOf(v)
	},
	func(m *model, i, _, v int) {
		m.chain.InsertBefore(m.chain.At(i), valueOf(v))
		m.list = slices.Insert(m.list, i, valueOf(v))
	},
	func(m *model, i, _, v int) {
		m.chain.InsertAfter(m.chain.At(i), valueOf(v))
		m.list = slices.Insert(m.list, i+1, valueOf(v))
	},
	func(m *model, i, n, _ int) { // delete some in a row
		p := m.chain.At(i)
		for range min(n%12, len(m.list)-i) {
			p = m.chain.Delete(p)
			if m.list = slices.Delete(m.list, i, i+1); p != m.chain.At(i) {
				m.wrong = fmt.Errorf("what follows a deleted element is at %+v, Delete says %+v", m.chain.At(i), p)
			}
		}
	},
	func(m *model, i, n, _ int) {
		m.chain.DeleteRange(i, n%70)
		m.list = slices.Delete(m.list, i, min(i+n%70, len(m.list)))
	},
	func(m *model, i, n, _ int) { // drop a quarter at most
		i = min(i, len(m.list)/8)
		n = len(m.list) - len(m.list)/8 + n%3
		m.chain.Trim(i, n)
		m.list = m.list[i:min(i+n, len(m.list))]
	},
	func(m *model, _, n, _ int) {
		if n%60 == 0 {
			m.list = nil
			for d := m.chain.Release(); d.Step(2); {
			}
		}
	},
}

// step does a command.
func (m *model) step(command, i, n, v int) error {
	if len(m.list) == 0 {
		command %= 2
	} else {
		i %= len(m.list)
	}
	commands[command%len(commands)](m, i, n, v)
	if len(m.list) > listMax {
		m.chain.DeleteRange(listMax/4, listMax)
		m.list = slices.Delete(m.list, listMax/4, min(listMax/4+listMax, len(m.list)))
	}
	return m.wrong
}

func (m *model) check() error {
	if err := m.chain.check(); err != nil {
		return err
	}
	if got := m.pool.Stats().InUse; got != int64(m.chain.pages)*page.Size || m.chain.Footprint() < got {
		return fmt.Errorf("%d bytes in use for %d pages", got, m.chain.pages)
	}
	c := m.chain
	if c.Len() != len(m.list) {
		return fmt.Errorf("%d elements, want %d", c.Len(), len(m.list))
	}
	p := c.At(0)
	for i, v := range m.list {
		if !c.Valid(p) || p.Index() != i || !c.Get(p).Equal(v) {
			return fmt.Errorf("element %d is not %.20q: %+v", i, v, p)
		}
		p = c.Next(p)
	}
	if c.Valid(p) || p != c.end() {
		return fmt.Errorf("there are more elements: %+v", p)
	}
	for i := len(m.list) - 1; i >= 0; i-- {
		if p = c.Prev(p); p.Index() != i || p != c.At(i) || p != c.At(i-len(m.list)) {
			return fmt.Errorf("element %d is met at %+v on the way back, At says %+v", i, p, c.At(i))
		}
	}
	if c.Valid(c.At(len(m.list))) || c.Valid(c.At(-len(m.list)-1)) || len(m.list) > 0 && c.Valid(c.Prev(p)) {
		return errors.New("there are elements beyond the ends")
	}
	if len(m.list) > 0 && (!c.Front().Equal(m.list[0]) || !c.Back().Equal(m.list[len(m.list)-1])) {
		return errors.New("front or back is another")
	}
	return nil
}

// find compares searching both ways from element i.
func (m *model) find(v []byte, i int) error {
	it := pack.ItemOf(v)
	want := slices.IndexFunc(m.list[i:], func(e []byte) bool { return bytes.Equal(e, v) }) + i
	if p := m.chain.Find(m.chain.At(i), &it); m.chain.Valid(p) != (want >= i) || want >= i && p != m.chain.At(want) {
		return fmt.Errorf("Find(%.20q) from %d: %+v, want %d", v, i, p, want)
	}
	want = i
	for want >= 0 && !bytes.Equal(m.list[want], v) {
		want--
	}
	if p := m.chain.FindBack(m.chain.At(i), &it); m.chain.Valid(p) != (want >= 0) || want >= 0 && p != m.chain.At(want) {
		return fmt.Errorf("FindBack(%.20q) from %d: %+v, want %d", v, i, p, want)
	}
	return nil
}

var limits = []int{-1, -2, -3, 1, 5, 128}

// TestAChainIsAList does random changes to a chain and to a list of values.
func TestAChainIsAList(t *testing.T) {
	number := rapid.IntRange(0, 1<<16)
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(rapid.SampledFrom(limits).Draw(t, "limit"))
		defer m.pool.Close()
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			command := rapid.IntRange(0, len(commands)-1).Draw(t, "command")
			if err := m.step(command, number.Draw(t, "i"), number.Draw(t, "n"), number.Draw(t, "v")); err != nil {
				t.Fatal(err)
			}
			if err := m.check(); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.checkPack(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAChainStaysAList is the same for longer, from a fixed seed.
func TestAChainStaysAList(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 0))
		m := newModel(limits[int(seed)%len(limits)])
		few := r.IntN(len(sizes)) // values of sizes beside each other are chosen for a while
		for i := range 600 {
			if i%100 == 0 {
				few = r.IntN(len(sizes))
			}
			v := few + r.IntN(3) + len(sizes)*r.IntN(3)
			if err := m.step(r.IntN(len(commands)), r.IntN(1<<16), r.IntN(1<<16), v); err != nil {
				t.Fatal(err)
			}
			if err := m.check(); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, i, err)
			}
			if len(m.list) > 0 && i%8 == 0 {
				if err := m.find(m.list[r.IntN(len(m.list))], r.IntN(len(m.list))); err != nil {
					t.Fatal(err)
				}
			}
		}
		m.pool.Close()
	}
}

// checkPack compares the chain as a pack.
func (m *model) checkPack() error {
	p := m.chain.Pack()
	if !p.Valid() || p.Len() != len(m.list) {
		return fmt.Errorf("as a pack: %d elements, want %d", p.Len(), len(m.list))
	}
	pos := p.First()
	for i, v := range m.list {
		if !p.Get(pos).Equal(v) {
			return fmt.Errorf("as a pack, element %d is not %.20q", i, v)
		}
		pos = p.Next(pos)
	}
	return nil
}

func TestLimitsOfNodes(t *testing.T) {
	for _, c := range []struct{ limit, length, want int }{
		{-1, 16, 4096 / 18}, // elements of a full node
		{-2, 16, 8192 / 18},
		{-5, 16, 65536 / 18},
		{-9, 16, 65536 / 18},
		{0, 16, 4096 / 18},
		{128, 60, 128},
		{128, 120, 8192 / 123}, // at most 8 KiB
		{128, 16, 4096 / 18},   // at least a page
		{1, 5000, 1},
	} {
		for name, push := range map[string]func(*Chain, []byte){"back": (*Chain).PushBack, "front": (*Chain).PushFront} {
			m := newModel(c.limit)
			for m.chain.Nodes() < 3 {
				push(m.chain, bytes.Repeat([]byte("v"), c.length))
			}
			if _, got := m.chain.Node(1); got != c.want {
				t.Errorf("limit %d, values of %d bytes, pushed to the %s: %d in a node, want %d", c.limit, c.length, name, got, c.want)
			}
			m.pool.Close()
		}
	}
}

func TestSmallNodesAreMergedOnceTheyAreInside(t *testing.T) {
	for name, push := range map[string]func(*Chain, []byte){"back": (*Chain).PushBack, "front": (*Chain).PushFront} {
		m := newModel(-1)
		defer m.pool.Close()
		c := m.chain
		for c.Nodes() < 3 {
			c.PushBack([]byte("value"))
		}
		c.DropBack()
		for c.nodes.at(0).count > 1 {
			c.DropFront()
		}
		for c.nodes.at(1).count > 1 {
			c.DropBack()
		}
		if push(c, make([]byte, 5000)); c.Nodes() != 2 || c.Len() != 3 {
			t.Errorf("after a large value was pushed to the %s: %d nodes", name, c.Nodes())
		}
	}
}

func TestBothNodesOfADeletedRangeAreMerged(t *testing.T) {
	m := newModel(-1)
	defer m.pool.Close()
	c := m.chain
	for range 30 {
		c.PushBack(make([]byte, 400)) // ten in a node
	}
	c.Trim(4, 20) // 6, 10, 4
	c.DeleteRange(5, 8)
	if _, first := c.Node(0); c.Nodes() != 2 || first != 5 {
		t.Errorf("%d nodes, the first of %d; want 5 and 3+4 elements", c.Nodes(), first)
	}
}

func TestPushedElementsAreDense(t *testing.T) {
	const n = 30_000
	value := []byte("value:0123456789")
	for name, push := range map[string]func(*Chain){
		"back":  func(c *Chain) { c.PushBack(value) },
		"front": func(c *Chain) { c.PushFront(value) },
	} {
		for _, size := range []int{-2, -5, 1} {
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

// TestPushingMovesLittle counts how often elements are moved inside their run.
func TestPushingMovesLittle(t *testing.T) {
	for name, c := range map[string]struct{ front, back, most int }{
		"front": {1, 0, 0},
		"back":  {0, 1, 0},
		// The free bytes of a node are shared between both sides, half of them at a time.
		"both": {1, 1, 20},
	} {
		m := newModel(-5)
		moves := 0
		push := func(push func([]byte), fixed func(n *node) page.Addr, at func() int) {
			if m.chain.n == 0 {
				push(valueOf(3))
				return
			}
			before, nodes := *m.chain.nodes.at(at()), m.chain.Nodes()
			push(valueOf(3))
			if after := m.chain.nodes.at(at()); m.chain.Nodes() == nodes && after.addr == before.addr && fixed(after) != fixed(&before) {
				moves++
			}
		}
		for range 3000 {
			if c.front > 0 {
				push(m.chain.PushFront, func(n *node) page.Addr { return n.addr + page.Addr(n.off+n.bytes) }, func() int { return 0 })
			}
			if c.back > 0 {
				push(m.chain.PushBack, func(n *node) page.Addr { return n.addr + page.Addr(n.off) }, func() int { return m.chain.Nodes() - 1 })
			}
		}
		if moves > c.most {
			t.Errorf("%s: elements were moved %d times", name, moves)
		}
		m.pool.Close()
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
