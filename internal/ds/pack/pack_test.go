package pack

import (
	"bytes"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// values draws what is stored differently: short and long strings, integers of
// every width and around their bounds, and what only looks like an integer.
func values() *rapid.Generator[[]byte] {
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) []byte {
			n := int64(1) << rapid.IntRange(0, 63).Draw(t, "bit")
			return strconv.AppendInt(nil, (n+rapid.Int64Range(-2, 2).Draw(t, "off"))*rapid.SampledFrom([]int64{1, -1}).Draw(t, "sign"), 10)
		}),
		rapid.SliceOfN(rapid.Byte(), 0, 10),
		rapid.Custom(func(t *rapid.T) []byte {
			n := rapid.SampledFrom([]int{62, 63, 64, 125, 126, 127, 4095, 4096, 16377, 16378, 16379}).Draw(t, "length")
			return bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, n)
		}),
		rapid.SampledFrom([][]byte{[]byte("-0"), []byte("+1"), []byte("01"), []byte("9223372036854775808"), []byte("-"), []byte("1 ")}),
	)
}

func build(list [][]byte) Pack {
	p := New(0)
	for _, v := range list {
		p = p.Append(v)
	}
	return p
}

// TestAPackIsAList does random changes to a Pack and to a list of values.
func TestAPackIsAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, list := New(0), [][]byte{}
		index := func(t *rapid.T, n int) int {
			if n <= 0 {
				t.Skip("empty")
			}
			return rapid.IntRange(0, n-1).Draw(t, "index")
		}
		position := func(i int) int {
			if i == len(list) {
				return p.End()
			}
			return p.At(i)
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				i, v := index(t, len(list)+1), values().Draw(t, "value")
				p, list = p.Insert(position(i), v), slices.Insert(list, i, v)
			},
			"append": func(t *rapid.T) {
				v := values().Draw(t, "value")
				p, list = p.Append(v), append(list, v)
			},
			"insert pair": func(t *rapid.T) {
				i, v, w := index(t, len(list)+1), values().Draw(t, "value"), values().Draw(t, "second")
				a, b := ItemOf(v), ItemOf(w)
				p, list = p.InsertPair(position(i), &a, &b), slices.Insert(list, i, v, w)
			},
			"prepend": func(t *rapid.T) {
				v := values().Draw(t, "value")
				p, list = p.Prepend(v), slices.Insert(list, 0, v)
			},
			"replace": func(t *rapid.T) {
				i, v := index(t, len(list)), values().Draw(t, "value")
				p, list[i] = p.Replace(p.At(i), v), v
			},
			"delete": func(t *rapid.T) {
				i, n := index(t, len(list)), rapid.IntRange(0, 4).Draw(t, "count")
				p, list = p.Delete(p.At(i), n), slices.Delete(list, i, min(i+n, len(list)))
			},
			"cut and join": func(t *rapid.T) {
				i := index(t, len(list)+1)
				left, right := p.Split(position(i))
				if !left.Valid() || !right.Valid() || left.Len() != i {
					t.Fatalf("split at %d gives %x and %x", i, left, right)
				}
				p, list = right.Join(left), slices.Concat(list[i:], list[:i])
			},
			"": func(t *rapid.T) { compare(t, p, list) },
		})
	})
}

func compare(t *rapid.T, p Pack, list [][]byte) {
	if !p.Valid() || p.Len() != len(list) {
		t.Fatalf("%d elements for %d values, valid %v: %x", p.Len(), len(list), p.Valid(), p)
	}
	pos := p.First()
	for i, v := range list {
		if e := p.Get(pos); !e.Equal(v) || !bytes.Equal(e.AppendTo(nil), v) {
			t.Fatalf("element %d is %q, want %q", i, e.AppendTo(nil), v)
		}
		if p.At(i) != pos || p.At(i-len(list)) != pos {
			t.Fatalf("element %d is at %d, At says %d and %d", i, pos, p.At(i), p.At(i-len(list)))
		}
		next := p.Next(pos)
		if p.Prev(next) != pos || next-pos != SizeOf(v) {
			t.Fatalf("element %d: next %d, and back %d, want %d", i, next, p.Prev(next), pos)
		}
		pos = next
	}
	if pos != p.End() || p.At(len(list)) != -1 || p.At(-len(list)-1) != -1 || (p.Last() == -1) != (len(list) == 0) {
		t.Fatalf("the end is %d, not %d", p.End(), pos)
	}
	if q, err := FromListpack(p.AppendListpack(nil)); err != nil || !bytes.Equal(q, p) {
		t.Fatalf("as a listpack and back: %x, %v", q, err)
	}
}

func TestFindLooksAtEveryOtherElement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.SampledFrom([][]byte{
			[]byte("1"), []byte("300"), []byte("a"), []byte("ab"), []byte("-1"), bytes.Repeat([]byte("x"), 100), {},
		}), 0, 12).Draw(t, "list")
		p := build(list)
		v := rapid.SampledFrom(append(list, []byte("none"))).Draw(t, "value")
		start := rapid.IntRange(0, len(list)).Draw(t, "start")
		skip := rapid.IntRange(0, 2).Draw(t, "skip")
		want := -1
		for i := start; i < len(list); i += skip + 1 {
			if bytes.Equal(list[i], v) {
				want = p.At(i)
				break
			}
		}
		from := p.End()
		if start < len(list) {
			from = p.At(start)
		}
		if got := p.Find(from, v, skip); got != want {
			t.Fatalf("Find(%q) from %d, skip %d: %d, want %d", v, start, skip, got, want)
		}
		last := -1
		for i := range start {
			if bytes.Equal(list[i], v) {
				last = p.At(i) - countBytes
			}
		}
		it := ItemOf(v)
		if got := FindBack(p.Elements(), from-countBytes, &it); got != last {
			t.Fatalf("FindBack(%q) from %d: %d, want %d", v, start, got, last)
		}
	})
}

func TestEncodingsAreTheShortest(t *testing.T) {
	for _, c := range []struct {
		value string
		want  []byte
	}{
		{"0", []byte{0, 1}},
		{"127", []byte{127, 1}},
		{"128", []byte{0xC0, 128, 2}},
		{"-1", []byte{0xDF, 0xFF, 2}},
		{"4095", []byte{0xCF, 0xFF, 2}},
		{"-4096", []byte{0xD0, 0, 2}},
		{"4096", []byte{0xF1, 0, 0x10, 3}},
		{"-32769", []byte{0xF2, 0xFF, 0x7F, 0xFF, 4}},
		{"8388608", []byte{0xF3, 0, 0, 0x80, 0, 5}},
		{"2147483648", []byte{0xF4, 0, 0, 0, 0x80, 0, 0, 0, 0, 9}},
		{"", []byte{0x80, 1}},
		{"-0", []byte{0x82, '-', '0', 3}},
		{"ab", []byte{0x82, 'a', 'b', 3}},
	} {
		if diff := cmp.Diff(c.want, build([][]byte{[]byte(c.value)}).Elements()); diff != "" {
			t.Errorf("%q: %s", c.value, diff)
		}
	}
}

func TestACountBeyondSixteenBitsIsCounted(t *testing.T) {
	p := New(1 << 18)
	const n = countMany + 3
	for i := range n {
		p = append(p, byte(i&0x7f), 1)
	}
	p.setLen(n)
	if !p.Valid() || p.Len() != n {
		t.Fatalf("%d elements, want %d", p.Len(), n)
	}
	p = p.Append([]byte("1"))
	if p.Len() != n+1 {
		t.Fatalf("%d elements after one more", p.Len())
	}
	p = p.Delete(p.First(), 10)
	if !p.Valid() || p.Len() != n-9 || p.count() != n-9 {
		t.Fatalf("%d elements, %d in front, after deleting 10", p.Len(), p.count())
	}
}

func TestChangesInPlaceAllocateNothing(t *testing.T) {
	p := New(4096)
	for i := range 50 {
		p = p.AppendInt(int64(i * 1000))
	}
	v, n := []byte("some value"), []byte("123456")
	allocs := testing.AllocsPerRun(100, func() {
		p = p.Append(v)
		p = p.Replace(p.At(10), n)
		if p.Find(p.First(), v, 0) < 0 {
			t.Fatal("not found")
		}
		p = p.Delete(p.At(-1), 1)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkFind(b *testing.B) {
	p := New(0)
	for i := range 128 {
		p = p.Append([]byte("field:" + strconv.Itoa(i))).Append([]byte("value"))
	}
	v := []byte("field:127")
	for b.Loop() {
		if p.Find(p.First(), v, 1) < 0 {
			b.Fatal("not found")
		}
	}
}
